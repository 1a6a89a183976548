"""Office files and books, read and searched: real ones, damaged ones and hostile ones."""

import contextlib
import io
import sys
import zipfile
from collections.abc import Callable
from datetime import date, datetime
from email.mime.application import MIMEApplication
from email.mime.multipart import MIMEMultipart
from email.mime.text import MIMEText
from functools import cache
from pathlib import Path
from typing import Literal

import openpyxl
import pytest
from docx import Document
from hypothesis import given
from hypothesis import strategies as st

from andy_cli.errors import ToolError
from andy_cli.toolbox.documents.formats import mail, opendocument, package, pptx, xlsx
from andy_cli.toolbox.documents.text import TextPart, text_of
from tests import office_files
from tests.cases import draw_cases
from tests.sample_documents import docx, pdf
from tests.test_documents import indexed
from tests.tools import ran, shipped, work_in

TOOLS = shipped("files")
KESTREL = "The kestrel hovers."


@cache
def real_files() -> dict[str, bytes]:
    book = office_files.make_epub({"One": "Nothing.", "Two": f"{KESTREL} &amp; more"})
    slides = [("First", "Nothing", ""), ("Second", KESTREL, "say it slowly")]
    rows: office_files.Rows = [
        ["Name", "When", None, "Sum"],
        [KESTREL, date(2026, 1, 2), None, 3.5],
    ]
    return {
        "a.docx": office_files.make_docx(["Dear Ada,", KESTREL], ["left", "right"]),
        "a.epub": book,
        "a.odp": office_files.make_odp(["Nothing", KESTREL]),
        "a.ods": office_files.make_ods("Birds", [["a", "b"], ["", KESTREL]]),
        "a.odt": office_files.make_odt(["Dear Ada,", KESTREL]),
        "a.pdf": pdf("Nothing", KESTREL),
        "a.pptx": office_files.make_pptx(slides),
        "a.xlsx": office_files.make_xlsx({"Empty": [], "Birds": rows}),
    }


@pytest.fixture
def workspace(tmp_path: Path, home: Path) -> Path:
    folder = tmp_path / "ws"
    folder.mkdir()
    work_in(folder)
    for name, content in real_files().items():
        (folder / name).write_bytes(content)
    return folder


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("a.docx", [TextPart("", f"Dear Ada,\n{KESTREL}\nleft\tright", "paragraph")]),
        (
            "a.epub",
            [
                TextPart("chapter 1", "One\n\nNothing."),
                TextPart("chapter 2", f"Two\n\n{KESTREL} & more"),
            ],
        ),
        ("a.odp", [TextPart("slide 1", "Nothing"), TextPart("slide 2", KESTREL)]),
        ("a.ods", [TextPart("sheet Birds", f"a\tb\n\t{KESTREL}")]),
        ("a.odt", [TextPart("", f"Dear Ada,\n{KESTREL}", "paragraph")]),
        (
            "a.pptx",
            [
                TextPart("slide 1", "First\nNothing"),
                TextPart("slide 2", f"Second\n{KESTREL}\nNotes: say it slowly"),
            ],
        ),
        (
            "a.xlsx",
            [
                TextPart("sheet Empty", ""),
                TextPart("sheet Birds", f"Name\tWhen\t\tSum\n{KESTREL}\t2026-01-02\t\t3.5"),
            ],
        ),
    ],
)
def test_the_text_of_office_files_comes_in_parts(name: str, parts: list[TextPart]) -> None:
    for called in (name, "report"):  # what an archive is also tells what is in it
        assert [*text_of(io.BytesIO(real_files()[name]), called)] == parts


def test_each_is_ingested_and_searched(workspace: Path) -> None:
    for name in real_files():
        assert KESTREL in ran(TOOLS, "file_ingest", path=name).content
    result = ran(TOOLS, "search_files", pattern="kestrel hov")
    assert result.did == "found 8 matches in the current folder"
    assert not result.partial
    for name, place in (
        ("a.docx", None),
        ("a.epub", "chapter 2"),
        ("a.ods", "sheet Birds"),
        ("a.pdf", "page 2"),
        ("a.pptx", "slide 2"),
        ("a.xlsx", "sheet Birds"),
    ):
        assert (
            f'{{"file": "{name}", ' + (f'"place": "{place}", ' if place else "") in result.content
        )


