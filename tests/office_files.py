"""Office files and books, written by the libraries that programs use for them."""

import io
import zipfile
from collections.abc import Mapping, Sequence
from email.message import EmailMessage

import openpyxl
import pptx
from docx import Document
from odf import draw, style, table, text
from odf import opendocument as open_document

Rows = Sequence[Sequence[object]]


def make_docx(paragraphs: Sequence[str], cells: Sequence[str] = ()) -> bytes:
    document = Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    grid = document.add_table(1, max(1, len(cells)))
    for number, cell in enumerate(cells):
        grid.cell(0, number).text = cell
    file = io.BytesIO()
    document.save(file)
    return file.getvalue()


def make_pptx(slides: Sequence[tuple[str, str, str]]) -> bytes:
    """Each slide is its title, its text, and the speaker's notes."""
    presentation = pptx.Presentation()
    for title, body, notes in slides:
        slide = presentation.slides.add_slide(presentation.slide_layouts[1])
        slide.shapes.title.text = title
        slide.placeholders[1].text = body
        if notes:
            slide.notes_slide.notes_text_frame.text = notes
    file = io.BytesIO()
    presentation.save(file)
    return file.getvalue()


def make_tables(rows: Sequence[Sequence[str]]) -> dict[str, bytes]:
    """A paragraph `Before` and a table of these cells, in documents by their names."""
    document = Document()
    document.add_paragraph("Before")
    presentation = pptx.Presentation()
    slide = presentation.slides.add_slide(presentation.slide_layouts[5])
    slide.shapes.title.text = "Before"
    sizes = len(rows), len(rows[0])
    written = open_document.OpenDocumentText()
    written.text.addElement(text.P(text="Before"))
    written.text.addElement(sheet := table.Table(name="A"))
    grids = document.add_table(*sizes), slide.shapes.add_table(*sizes, 0, 0, 9, 9).table
    for number, cells in enumerate(rows):
        sheet.addElement(row := table.TableRow())
        for column, content in enumerate(cells):
            for grid in grids:
                grid.cell(number, column).text = content
            row.addElement(cell := table.TableCell())
            for paragraph in content.split("\n"):
                cell.addElement(text.P(text=paragraph))
    saved = {"a.docx": io.BytesIO(), "a.pptx": io.BytesIO()}
    document.save(saved["a.docx"])
    presentation.save(saved["a.pptx"])
    return {name: file.getvalue() for name, file in saved.items()} | {"a.odt": _save(written)}


def make_reordered_pptx() -> bytes:
    """Two slides, of which the second was moved before the first."""
    presentation = pptx.Presentation(io.BytesIO(make_pptx([("One", "", ""), ("Two", "", "")])))
    order = presentation.slides._sldIdLst
    first = next(iter(order))
    order.remove(first)
    order.append(first)
    file = io.BytesIO()
    presentation.save(file)
    return file.getvalue()


def make_xlsx(sheets: Mapping[str, Rows]) -> bytes:
    book = openpyxl.Workbook(write_only=True)
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(list(row))
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def make_sparse_xlsx() -> bytes:
    """Two cells, in the first corner and in the last one."""
    book = openpyxl.Workbook()
    sheet = book.worksheets[0]
    sheet["A1"], sheet["XFD1048576"] = "first", "last"
    file = io.BytesIO()
    book.save(file)
    return file.getvalue()


def make_mail(text: str, page: str = "", **headers: str) -> bytes:
    """A mail as programs save it: its words in base64, and a file attached."""
    message = EmailMessage()
    for name, value in headers.items():
        message[name] = value
    message.set_content(text, cte="base64")
    if page:
        message.add_alternative(page, subtype="html")
    message.add_attachment(b"%PDF-1.4", maintype="application", subtype="pdf", filename="plan.pdf")
    return bytes(message)


def make_epub(chapters: Mapping[str, str]) -> bytes:
    """Chapters by their titles, as the format's own specification lays a book out."""
    container = "urn:oasis:names:tc:opendocument:xmlns:container"
    items = [f'<item id="c{at}" href="{at}.xhtml" media-type="application/xhtml+xml"/>'
             for at in range(len(chapters))]  # fmt: skip
    spine = [f'<itemref idref="c{at}"/>' for at in range(len(chapters))]
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as book:
        book.writestr("mimetype", "application/epub+zip")
        book.writestr(
            "META-INF/container.xml",
            f'<container version="1.0" xmlns="{container}"><rootfiles><rootfile '
            'full-path="EPUB/book.opf" media-type="application/oebps-package+xml"/>'
            "</rootfiles></container>",
        )
        book.writestr(
            "EPUB/book.opf",
            '<package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
            f"<manifest>{''.join(items)}</manifest><spine>{''.join(spine)}</spine></package>",
        )
        for at, (title, content) in enumerate(chapters.items()):
            page = f"<h1>{title}</h1><p>{content}</p>"
            book.writestr(
                f"EPUB/{at}.xhtml",
                f'<html xmlns="http://www.w3.org/1999/xhtml"><head><title>{title}</title></head>'
                f"<body>{page}</body></html>",
            )
    return file.getvalue()


def make_odt(paragraphs: Sequence[str]) -> bytes:
    document = open_document.OpenDocumentText()
    for paragraph in paragraphs:
        document.text.addElement(text.P(text=paragraph))
    return _save(document)


def make_ods(name: str, rows: Sequence[Sequence[str]]) -> bytes:
    document = open_document.OpenDocumentSpreadsheet()
    sheet = table.Table(name=name)
    for row in rows:
        line = table.TableRow()
        for value in row:
            cell = table.TableCell()
            cell.addElement(text.P(text=value))
            line.addElement(cell)
        sheet.addElement(line)
    document.spreadsheet.addElement(sheet)
    return _save(document)


def make_odp(slides: Sequence[str]) -> bytes:
    document = open_document.OpenDocumentPresentation()
    layout = style.PageLayout(name="layout")
    document.automaticstyles.addElement(layout)
    master = style.MasterPage(name="master", pagelayoutname=layout)
    document.masterstyles.addElement(master)
    for slide in slides:
        page = draw.Page(masterpagename=master)
        frame = draw.Frame(width="1cm", height="1cm")
        box = draw.TextBox()
        box.addElement(text.P(text=slide))
        frame.addElement(box)
        page.addElement(frame)
        document.presentation.addElement(page)
    return _save(document)


def _save(document: open_document.OpenDocument) -> bytes:
    file = io.BytesIO()
    document.write(file)
    return file.getvalue()
