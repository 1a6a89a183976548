"""Small documents of the kinds that hold text: real PDF and Word files, made in the test."""

import io
import zipfile
from collections.abc import Sequence
from xml.sax.saxutils import escape

WORD = "http://schemas.openxmlformats.org/wordprocessingml/2006/main"


def pdf(*pages: str) -> bytes:
    """A PDF with a line of text on each page, written out by hand: ISO 32000-1, 7.5."""
    objects: list[str] = []
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    objects.append("<< /Type /Catalog /Pages 2 0 R >>")
    objects.append(f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>")
    objects.append("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>")
    for at, text in enumerate(pages):
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents {5 + 2 * at} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>"
        )
        shown = text.replace("\\", r"\\").replace("(", r"\(").replace(")", r"\)")
        stream = f"BT /F1 12 Tf 72 720 Td ({shown}) Tj ET"
        objects.append(f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream")
    file = io.BytesIO()
    file.write(b"%PDF-1.4\n")
    places = []
    for number, body in enumerate(objects, 1):
        places.append(file.tell())
        file.write(f"{number} 0 obj\n{body}\nendobj\n".encode("latin-1"))
    table = file.tell()
    file.write(f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n".encode())
    file.write("".join(f"{place:010} 00000 n \n" for place in places).encode())
    file.write(f"trailer\n<< /Size {len(objects) + 1} /Root 1 0 R >>\n".encode())
    file.write(f"startxref\n{table}\n%%EOF\n".encode())
    return file.getvalue()


def encrypted_pdf(text: str) -> bytes:
    import pypdf

    writer = pypdf.PdfWriter(io.BytesIO(pdf(text)))
    writer.encrypt("secret")
    file = io.BytesIO()
    writer.write(file)
    return file.getvalue()


def docx(paragraphs: Sequence[str], before: str = "", raw: str = "") -> bytes:
    """A Word document; `before` stands ahead of its XML, `raw` within its body."""
    body = "".join(
        f"<w:p><w:r><w:t xml:space='preserve'>{escape(each)}</w:t></w:r></w:p>"
        for each in paragraphs
    )
    document = (
        f"<?xml version='1.0' encoding='UTF-8'?>{before}"
        f"<w:document xmlns:w='{WORD}'><w:body>{body}{raw}</w:body></w:document>"
    )
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", "<Types/>")
        archive.writestr("word/document.xml", document)
    return file.getvalue()