def test_a_reader_of_texts_says_what_reads_documents(workspace: Path) -> None:
    for name in real_files():
        result = ran(TOOLS, "read_file", path=name)
        assert not result.ok
        assert "file_ingest reads the text of documents." in result.content


def test_an_index_takes_them_in(workspace: Path) -> None:
    tally = indexed(workspace)
    assert (tally.read, tally.faults) == (len(real_files()), ())


def test_an_index_takes_in_what_another_name_hides(workspace: Path) -> None:
    for path in [*workspace.iterdir()]:
        path.unlink()
    for number, (name, content) in enumerate(sorted(real_files().items())):
        (workspace / f"{number}.txt").write_bytes(content)
        (workspace / name.replace(".", "-")).write_bytes(content)
    tally = indexed(workspace)
    assert (tally.read, tally.faults) == (2 * len(real_files()), ())
    found = ran(shipped("documents"), "search", query="kestrel", limit=50)
    assert found.did == f"found {2 * len(real_files())} documents"


def test_without_the_extra_it_says_what_to_install(
    workspace: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    monkeypatch.setitem(sys.modules, "pypdf", None)
    for name in ("a.xlsx", "a.pdf"):
        assert "pip install 'andy-cli[docs]'" in ran(TOOLS, "file_ingest", path=name).content
    result = ran(TOOLS, "search_files", pattern="kestrel")
    assert '"file": "a.xlsx", "why": "could not be read: Reading Excel sheets' in result.content
    assert result.partial == "2 files could not be searched for text"
    assert '{"file": "a.docx", "text"' in result.content


def test_slides_come_in_the_order_they_are_shown() -> None:
    slides = pptx.read_slides(io.BytesIO(office_files.make_reordered_pptx()))
    assert [*slides] == ["Two", "One"]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (datetime(2026, 1, 2, 3, 4), "2026-01-02 03:04:00"),
        (0.1 + 0.2, "0.3"),
        (True, "True"),
        ("two\nlines", "two lines"),
        (12345678901234, "12345678901234"),
    ],
)
def test_values_of_sheets_are_written_plainly(value: object, written: str) -> None:
    file = io.BytesIO(office_files.make_xlsx({"a": [[value]]}))
    assert [*xlsx.read_sheets(file, lambda: None)] == [("a", written)]


def test_two_cells_in_far_corners_are_two_lines() -> None:
    file = io.BytesIO(office_files.make_sparse_xlsx())
    ((_, found),) = xlsx.read_sheets(file, lambda: None)
    first, last = found.split("\n")
    assert (first, last.strip()) == ("first", "last")


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet_is_marked_as_such(
    state: Literal["hidden", "veryHidden"], workspace: Path
) -> None:
    file = io.BytesIO(office_files.make_xlsx({"Sales": [["sold", 7]], "Cost": [["paid", 3]]}))
    book = openpyxl.load_workbook(file)
    book["Cost"].sheet_state = state
    book.save(workspace / "b.xlsx")
    told = ran(TOOLS, "file_ingest", path="b.xlsx").content
    assert told == "[sheet Sales]\nsold\t7\n\n[sheet Cost (hidden)]\npaid\t3"


def test_reading_a_sheet_can_be_stopped() -> None:
    def stop() -> None:
        raise ToolError("It was stopped.")

    with pytest.raises(ToolError, match="stopped"):
        [*text_of(io.BytesIO(real_files()["a.xlsx"]), "a.xlsx", go_on=stop)]


def repacked(name: str, change: Callable[[str, bytes], bytes]) -> bytes:
    """A real file with some of what is in it changed."""
    file = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(real_files()[name])) as old,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as new,
    ):
        for member in old.namelist():
            new.writestr(member, change(member, old.read(member)))
    return file.getvalue()


CONTENTS = {
    "a.docx": "word/document.xml",
    "a.pptx": "ppt/slides/slide2.xml",
    "a.odt": opendocument.CONTENT,
    "a.xlsx": "xl/worksheets/sheet2.xml",
}


