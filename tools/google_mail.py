"""Gmail: list, read, search, send.

What does the work is imported by the tools themselves: it takes 60 ms, and few starts need it.
"""

from typing import Annotated

from pydantic import BeforeValidator

from andy_cli.toolbox.google.lazy import Offset, google_tool, join_texts, split_words
from andy_cli.toolbox.tool import Outcome, parameter

MaxResults = Annotated[
    int,
    parameter("how many at most", aliases=["pageSize", "limit", "count", "n", "max"], ge=1, le=500),
]
LabelIds = Annotated[
    list[str] | None,
    BeforeValidator(split_words),
    parameter(
        "only mails with these labels, comma separated, such as INBOX or UNREAD",
        aliases=["labelId", "labels", "label"],
    ),
]
MessageId = Annotated[
    str,
    parameter("id of the mail", aliases=["id", "emailId", "mailId", "msgId"], min_length=1),
]
To = Annotated[
    str,
    BeforeValidator(join_texts),
    parameter(
        "address of the receiver, several comma separated",
        aliases=["recipient", "recipients", "receiver", "address", "email"],
        min_length=1,
    ),
]
Subject = Annotated[str, parameter("subject", aliases=["title"])]
Body = Annotated[str, parameter("text of the mail", aliases=["content", "text", "message", "data"])]
Query = Annotated[
    str,
    parameter(
        "words, or Gmail's own search such as from:ada is:unread",
        aliases=["q", "search", "searchQuery", "keywords"],
        min_length=1,
    ),
]

READS = "gmail.readonly"
SENDS = "gmail.send"


@google_tool(
    READS,
    effect="network",
    title="list of mails",
    action="list your mails",
)
async def gmail_list(maxResults: MaxResults = 10, labelIds: LabelIds = None) -> Outcome:
    """List the newest mails."""
    from andy_cli.toolbox.google import mail

    return await mail.list_mails(maxResults, labelIds or ())


@google_tool(
    READS,
    effect="network",
    title="mail reader",
    action="read a mail",
)
async def gmail_read(messageId: MessageId, offset: Offset = 0) -> Outcome:
    """Read one mail."""
    from andy_cli.toolbox.google import mail

    return await mail.read_mail(messageId, offset)


@google_tool(
    SENDS,
    effect="act",
    title="mail delivery",
    action="send a mail to {to}",
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


@google_tool(
    READS,
    effect="network",
    title="mail search",
    action="search your mails for {query}",
    examples=(
        "did I get an email about it?",
        "show me the emails from them",
    ),
)
async def gmail_search(query: Query, maxResults: MaxResults = 10) -> Outcome:
    """Search the mails."""
    from andy_cli.toolbox.google import mail

    return await mail.list_mails(maxResults, query=query)
