"""Gmail: what there is, one mail, sending one (gmail.v1)."""

import asyncio
import base64
from collections.abc import Sequence

from andy_cli.foreign_values import as_records, text_of
from andy_cli.toolbox.google.contents import message_text
from andy_cli.toolbox.google.contents.mail_draft import MailDraft, as_message
from andy_cli.toolbox.google.contents.pages import (
    TEXT,
    TextRest,
    clip_texts,
    fitting_items,
    list_outcome,
    page_of_text,
    shorten_words,
    text_outcome,
)
from andy_cli.toolbox.google.http.apis import GMAIL
from andy_cli.toolbox.google.http.refusals import MissingWords
from andy_cli.toolbox.google.http.service import (
    Record,
    Service,
    open_service,
    quote_part,
)
from andy_cli.toolbox.google.ids import plain_id, show_id
from andy_cli.toolbox.google.login.vault import connected_account
from andy_cli.toolbox.tool import Outcome, ToolError, progress

AT_ONCE = 8
"""Mails that are asked for at the same time."""

SYSTEM = frozenset(
    "INBOX SPAM TRASH UNREAD STARRED IMPORTANT SENT DRAFT CHAT CATEGORY_PERSONAL CATEGORY_SOCIAL "
    "CATEGORY_PROMOTIONS CATEGORY_UPDATES CATEGORY_FORUMS".split()
)
"""Labels whose names are their ids."""

REST = TextRest("A larger maxResults gives them.", "Search for less, as with after: and before:.")
NO_LIST = MissingWords("Gmail has no such list of mails.")
IDS = "gmail_list and gmail_search give the ids."
NO_SENDING = MissingWords("Gmail sends no mail there.")
HEADERS = ["From", "To", "Subject", "Date"]


async def list_mails(most_mails: int, labels: Sequence[str] = (), query: str = "") -> Outcome:
    """The newest mails, as far as `most_mails`: of these labels, or those that a search finds."""
    async with open_service(GMAIL) as gmail:
        ids = await _label_ids(gmail, labels)
        list_query: dict[str, str | bool | list[str]] = {"q": query, "labelIds": ids}
        if {"SPAM", "TRASH"} & set(ids):
            list_query["includeSpamTrash"] = True
        result_page = await gmail.list_items(
            "/users/me/messages", "messages", most_mails, NO_LIST, list_query, largest=500
        )
        mails = await _fetch_heads(gmail, [text_of(item, "id") for item in result_page.items])
    return list_outcome("messages", mails, result_page.more, REST, "mail")


async def _label_ids(gmail: Service, names: Sequence[str]) -> list[str]:
    """Ids of labels that were named, as the user sees them or by their ids."""
    wanted_names = filter(None, map(str.strip, names))
    ids = [name.upper() if name.upper() in SYSTEM else name for name in wanted_names]
    # Everybody has these, under the same ids: the list needs no request.
    if SYSTEM.issuperset(ids):
        return ids
    labels = as_records((await gmail.read("/users/me/labels", NO_LIST)).get("labels"))
    known_ids = _list_label_ids(labels)
    found_ids = []
    for name in ids:
        known_id = known_ids.get(name) or known_ids.get(name.lower())
        if not known_id:
            raise _explain_unknown_label(name, labels)
        found_ids.append(known_id)
    return found_ids


def _explain_unknown_label(name: str, labels: Sequence[Record]) -> ToolError:
    label_names = ", ".join(shorten_words(text_of(label, "name"), 30) for label in labels[:30])
    return ToolError(f"There is no label {show_id(name)}. There are: {label_names}.")


def _list_label_ids(labels: Sequence[Record]) -> dict[str, str]:
    """List the ids of labels by their ids and by their names in lower case."""
    listed = [(text_of(label, "name").lower(), text_of(label, "id")) for label in labels]
    by_id = {own_id: own_id for _, own_id in listed}
    return {name: name for name in SYSTEM} | by_id | dict(listed)