@pytest.mark.parametrize("name", CONTENTS)
def test_what_would_unpack_to_far_more_is_refused(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(package, "MAX_BYTES", 1 << 20)
    monkeypatch.setattr(xlsx, "MAX_BYTES", 1 << 20)

    def blow_up(member: str, content: bytes) -> bytes:
        if member != CONTENTS[name]:
            return content
        at = content.rindex(b"</")
        return content[:at] + b" " * (2 << 20) + content[at:]

    with pytest.raises(ToolError, match="unpack to far more"):
        [*text_of(io.BytesIO(repacked(name, blow_up)), name)]


LAUGHS = "<!DOCTYPE x [<!ENTITY a0 'ha'>{}]>".format(
    "".join(f"<!ENTITY a{n + 1} '{f'&a{n};' * 10}'>" for n in range(12))
).encode()


@pytest.mark.parametrize("name", CONTENTS)
def test_entities_are_not_made_into_gigabytes(name: str) -> None:
    def declare(member: str, content: bytes) -> bytes:
        if member != CONTENTS[name]:
            return content
        start = content.index(b"?>") + 2 if content.startswith(b"<?xml") else 0
        declared = content[:start] + LAUGHS + content[start:]
        return declared.replace(KESTREL.encode(), b"&a12;").replace(b"<v>3.5<", b"<v>&a12;<")

    with pytest.raises(ToolError, match=r"entities|damaged"):
        [*text_of(io.BytesIO(repacked(name, declare)), name)]


@draw_cases(200)
@given(
    name=st.sampled_from(sorted(real_files())),
    changes=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=8),
    inside=st.booleans(),
)
def test_damaged_files_are_read_or_refused_in_a_sentence(
    name: str, changes: list[tuple[float, int]], inside: bool
) -> None:
    def damage(content: bytes) -> bytes:
        damaged = bytearray(content)
        for place, byte in changes:
            if damaged:
                damaged[int(place * (len(damaged) - 1))] = byte
        return bytes(damaged)

    content = real_files()[name]
    if inside and name != "a.pdf":
        content = repacked(name, lambda member, held: damage(held) if "xml" in member else held)
    else:
        content = damage(content)
    with contextlib.suppress(ToolError):
        assert all(isinstance(part.text, str) for part in text_of(io.BytesIO(content), name))


@pytest.mark.parametrize("before", [b"\n\n", b"\xef\xbb\xbf", b"\r\n" * 40])
def test_a_pdf_with_blanks_in_front_is_one(before: bytes, workspace: Path) -> None:
    (workspace / "bill.pdf").write_bytes(before + pdf("Pay 4711"))
    assert ran(TOOLS, "file_ingest", path="bill.pdf").content.startswith("[page 1]\nPay 4711")
    assert '"place": "page 1"' in ran(TOOLS, "search_files", pattern="pay 4711").content
    assert "is a PDF document" in ran(TOOLS, "read_file", path="bill.pdf").content
    assert [part.place for part in text_of(io.BytesIO(before + pdf("a")), "a")] == ["page 1"]


def test_a_book_is_read_that_lacks_a_chapter() -> None:
    book = office_files.make_epub({"One": "First.", "Two": "Second.", "Three": "Third."})
    file = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(book)) as old, zipfile.ZipFile(file, "w") as new:
        for member in old.namelist():
            if member != "EPUB/1.xhtml":
                new.writestr(member, old.read(member))
    file.seek(0)
    texts = [part.text for part in text_of(file, "a.epub")]
    assert texts == ["One\n\nFirst.", "(this chapter is missing in the file)", "Three\n\nThird."]


def test_what_stands_around_a_word_text_is_read_once() -> None:
    document = Document()
    document.add_paragraph("The order").add_run(" is late.")
    document.add_section()
    for section, text in zip(document.sections, ("Tern & Co", "Tern & Co"), strict=True):
        section.header.is_linked_to_previous = False
        section.header.paragraphs[0].text = text
    document.sections[0].footer.paragraphs[0].text = "Ref 4711"
    document.add_comment(document.paragraphs[0].runs, "Since when?")
    file = io.BytesIO()
    document.save(file)
    file.seek(0)
    assert [*text_of(file, "a.docx")] == [
        TextPart("", "The order is late.", "paragraph"),
        TextPart("comments", "Since when?"),
        TextPart("header", "Tern & Co"),
        TextPart("footer", "Ref 4711"),
    ]


def test_a_word_text_is_read_where_its_header_is_damaged() -> None:
    document = Document()
    document.add_paragraph("The order is late.")
    document.sections[0].header.paragraphs[0].text = "Tern & Co"
    whole, damaged = io.BytesIO(), io.BytesIO()
    document.save(whole)
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(damaged, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"<w:hdr" if "/header" in name else old.read(name))
    damaged.seek(0)
    texts = [part.text for part in text_of(damaged, "a.docx")]
    assert texts[0] == "The order is late."
    assert "is damaged and cannot be read" in texts[1]


