"""Entry of every make target: python3 -m scripts.bootstrap [--dev] PYTHON-ARGUMENTS."""

import sys

# Before anything that an old Python cannot parse, and in words that it can.
if sys.version_info < (3, 11):  # noqa: UP036 (the check is for older ones)
    sys.exit(
        "copilot: Python 3.11 or newer is needed, %s is %d.%d."  # noqa: UP031 (no f-strings before 3.6)
        " Name another one: make PYTHON=python3.12 ..."
        % (sys.executable, sys.version_info[0], sys.version_info[1])
    )

from scripts.install import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
