"""Resources of an MCP server, as one tool more of it: so the gate asks as it does for the others.

Offered where a server declares resources and has some, unless a tool of its own has the name.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Protocol, TypeVar

from mcp import Client
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from andy_cli.guard.terminal_sanitizer import spell_out
from andy_cli.toolbox.mcp.results import shorten_result
from andy_cli.toolbox.mcp.servers import ServerTool

READ_RESOURCE = ServerTool(
    "read_resource",
    "Read a resource of this server by its URI. Without one: list its resources, and the forms of "
    "the URIs of others.",
    {"type": "object", "properties": {"uri": {"type": "string", "description": "notes://today"}}},
    only_reads=True,
)
PATIENCE = 3.0
"""Seconds for a server to say whether it has any: its tools wait for that."""
MAX_PAGES = 20
"""Of a list of resources; of one that never ends no more are told."""


class ListedPage(Protocol):
    next_cursor: str | None


Page = TypeVar("Page", bound=ListedPage)


async def has_resources(client: Client) -> bool:
    """Ask a server that declares resources whether it has any; one that cannot say has none."""
    capabilities = client.server_capabilities
    if not (capabilities and capabilities.resources):
        return False
    try:
        async with asyncio.timeout(PATIENCE):
            return bool(await list_resources(client, pages=1))
    except TimeoutError:
        return False


async def list_resources(client: Client, pages: int = MAX_PAGES) -> list[Mapping[str, str]]:
    """The URI or its form, the name and the description of each."""
    found: list[Mapping[str, str]] = []
    for page in await _read_pages(client.list_resources, pages):
        found += [
            _describe("uri", resource.uri, resource.name, resource.description)
            for resource in page.resources
        ]
    for form_page in await _read_pages(client.list_resource_templates, pages):
        found += [
            _describe("uriTemplate", form.uri_template, form.name, form.description)
            for form in form_page.resource_templates
        ]
    return found


async def _read_pages(list_page: Callable[..., Awaitable[Page]], limit: int) -> list[Page]:
    """Read the pages of a list; many a server knows one of the two only."""
    pages: list[Page] = []
    cursor: str | None = None
    try:
        while len(pages) < limit and (cursor or not pages):
            page = await list_page(cursor=cursor, cache_mode="bypass")
            pages.append(page)
            cursor = page.next_cursor
    except (MCPError, ValidationError):
        return pages
    return pages


def _describe(key: str, uri: str, name: str, description: str | None) -> Mapping[str, str]:
    told = {key: uri, "name": name, "description": description or ""}
    return {field: text for field, text in told.items() if text}


async def read_resource(client: Client, uri: str) -> str:
    """The texts of a resource; of what is none its kind and size."""
    answered = await client.read_resource(uri)
    texts = []
    for part in answered.contents:
        text, blob = getattr(part, "text", None), getattr(part, "blob", "")
        kind = spell_out(part.mime_type or "bytes")
        texts.append(
            text if text is not None else f"({kind}, {len(blob) * 3 // 4} bytes, not shown)"
        )
    return shorten_result("\n".join(texts))