def test_a_text_box_is_read_once_on_lines_of_its_own() -> None:
    box = "<w:txbxContent><w:p><w:r><w:t>in the box</w:t></w:r></w:p></w:txbxContent>"
    alternatives = (
        f"<mc:AlternateContent><mc:Choice>{box}</mc:Choice><mc:Fallback>{box}</mc:Fallback>"
        "</mc:AlternateContent>"
    )

    def add_box(member: str, content: bytes) -> bytes:
        if member != CONTENTS["a.docx"]:
            return content
        return content.replace(b"Dear Ada,</w:t>", f"Dear Ada,</w:t>{alternatives}".encode())

    (part,) = text_of(io.BytesIO(repacked("a.docx", add_box)), "a.docx")
    assert part.text.splitlines()[:2] == ["Dear Ada,", "in the box"]
    assert part.text.count("in the box") == 1


def test_an_emoji_that_word_writes_for_new_programs_is_read() -> None:
    emoji = (
        "<mc:AlternateContent><mc:Choice/><mc:Fallback><w:rPr/></mc:Fallback></mc:AlternateContent>"
        '<mc:AlternateContent><mc:Choice Requires="w16se"><w16se:symEx w16se:char="1F60A" xmlns:'
        'w16se="http://schemas.microsoft.com/office/word/2015/wordml/symex"/></mc:Choice>'
        "<mc:Fallback><w:t>\U0001f60a</w:t></mc:Fallback></mc:AlternateContent>"
    )

    def add_emoji(member: str, content: bytes) -> bytes:
        return content.replace(b"Dear Ada,</w:t>", f"Dear Ada,</w:t>{emoji}".encode())

    (part,) = text_of(io.BytesIO(repacked("a.docx", add_emoji)), "a.docx")
    assert part.text.splitlines()[0] == "Dear Ada,\U0001f60a"


def read_open_document(body: str) -> str:
    """The text of an OpenDocument file with this in its body."""
    names = ("office", "text", "table", "drawing")
    declared = "".join(f' xmlns:{name}="{opendocument.NAMESPACE.format(name)}"' for name in names)
    dublin_core = ' xmlns:dc="http://purl.org/dc/elements/1.1/"'
    content = f"<office:document-content{declared}{dublin_core}><office:body>{body}</office:body>"
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(opendocument.CONTENT, f"{content}</office:document-content>")
    return "".join(text for _, text in opendocument.read_parts(file))


def make_row(*cells: str, repeated: int = 1) -> str:
    """A row as LibreOffice writes it; `3*a` is a cell that stands for three of them."""
    row = f'<table:table-row table:number-rows-repeated="{repeated}">'
    for cell in cells:
        count, _, value = cell.rpartition("*")
        row += f'<table:table-cell table:number-columns-repeated="{count or 1}">'
        row += f"<text:p>{value}</text:p></table:table-cell>" if value else "</table:table-cell>"
    return f"{row}</table:table-row>"


GRID = (("Name", "", "Due"), ("Ada", "1.234,56", "May\nor June"), ("", "7", ""))


@pytest.mark.parametrize("name", ["a.docx", "a.pptx", "a.odt"])
def test_a_row_of_a_table_in_a_document_is_one_line_and_keeps_its_columns(name: str) -> None:
    content = office_files.make_tables(GRID)[name]
    text = "\n".join(part.text for part in text_of(io.BytesIO(content), name))
    assert text.splitlines() == ["Before", "Name\t\tDue", "Ada\t1.234,56\tMay or June", "\t7"]


def test_a_cell_over_two_columns_leaves_the_next_ones_where_they_are() -> None:
    cell = "<w:tc>{}<w:p><w:r><w:t>{}</w:t></w:r></w:p></w:tc>"
    wide = cell.format("<w:tcPr><w:gridSpan w:val='2'/></w:tcPr>", "A")
    row = f"<w:tr>{wide}{cell.format('', 'B')}</w:tr>"
    (part,) = text_of(io.BytesIO(docx([], raw=f"<w:tbl>{row}</w:tbl>")), "a.docx")
    assert part.text == "A\t\tB"


