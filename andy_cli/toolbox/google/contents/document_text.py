"""A document of Google Docs as plain text, its form in the signs of Markdown. Pure.

    # Heading   - item   | a | b |   [image]   text (https://...)

The resource is that of docs.v1 (`Document`, `StructuralElement`).
"""

from collections.abc import Iterator

from andy_cli.foreign_values import as_record, as_records
from andy_cli.toolbox.google.http.service import Record, as_text

MAX_DEPTH = 20
"""Tables within tables, tabs within tabs."""


def text_of(document: Record) -> str:
    """All tabs, one after the other; a document without tabs is its body."""
    document_tabs = list(_read_tabs(as_records(document.get("tabs"))))
    if not document_tabs:
        return "".join(_read_content(as_record(document.get("body")), 0)).strip("\n")
    tab_texts = []
    for document_tab in document_tabs:
        title = as_text(as_record(document_tab.get("tabProperties")).get("title"))
        body = "".join(
            _read_content(as_record(as_record(document_tab.get("documentTab")).get("body")), 0)
        ).strip("\n")
        tab_texts.append(f"== {title} ==\n\n{body}" if len(document_tabs) > 1 else body)
    return "\n\n".join(tab_texts)


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
    style = as_text(as_record(paragraph.get("paragraphStyle")).get("namedStyleType"))
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
    name, address = as_text(person.get("name")), as_text(person.get("email"))
    return f"{name} <{address}>" if name and address else name or address


def _read_element(element: Record) -> str:
    if text_run := as_record(element.get("textRun")):
        # A vertical tab is a line break within a paragraph.
        return as_text(text_run.get("content")).replace("\v", "\n")
    if person := as_record(as_record(element.get("person")).get("personProperties")):
        return _name_person(person)
    if rich_link := as_record(as_record(element.get("richLink")).get("richLinkProperties")):
        title, address = as_text(rich_link.get("title")), as_text(rich_link.get("uri"))
        return f"{title} ({address})" if title else address
    if "inlineObjectElement" in element:
        return "[image]"
    if note := as_record(element.get("footnoteReference")):
        return f"[{as_text(note.get('footnoteNumber'))}]"
    return "\n---\n" if "horizontalRule" in element else ""


def _read_table(table: Record, depth: int) -> Iterator[str]:
    for row in as_records(table.get("tableRows")):
        cells = (
            " ".join("".join(_read_content(cell, depth + 1)).split())
            for cell in as_records(row.get("tableCells"))
        )
        yield f"| {' | '.join(cells)} |\n"


def ends_empty(document: Record) -> bool:
    """Tell whether the last paragraph is empty: what is appended then needs no line of its own.

    Needs of the document only where its elements begin and end.
    """
    content = as_records(as_record(document.get("body")).get("content"))
    last_element = content[-1] if content else {}
    start, end = last_element.get("startIndex") or 0, last_element.get("endIndex")
    return not content or (isinstance(end, int) and isinstance(start, int) and end - start <= 1)
