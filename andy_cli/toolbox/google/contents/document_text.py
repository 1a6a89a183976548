"""A document of Google Docs as plain text, its form in the signs of Markdown. Pure.

    # Heading   - item   | a | b |   [image]   text (https://...)

The resource is that of docs.v1 (`Document`, `StructuralElement`).
"""

from collections.abc import Iterator

from andy_cli.toolbox.google.http.service import Record, record, records, text

DEEPEST = 20
"""Tables within tables, tabs within tabs."""


def text_of(document: Record) -> str:
    """All tabs, one after the other; a document without tabs is its body."""
    tabs = list(_tabs(records(document.get("tabs"))))
    if not tabs:
        return "".join(_content(record(document.get("body")), 0)).strip("\n")
    parts = []
    for tab in tabs:
        title = text(record(tab.get("tabProperties")).get("title"))
        body = "".join(_content(record(record(tab.get("documentTab")).get("body")), 0)).strip("\n")
        parts.append(f"== {title} ==\n\n{body}" if len(tabs) > 1 else body)
    return "\n\n".join(parts)


def _tabs(tabs: list[Record], depth: int = 0) -> Iterator[Record]:
    for tab in tabs:
        yield tab
        if depth < DEEPEST:
            yield from _tabs(records(tab.get("childTabs")), depth + 1)


def _content(holder: Record, depth: int) -> Iterator[str]:
    if depth > DEEPEST:
        return
    for element in records(holder.get("content")):
        if paragraph := record(element.get("paragraph")):
            yield _paragraph(paragraph)
        elif table := record(element.get("table")):
            yield from _table(table, depth)
        elif contents := record(element.get("tableOfContents")):
            yield from _content(contents, depth + 1)


def _paragraph(paragraph: Record) -> str:
    said = "".join(map(_element, records(paragraph.get("elements"))))
    if not said.strip():
        return said
    style = text(record(paragraph.get("paragraphStyle")).get("namedStyleType"))
    level = style.removeprefix("HEADING_")
    if style == "TITLE":
        return f"# {said}"
    if level.isdigit() and level != style:
        return f"{'#' * min(6, int(level[:2]))} {said}"
    if "bullet" in paragraph:
        nesting = record(paragraph["bullet"]).get("nestingLevel")
        indent = min(nesting, 9) if isinstance(nesting, int) and nesting > 0 else 0
        return f"{'  ' * indent}- {said}"
    return said


def _element(element: Record) -> str:
    if run := record(element.get("textRun")):
        # A vertical tab is a line break within a paragraph.
        return text(run.get("content")).replace("\v", "\n")
    if person := record(record(element.get("person")).get("personProperties")):
        name, address = text(person.get("name")), text(person.get("email"))
        return f"{name} <{address}>" if name and address else name or address
    if link := record(record(element.get("richLink")).get("richLinkProperties")):
        title, address = text(link.get("title")), text(link.get("uri"))
        return f"{title} ({address})" if title else address
    if "inlineObjectElement" in element:
        return "[image]"
    if note := record(element.get("footnoteReference")):
        return f"[{text(note.get('footnoteNumber'))}]"
    return "\n---\n" if "horizontalRule" in element else ""


def _table(table: Record, depth: int) -> Iterator[str]:
    for row in records(table.get("tableRows")):
        cells = (
            " ".join("".join(_content(cell, depth + 1)).split())
            for cell in records(row.get("tableCells"))
        )
        yield f"| {' | '.join(cells)} |\n"


def ends_empty(document: Record) -> bool:
    """Whether the last paragraph is empty: what is appended then needs no line of its own.

    Needs of the document only where its elements begin and end.
    """
    content = records(record(document.get("body")).get("content"))
    last = content[-1] if content else {}
    start, end = last.get("startIndex") or 0, last.get("endIndex")
    return not content or (isinstance(end, int) and isinstance(start, int) and end - start <= 1)