async def _fetch_heads(gmail: Service, ids: Sequence[str]) -> list[dict[str, object]]:
    """Fetch who wrote what when, of each. Lists give ids alone."""
    semaphore = asyncio.Semaphore(AT_ONCE)
    done_count = 0

    async def head(id: str) -> dict[str, object]:
        nonlocal done_count
        async with semaphore:
            query = {"format": "metadata", "metadataHeaders": HEADERS}
            message = await gmail.read(_mail_path(id), _missing_mail(id), query)
        done_count += 1
        progress(f"{done_count} of {len(ids)} mails")
        return _read_head(message)

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(head(id)) for id in ids]
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return [task.result() for task in tasks]


def _read_head(message: Record) -> dict[str, object]:
    headers = message_text.message_headers(message)
    details: dict[str, object] = {
        "id": text_of(message, "id"),
        "from": headers.get("from", ""),
        "to": headers.get("to", ""),
        "subject": headers.get("subject", ""),
        "date": headers.get("date", ""),
        "snippet": _read_snippet(text_of(message, "snippet")),
        "unread": "UNREAD" in _labels(message),
    }
    return {name: value for name, value in details.items() if value}


def _labels(message: Record) -> list[str]:
    labels = message.get("labelIds")
    return [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []


def _read_snippet(written: str) -> str:
    """Gmail writes it as HTML."""
    if "&" not in written:
        return written
    from html import unescape  # 2 ms

    return unescape(written)


async def read_mail(message_id: str, offset: int) -> Outcome:
    """One mail: who, when, what about, its text, the names of its attachments."""
    id = plain_id(message_id, "a mail", IDS)
    async with open_service(GMAIL) as gmail:
        message = await gmail.read(_mail_path(id), _missing_mail(id), {"format": "full"})
        body = await _fetch_body(gmail, id, message)
    headers = message_text.message_headers(message)
    attached = message_text.list_attachments(message)
    page = page_of_text(body, offset)
    names = ("from", "to", "cc", "date", "subject")
    data: dict[str, object] = {
        "id": id,
        **{name: clip_texts(headers[name], TEXT) for name in names if headers.get(name)},
        "labels": fitting_items(_labels(message), TEXT),
        "body": page.pop("text"),
        **page,
        **({"attachments": fitting_items(attached)} if attached else {}),
    }
    subject = (
        shorten_words(headers.get("subject", "")) if headers.get("subject") else "without a subject"
    )
    return text_outcome(data, f"read the mail {subject}")


async def _fetch_body(gmail: Service, id: str, message: Record) -> str:
    """Fetch what a mail says, of all its parts that are text."""
    texts: list[str] = []
    for body in message_text.list_bodies(message):
        data = body.data
        if not data:
            path = f"{_mail_path(id)}/attachments/{quote_part(body.attachment)}"
            data = text_of(await gmail.read(path, _missing_mail(id)), "data")
        texts.append(message_text.read_body(body, data))
    return "\n\n".join(texts)


async def send_mail(mail_draft: MailDraft) -> Outcome:
    account = connected_account()
    encoded_mail = as_message(mail_draft, account.email if account else "")
    body = {"raw": base64.urlsafe_b64encode(encoded_mail).decode()}
    async with open_service(GMAIL) as gmail:
        answer = await gmail.change("POST", "/users/me/messages/send", NO_SENDING, body)
        id = gmail.created_id(answer)
    receiver_names = ", ".join(receiver.address for receiver in mail_draft.to)
    return text_outcome(
        {"id": id, "to": [receiver.address for receiver in mail_draft.to]},
        f"sent a mail to {receiver_names}",
    )


def _mail_path(id: str) -> str:
    return f"/users/me/messages/{quote_part(id)}"


def _missing_mail(id: str) -> MissingWords:
    return MissingWords(f"There is no mail {show_id(id)}.", IDS)