def test_of_a_tracked_document_moved_text_is_read_once_where_it_is_now() -> None:
    """Text that is deleted has another element; text that is moved away has not."""
    run = "<w:r><w:t>moved</w:t></w:r>"
    paragraphs = (
        f"<w:p><w:moveFrom w:id='1'>{run}</w:moveFrom></w:p>",
        "<w:p><w:del w:id='2'><w:r><w:delText>old</w:delText></w:r></w:del>",
        "<w:ins w:id='3'><w:r><w:t>new</w:t></w:r></w:ins></w:p>",
        f"<w:p><w:moveTo w:id='4'>{run}</w:moveTo></w:p>",
    )
    (part,) = text_of(io.BytesIO(docx([], raw="".join(paragraphs))), "a.docx")
    assert part.text.split() == ["new", "moved"]


def test_a_page_that_is_laid_out_by_a_table_keeps_its_paragraphs() -> None:
    content = office_files.make_tables([(f"{'a' * 600}\nb", "c" * 600)])["a.docx"]
    (part,) = text_of(io.BytesIO(content), "a.docx")
    assert part.text.splitlines()[1:] == ["a" * 600, "b", "c" * 600]


def test_a_cell_that_stands_alone_or_holds_a_table_keeps_its_lines() -> None:
    def make_table(*cells: str) -> str:
        return f"<w:tbl><w:tr>{''.join(f'<w:tc>{cell}</w:tc>' for cell in cells)}</w:tr></w:tbl>"

    one, two, three = (f"<w:p><w:r><w:t>{number}</w:t></w:r></w:p>" for number in (1, 2, 3))
    raw = make_table(one + two) + make_table(one, make_table(two, three) + three, one, two)
    (part,) = text_of(io.BytesIO(docx([], raw=raw)), "a.docx")
    assert part.text.splitlines() == ["1", "2", "1", "2\t3", "3", "1\t2"]


def read_open_sheet(*rows: str) -> str:
    table = f'<table:table table:name="A">{"".join(rows)}</table:table>'
    return read_open_document(f"<office:spreadsheet>{table}</office:spreadsheet>")


def test_cells_that_stand_for_several_keep_their_columns() -> None:
    sheet = read_open_sheet(
        make_row("Name", "Jan", "Feb", "Mar", "16380*"),
        make_row("Ada", "2*", "7", "16380*"),
        make_row("Bob", "3*5", "16380*"),
        make_row("again", "1", repeated=2),
        make_row("16384*", repeated=1_048_000),
    )
    assert sheet == "Name\tJan\tFeb\tMar\nAda\t\t\t7\nBob\t5\t5\t5\nagain\t1\nagain\t1"


def test_a_cell_that_stands_for_too_many_is_refused() -> None:
    for row in (make_row("99999999*a"), make_row("a" * 100, repeated=1_000_000)):
        with pytest.raises(ToolError, match="too much to be read"):
            read_open_sheet(row)


def test_text_that_was_deleted_is_left_out_and_comments_stand_in_brackets() -> None:
    text = read_open_document(
        "<office:text><text:tracked-changes><text:changed-region><text:deletion>"
        "<text:p>The price is 500.</text:p></text:deletion></text:changed-region>"
        "</text:tracked-changes><text:p>The price is 700<office:annotation>"
        "<dc:creator>Eva</dc:creator><text:p>too</text:p><text:p>much</text:p>"
        "</office:annotation>.</text:p><text:p>A note<text:note>"
        "<text:note-citation>1</text:note-citation><text:note-body><text:p>below</text:p>"
        "</text:note-body></text:note> here.</text:p></office:text>"
    )
    assert text == "The price is 700 [too much] .\nA note [below]  here."


def test_a_formula_without_a_value_stands_for_itself(workspace: Path) -> None:
    sums: office_files.Rows = [["a", 2], ["b", 3], ["sum", "=SUM(B1:B2)"]]
    (workspace / "sums.xlsx").write_bytes(office_files.make_xlsx({"Sums": sums}))
    with (workspace / "sums.xlsx").open("rb") as file:
        assert [*text_of(file, "sums.xlsx")] == [
            TextPart("sheet Sums", "a\t2\nb\t3\nsum\t=SUM(B1:B2)")
        ]


def test_a_document_of_pictures_holds_no_text(workspace: Path) -> None:
    (workspace / "scan.pdf").write_bytes(pdf("", ""))
    result = ran(TOOLS, "file_ingest", path="scan.pdf")
    assert result.did == "read scan.pdf: it holds no text"


