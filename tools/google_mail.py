"""Gmail: list, read, search, send.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import BeforeValidator, Field

from andy_cli.toolbox.google.arguments import join_texts, split_words
from andy_cli.toolbox.google.lazy import find_access_later, require_scope
from andy_cli.toolbox.tool import Outcome, parameter_aliases, tool

MaxResults = Annotated[
    int,
    Field(
        description="how many at most",
        ge=1,
        le=500,
        json_schema_extra=parameter_aliases("pageSize", "limit", "count", "n", "max"),
    ),
]
LabelIds = Annotated[
    list[str] | None,
    BeforeValidator(split_words),
    Field(
        description="only mails with these labels, comma separated, such as INBOX or UNREAD",
        json_schema_extra=parameter_aliases("labelId", "labels", "label"),
    ),
]
MessageId = Annotated[
    str,
    Field(
        description="id of the mail",
        min_length=1,
        json_schema_extra=parameter_aliases("id", "emailId", "mailId", "msgId"),
    ),
]
To = Annotated[
    str,
    BeforeValidator(join_texts),
    Field(
        description="address of the receiver, several comma separated",
        min_length=1,
        json_schema_extra=parameter_aliases(
            "recipient", "recipients", "receiver", "address", "email"
        ),
    ),
]
Subject = Annotated[str, Field(description="subject", json_schema_extra=parameter_aliases("title"))]
Body = Annotated[
    str,
    Field(
        description="text of the mail",
        json_schema_extra=parameter_aliases("content", "text", "message", "data"),
    ),
]
Query = Annotated[
    str,
    Field(
        description="words, or Gmail's own search such as from:ada is:unread",
        min_length=1,
        json_schema_extra=parameter_aliases("q", "search", "searchQuery", "keywords"),
    ),
]
Offset = Annotated[
    int,
    Field(
        description="where in a long text to go on",
        ge=0,
        json_schema_extra=parameter_aliases("start"),
    ),
]

READS = require_scope("gmail.readonly")
SENDS = require_scope("gmail.send")


@tool(
    effect="network",
    title="list of mails",
    action="list your mails",
    find_access=find_access_later("gmail_list"),
    unavailable_reason=READS,
)
async def gmail_list(maxResults: MaxResults = 10, labelIds: LabelIds = None) -> Outcome:
    """List the newest mails."""
    from andy_cli.toolbox.google import mail

    return await mail.list_mails(maxResults, labelIds or ())


@tool(
    effect="network",
    title="mail reader",
    action="read a mail",
    find_access=find_access_later("gmail_read"),
    unavailable_reason=READS,
)
async def gmail_read(messageId: MessageId, offset: Offset = 0) -> Outcome:
    """Read one mail."""
    from andy_cli.toolbox.google import mail

    return await mail.read_mail(messageId, offset)


@tool(
    effect="act",
    title="mail delivery",
    action="send a mail to {to}",
    find_access=find_access_later("gmail_send"),
    unavailable_reason=SENDS,
    examples=(
        "write an email to my friend",
        "mail it to them",
        "send a message to somebody",
    ),
)
async def gmail_send(to: To, subject: Subject, body: Body) -> Outcome:
    """Send a mail."""
    from andy_cli.toolbox.google import mail
    from andy_cli.toolbox.google.contents.mail_draft import draft_mail

    return await mail.send_mail(draft_mail(to, subject, body))


@tool(
    effect="network",
    title="mail search",
    action="search your mails for {query}",
    find_access=find_access_later("gmail_search"),
    unavailable_reason=READS,
    examples=(
        "did I get an email about it?",
        "show me the emails from them",
    ),
)
async def gmail_search(query: Query, maxResults: MaxResults = 10) -> Outcome:
    """Search the mails."""
    from andy_cli.toolbox.google import mail

    return await mail.list_mails(maxResults, query=query)
