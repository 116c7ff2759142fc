"""The process that reads a stranger's file: bounded, without secrets, writes nothing.

Called as `python -m chat.documents.reading.child KIND PATH LIMITS`. Says lines of JSON:
progress, then the result or why there is none.
"""

import contextlib
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from chat.documents.reading.docx import read_docx
from chat.documents.reading.html import read_html
from chat.documents.reading.pdf import read_pdf
from chat.documents.reading.types import Limits, Refused

READERS = {"pdf": read_pdf, "docx": read_docx, "html": read_html}
_MEMORY = 1_536 * 2**20


def _bound(seconds: float) -> None:
    with contextlib.suppress(ImportError):
        import resource

        for what, limit in (
            (resource.RLIMIT_AS, _MEMORY),
            (resource.RLIMIT_CPU, int(seconds) + 1),
            (resource.RLIMIT_FSIZE, 0),
            (resource.RLIMIT_CORE, 0),
        ):
            with contextlib.suppress(ValueError, OSError):
                resource.setrlimit(what, (limit, limit))


def _say(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def main(kind: str, path: str, limits: str) -> None:
    bounds = Limits(**json.loads(limits))
    _bound(bounds.seconds)
    last = -1

    def progress(done: int, total: int) -> None:
        nonlocal last
        # A line for each hundredth is enough.
        if total and (hundredth := done * 100 // total) != last:
            last = hundredth
            _say(done=done, total=total)

    try:
        _say(reading=asdict(READERS[kind](Path(path), bounds, progress)))
    except Refused as refused:
        _say(refused=str(refused), code=refused.code)
    except MemoryError:
        _say(
            refused="The document unpacks to more than is read.",
            code="document_too_large",
        )
    except RecursionError:
        _say(refused="The document is nested too deep.", code="document_unreadable")


if __name__ == "__main__":
    main(*sys.argv[1:])
