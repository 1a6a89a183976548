"""Google Docs: the text of a document, making one, adding to it, replacing in it (docs.v1)."""

from collections.abc import Mapping

from andy_cli.foreign_values import as_record, as_records, text_of
from andy_cli.toolbox.files.names import count_noun
from andy_cli.toolbox.google.contents.document_text import ends_empty, render_document
from andy_cli.toolbox.google.contents.pages import page_of_text, shorten_words, text_outcome
from andy_cli.toolbox.google.http.apis import DOCS
from andy_cli.toolbox.google.http.refusals import NOT_DONE, MissingWords
from andy_cli.toolbox.google.http.service import (
    Record,
    Service,
    open_service,
    quote_part,
)
from andy_cli.toolbox.google.ids import check_title, file_id, show_id
from andy_cli.toolbox.google.seen_names import remember_name
from andy_cli.toolbox.tool import Outcome, ToolError

NOUN = "a document"
NO_PLACE = MissingWords("Google Docs makes no document there.")
MAX_CHARACTERS = 1_000_000
"""Characters of a document; Google takes no more."""


async def read_document(document: str, offset: int) -> Outcome:
    id = file_id(document, NOUN)
    async with open_service(DOCS) as service:
        query = {"includeTabsContent": True}
        document_record = await service.read(_document_path(id), _missing_document(id), query)
    title = text_of(document_record, "title")
    remember_name(id, title)
    return text_outcome(
        {"id": id, "title": title, **page_of_text(render_document(document_record), offset)},
        f"read {shorten_words(title)}",
    )


async def create_document(title: str, content: str) -> Outcome:
    name = check_title(title, NOUN)
    _check_content(content)
    async with open_service(DOCS) as service:
        created = await service.change("POST", "/documents", NO_PLACE, {"title": name})
        id = service.created_id(created, "documentId")
        if content:
            await _fill_document(service, id, content)
    remember_name(id, name)
    document_link = f"https://docs.google.com/document/d/{id}/edit"
    return text_outcome(
        {"id": id, "title": name, "link": document_link}, f"made the document {shorten_words(name)}"
    )


async def _fill_document(service: Service, id: str, content: str) -> None:
    try:
        await _edit_document(
            service, id, {"insertText": {"location": {"index": 1}, "text": content}}
        )
    except ToolError as error:
        reason = str(error).removesuffix(NOT_DONE).rstrip()
        message = f"The document {id} was made, but without its text. {reason}"
        raise ToolError(message, error.advice, may_be_done=True) from error


async def append_text(document: str, content: str) -> Outcome:
    """Add paragraphs at the end of the first tab."""
    id = file_id(document, NOUN)
    _check_content(content)
    async with open_service(DOCS) as service:
        fields = {"fields": "title,body(content(startIndex,endIndex))"}
        document_record = await service.read(_document_path(id), _missing_document(id), fields)
        added = content if ends_empty(document_record) else f"\n{content}"
        await _edit_document(
            service, id, {"insertText": {"endOfSegmentLocation": {}, "text": added}}
        )
    title = shorten_words(text_of(document_record, "title"))
    summary = f"added {count_noun(len(content), 'character')} to {title}"
    return text_outcome({"id": id, "appended": len(content)}, summary)


async def replace_text(document: str, find_text: str, new_text: str) -> Outcome:
    """Replace a text wherever it stands, in all tabs, its case kept in mind."""
    id = file_id(document, NOUN)
    _check_content(new_text)
    async with open_service(DOCS) as service:
        replacement = {
            "containsText": {"text": find_text, "matchCase": True},
            "replaceText": new_text,
        }
        answer = await _edit_document(service, id, {"replaceAllText": replacement})
    replies = as_records(answer.get("replies"))
    number = as_record(replies[0].get("replaceAllText")).get("occurrencesChanged") if replies else 0
    if not isinstance(number, int) or not number:
        raise ToolError(
            f"{shorten_words(find_text)} does not occur in the document, so nothing was replaced.",
            "Upper and lower case count; docs_read gives the text.",
        )
    return text_outcome({"id": id, "replaced": number}, f"replaced {count_noun(number, 'place')}")


async def _edit_document(service: Service, id: str, request: Mapping[str, object]) -> Record:
    path, body = f"{_document_path(id)}:batchUpdate", {"requests": [request]}
    answer = await service.change("POST", path, _missing_document(id), body)
    service.created_id(answer, "documentId")
    return answer


def _check_content(content: str) -> None:
    if len(content) > MAX_CHARACTERS:
        raise ToolError("A document holds a million characters at most.")


def _document_path(id: str) -> str:
    return f"/documents/{quote_part(id)}"


def _missing_document(id: str) -> MissingWords:
    return MissingWords(f"There is no document {show_id(id)}.", "drive_search gives the ids.")
