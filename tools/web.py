"""The web: search it, read a page, make a request.

What does the work is imported by the tool that is called: the web client takes 0.1 s.
"""

from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from andy_cli.toolbox.runtime_context import granted_path
from andy_cli.toolbox.tool import Outcome, ResourceAccess, ToolError, parameter, tool
from andy_cli.toolbox.web import api_request, engines

Url = Annotated[
    str,
    parameter(
        "address on the web", aliases=["link", "address", "uri", "href", "endpoint"], min_length=1
    ),
]
Query = Annotated[
    str,
    parameter(
        "what to search for",
        aliases=["q", "search", "keywords", "text", "search_query"],
        min_length=1,
        max_length=2000,
    ),
]
MostTokens = Annotated[
    int,
    parameter("tokens of results at most", aliases=["tokens", "limit"], ge=100, le=20_000),
]
Offset = Annotated[
    int,
    parameter("character of a long page to go on from", aliases=["start", "from"], ge=0),
]
Length = Annotated[
    int,
    parameter("characters at most", aliases=["limit", "max_chars"], ge=100, le=100_000),
]
Method = Annotated[str, parameter("method, such as GET or POST", aliases=["verb", "http_method"])]
Headers = Annotated[dict[str, str] | None, parameter("headers by name", aliases=["header"])]
Body = Annotated[
    str | dict[str, Any] | list[Any] | None,
    parameter("what to send, text or JSON", aliases=["data", "payload", "content", "json"]),
]
KeptAnswer = Annotated[
    str,
    parameter(
        "file to keep the answer in",
        aliases=["file", "output", "destination", "save_as"],
        is_path=True,
    ),
]


@tool(
    effect="network",
    title="web search",
    aliases=(
        "google_search",
        "internet_search",
        "duckduckgo_search",
    ),
    examples=(
        "look this up on the internet",
        "what is in the news about it?",
        "search online for it",
    ),
    action="search the web for {query}",
    find_access=lambda arguments: api_request.find_search_access(str(arguments.get("query") or "")),
    unavailable_reason=engines.missing_engine,
)
async def web_search(query: Query, maxTokens: MostTokens = 2000) -> Outcome:
    """Search the web: titles, addresses and snippets."""
    from andy_cli.toolbox.web.searching import search_web

    found = await search_web(query, maxTokens)
    if not found:
        return Outcome("Nothing was found. Try other words.", "found nothing on the web")
    return Outcome(found, f"found {len(found)} page{'s' * (len(found) != 1)} on the web")


@tool(
    effect="network",
    title="web page reader",
    aliases=(
        "web_fetch",
        "fetch_url",
        "fetch_webpage",
        "read_url",
        "browse",
    ),
    examples=(
        "read the web address to me",
        "what is on this web page?",
        "show me the web address",
    ),
    action="read {url|a web page}",
    find_access=lambda arguments: api_request.find_page_access(str(arguments.get("url") or "")),
)
async def fetch_page(url: Url, offset: Offset = 0, maxLength: Length = 20_000) -> Outcome:
    """Read a web page or PDF by its address."""
    from andy_cli.toolbox.web.reading import read_window

    text, host = await read_window(api_request.complete_address(url), offset, maxLength)
    return Outcome(text, f"read a page of {host}")


def _find_access(arguments: Mapping[str, object]) -> ResourceAccess:
    return api_request.find_request_access(
        api_request.read_request(arguments), str(arguments.get("path") or "")
    )


@tool(
    effect="act",
    title="web request",
    action="send a {method|GET} request to {url|an address} into {path}",
    find_access=_find_access,
)
async def api_call(
    url: Url,
    method: Method = "GET",
    headers: Headers = None,
    body: Body = None,
    path: KeptAnswer = "",
) -> Outcome:
    """Make an HTTP request; gives status, headers and body as they come."""
    from andy_cli.toolbox.web.api_calls import call_address, call_into_file
    from andy_cli.toolbox.web.client import WebRequest
    from andy_cli.toolbox.web.reading import status_of
    from andy_cli.toolbox.web.redirect_policy import show_url

    asked = api_request.read_request(
        {"url": url, "method": method, "headers": headers, "body": body}
    )
    request = WebRequest(asked.url, asked.method, asked.headers, asked.body.encode())
    requested = f"requested {show_url(asked.url)} by {asked.method}"
    written = None
    if path:
        answer, status, written = await call_into_file(request, granted_path(path, "write"))
    else:
        answer, status = await call_address(request)
    if status >= HTTPStatus.BAD_REQUEST and asked.method not in api_request.SAFE:
        # What was to be done was not: it must not pass for a deed.
        raise ToolError(f"The server answered {status_of(status)}.", f"\n{answer}")
    summary = f"{requested}: {status_of(status)}"
    if written is None:
        return Outcome(answer, summary)
    return Outcome(answer, f"{summary}, {written.summary}", display=written.display)
