"""Files of each kind, made by hand: what people upload, and what attackers do."""

import io
import zipfile

import docx

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 20
MARKDOWN = """# Labs

The networking lab is in building C, room 204. It opens at eight.

## Kantine

Die Mensa öffnet um elf Uhr.
"""


def pdf(*pages: str, outline: str = "") -> bytes:
    """A PDF with one line of text a page, and maybe one bookmark to its last page."""
    objects = ["", ""]
    kids = []
    for text in pages:
        stream = f"BT /F1 12 Tf 72 700 Td ({text}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
        content = len(objects)
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /Contents {content} 0 R "
            "/MediaBox [0 0 612 792] /Resources << /Font << /F1 "
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
        )
        kids.append(f"{len(objects)} 0 R")
    root = ""
    if outline:
        mark = len(objects) + 2
        root = f"/Outlines {mark - 1} 0 R"
        objects.append(f"<< /First {mark} 0 R /Last {mark} 0 R /Count 1 >>")
        objects.append(
            f"<< /Title ({outline}) /Parent {mark - 1} 0 R /Dest [{kids[-1]} /Fit] >>"
        )
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {root} >>"
    objects[1] = f"<< /Type /Pages /Kids [{' '.join(kids)}] /Count {len(kids)} >>"
    out = b"%PDF-1.4\n"
    places = []
    for number, text in enumerate(objects, start=1):
        places.append(len(out))
        out += f"{number} 0 obj\n{text}\nendobj\n".encode("latin-1")
    table = "".join(f"{place:010} 00000 n \n" for place in places)
    size = len(objects) + 1
    out += (
        f"xref\n0 {size}\n0000000000 65535 f \n{table}"
        f"trailer\n<< /Size {size} /Root 1 0 R >>\nstartxref\n{len(out)}\n%%EOF\n"
    ).encode()
    return out


def word(*paragraphs: str, heading: str = "", rows: int = 0) -> bytes:
    document = docx.Document()
    if heading:
        document.add_heading(heading, level=1)
    for text in paragraphs:
        document.add_paragraph(text)
    if rows:
        table = document.add_table(rows=rows, cols=2)
        for number, row in enumerate(table.rows):
            row.cells[0].text = f"R{number}"
            row.cells[1].text = f"10.0.{number}.1"
    out = io.BytesIO()
    document.save(out)
    return out.getvalue()


def word_bomb(size: int) -> bytes:
    """Small on the disk; its text unpacks to `size` bytes."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word("x"))) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            data = source.read(name)
            if name == "word/document.xml":
                data = data.replace(b">x<", b">" + b"a" * size + b"<")
            target.writestr(name, data)
    return out.getvalue()


def entity_bomb() -> bytes:
    """A Word document whose XML declares entities of entities."""
    declared = '<!ENTITY a0 "aaaaaaaaaa">' + "".join(
        f'<!ENTITY a{n} "{f"&a{n - 1};" * 10}">' for n in range(1, 9)
    )
    out = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(word("x"))) as source,
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            data = source.read(name)
            if name == "word/document.xml":
                text = data.decode().replace(">x<", ">&a8;<")
                head, _, rest = text.partition("?>")
                data = f"{head}?><!DOCTYPE d [{declared}]>{rest}".encode()
            target.writestr(name, data)
    return out.getvalue()