def test_a_page_without_text_among_others_is_said_to_have_none(workspace: Path) -> None:
    (workspace / "mixed.pdf").write_bytes(pdf("One", "", "Three"))
    told = ran(TOOLS, "file_ingest", path="mixed.pdf").content
    assert told == "[page 1]\nOne\n\n[page 2: no text]\n\n[page 3]\nThree"


def test_a_mail_and_rich_text_are_read_as_a_person_does(workspace: Path) -> None:
    for path in [*workspace.iterdir()]:
        path.unlink()
    offer = office_files.make_mail(
        "Gr\u00fc\u00dfe vom Falken.\n",
        "<p>Gr\u00fc\u00dfe</p>",
        Subject="M\u00fcsli",
        To="a@b.org",
    )
    (workspace / "offer.eml").write_bytes(offer)
    (workspace / "note.rtf").write_bytes(rb"{\rtf1\ansi Two \b falcons\b0 , caf\'e9.\par}")
    told = ran(TOOLS, "file_ingest", path="offer.eml")
    assert (
        told.content
        == "To: a@b.org\nSubject: M\u00fcsli\n\nGr\u00fc\u00dfe vom Falken.\n\nAttached: plan.pdf"
    )
    assert ran(TOOLS, "file_ingest", path="note.rtf").content.strip() == "Two falcons, caf\u00e9."
    found = ran(TOOLS, "search_files", pattern="vom falken").content
    assert '{"file": "offer.eml", "text": "Gr\u00fc\u00dfe vom Falken."}' in found
    assert '"line": ' in ran(TOOLS, "search_files", pattern="base64").content, "as it is written"
    written = ran(TOOLS, "read_file", path="note.rtf").content
    assert written.startswith("{\\rtf1")
    assert "file_ingest reads its text" in written
    assert indexed(workspace).read == 2


def list_mail_text(mail_type: str, *bodies: tuple[str, str]) -> list[str]:
    """What is read of a mail with these bodies, each of its type."""
    parts = [
        f"--b\nContent-Type: text/{subtype}; charset=utf-8\n\n{body}\n" for subtype, body in bodies
    ]
    head = f"Subject: Offer\nContent-Type: multipart/{mail_type}; boundary=b\n\n"
    return mail.read_message("".join([head, *parts, "--b--\n"]).encode()).split("\n\n")


def test_the_page_of_a_mail_is_left_out_where_its_text_stands_in_a_part_with_more() -> None:
    message, inner = MIMEMultipart("alternative"), MIMEMultipart("mixed")
    for part in (MIMEText("kestrel"), MIMEApplication(b"%PDF", "pdf", name="plan.pdf")):
        inner.attach(part)
    for choice in (inner, MIMEText("<p>The <b>kestrel</b></p>", "html")):
        message.attach(choice)
    assert mail.read_message(message.as_bytes()).split("\n\n") == ["kestrel", "Attached: plan.pdf"]


def test_a_mail_is_read_as_a_page_where_its_text_does_not_say_the_same() -> None:
    """An empty text beside the page, or the footer of a mailing list below it, is not the mail."""
    page = ("html", "<p>The <b>kestrel</b></p>")
    assert list_mail_text("alternative", ("plain", "kestrel"), page)[1:] == ["kestrel"]
    assert list_mail_text("alternative", ("plain", " \n"), page)[1:] == ["The kestrel"]
    footer = ("plain", "Unsubscribe at list.example")
    assert list_mail_text("mixed", page, footer)[1:] == ["The kestrel", footer[1]]


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"Content-Type: text/html\r\n\r\n<p>one<br>two</p>", "one\ntwo"),
        (b"Content-Type: text/plain; charset=koi8-r\n\n\xf0\xf2\xe9", "\u041f\u0420\u0418"),
        (b"Content-Type: text/plain; charset=none\n\ncaf\xe9", "caf\u00e9"),
        (b"Subject: =?utf-8?q?a=3?=\n\nb", "Subject: a=3\n\nb"),
        (b"Content-Type: multipart/mixed; boundary=x\n\nno part", "no part"),
        (b"", ""),
    ],
)
def test_a_mail_is_read_however_it_is_written(written: bytes, text: str) -> None:
    assert mail.read_message(written) == text
