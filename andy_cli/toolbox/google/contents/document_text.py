"""A document of Google Docs as plain text, its form in the signs of Markdown. Pure.

    # Heading   - item   | a | b |   [image]   text (https://...)

The resource is that of docs.v1 (`Document`, `StructuralElement`).
"""

from collections.abc import Iterator

from andy_cli.foreign_values import as_record, as_records, text_of
from andy_cli.toolbox.google.http.service import Record

MAX_DEPTH = 20
"""Tables within tables, tabs within tabs."""


def render_document(document: Record) -> str:
    """All tabs, one after the other; a document without tabs is its body."""
    document_tabs = list(_read_tabs(as_records(document.get("tabs"))))
    if not document_tabs:
        return _read_body(document)
    bodies = [_read_body(as_record(tab.get("documentTab"))) for tab in document_tabs]
    if len(bodies) == 1:
        return bodies[0]
    titles = [text_of(as_record(tab.get("tabProperties")), "title") for tab in document_tabs]
    tabs = zip(titles, bodies, strict=True)
    return "\n\n".join(f"== {title} ==\n\n{body}" for title, body in tabs)


def _read_body(holder: Record) -> str:
    return "".join(_read_content(as_record(holder.get("body")), 0)).strip("\n")


def _read_tabs(document_tabs: list[Record], depth: int = 0) -> Iterator[Record]:
    for document_tab in document_tabs:
        yield document_tab
        if depth < MAX_DEPTH:
            yield from _read_tabs(as_records(document_tab.get("childTabs")), depth + 1)


def _read_content(holder: Record, depth: int) -> Iterator[str]:
    if depth > MAX_DEPTH:
        return
    for element in as_records(holder.get("content")):
        if paragraph := as_record(element.get("paragraph")):
            yield _read_paragraph(paragraph)
        elif table := as_record(element.get("table")):
            yield from _read_table(table, depth)
        elif contents := as_record(element.get("tableOfContents")):
            yield from _read_content(contents, depth + 1)


def _read_paragraph(paragraph: Record) -> str:
    paragraph_text = "".join(map(_read_element, as_records(paragraph.get("elements"))))
    if not paragraph_text.strip():
        return paragraph_text
    style = text_of(as_record(paragraph.get("paragraphStyle")), "namedStyleType")
    level = style.removeprefix("HEADING_")
    if style == "TITLE":
        return f"# {paragraph_text}"
    if level.isdigit() and level != style:
        return f"{'#' * min(6, int(level[:2]))} {paragraph_text}"
    if "bullet" in paragraph:
        nesting = as_record(paragraph["bullet"]).get("nestingLevel")
        indent = min(nesting, 9) if isinstance(nesting, int) and nesting > 0 else 0
        return f"{'  ' * indent}- {paragraph_text}"
    return paragraph_text


def _name_person(person: Record) -> str:
    name, address = text_of(person, "name"), text_of(person, "email")
    return f"{name} <{address}>" if name and address else name or address


def _read_element(element: Record) -> str:
    if text_run := as_record(element.get("textRun")):
        # A vertical tab is a line break within a paragraph.
        return text_of(text_run, "content").replace("\v", "\n")
    if person := as_record(as_record(element.get("person")).get("personProperties")):
        return _name_person(person)
    if rich_link := as_record(as_record(element.get("richLink")).get("richLinkProperties")):
        title, address = text_of(rich_link, "title"), text_of(rich_link, "uri")
        return f"{title} ({address})" if title else address
    if "inlineObjectElement" in element:
        return "[image]"
    if note := as_record(element.get("footnoteReference")):
        return f"[{text_of(note, 'footnoteNumber')}]"
    return "\n---\n" if "horizontalRule" in element else ""


def _read_table(table: Record, depth: int) -> Iterator[str]:
    for row in as_records(table.get("tableRows")):
        cells = as_records(row.get("tableCells"))
        cell_texts = ["".join(_read_content(cell, depth + 1)) for cell in cells]
        # A row is one line, and a cell may have several.
        cell_lines = [" ".join(cell_text.split()) for cell_text in cell_texts]
        yield f"| {' | '.join(cell_lines)} |\n"


def ends_empty(document: Record) -> bool:
    """Tell whether the last paragraph is empty: what is appended then needs no line of its own.

    Needs of the document only where its elements begin and end.
    """
    content = as_records(as_record(document.get("body")).get("content"))
    last_element = content[-1] if content else {}
    start, end = last_element.get("startIndex") or 0, last_element.get("endIndex")
    return not content or (isinstance(end, int) and isinstance(start, int) and end - start <= 1)
