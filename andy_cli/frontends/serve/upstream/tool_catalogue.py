"""Tool sets of clients that are too large for their model's window (agent/prompt/shortlist.py):
the model looks up what it is only told by name, in a dialogue that no client sees.
"""

import asyncio
import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from andy_cli.agent.prompt.shortlist import (
    DESCRIBE,
    TOOLS_SHARE,
    Shortlist,
    look_up_tools,
    make_describer,
    measure_tool,
    rank_tools,
    shorten_tools,
    tell_others,
)
from andy_cli.compiler.dialect import Tools
from andy_cli.frontends.serve.wires.chat_request import ChatRequest

SMALL_TOOLS_TOKENS = 1000
"""Tokens of tools that fit into any window: no server is asked how large its own is."""


@dataclass(slots=True)
class ToolCatalogue:
    """The tools of a client's conversation, of which its model is shown some."""

    tools: Tools
    room: int
    """Tokens that the tools may take of the model's window."""
    ranked: list[str]
    """Names of the tools, the likeliest first."""
    first: set[str] = field(default_factory=set)
    """Tools that were called or looked up, or have to be called."""

    def shorten_request(self, chat_request: ChatRequest) -> ChatRequest:
        """Leave the likeliest tools in the request, beside the one that looks others up."""
        shown_names = self._choose_tools().whole
        tools = {name: tool for name, tool in self.tools.items() if name in shown_names}
        return chat_request._replace(tools={**tools, DESCRIBE: DESCRIBER})

    def tell_others(self) -> str:
        """Write what the model is told of the tools that it is not shown."""
        return tell_others(self._choose_tools().named)

    async def look_up(self, wanted_words: Iterable[str]) -> list[str]:
        """Show these tools from now on, by name or by what they do; returns their names."""
        others = {name: tool for name, tool in self.tools.items() if name not in self.first}
        found_names: list[str] = []
        async with ONE_AT_A_TIME:
            for words in wanted_words:
                found_names += await asyncio.to_thread(look_up_tools, words, others)
        self.first.update(found_names)
        return list(dict.fromkeys(found_names))

    def _choose_tools(self) -> Shortlist:
        tools = {**self.tools, DESCRIBE: DESCRIBER}
        return shorten_tools(tools, "", self.room, self.first, lambda _request, _tools: self.ranked)


DESCRIBER = make_describer(dict, list).function
ONE_AT_A_TIME = asyncio.Lock()
"""Meanings are compared beside the event loop, for the tools of one request after the other's."""


def measure_tools(tools: Tools) -> int:
    """About how many tokens their schemas take."""
    return sum(measure_tool(tool) for tool in tools.values())


async def catalogue_tools(chat_request: ChatRequest, window: int) -> ToolCatalogue | None:
    """Make the catalogue of a request whose tools take too much of a window of so many tokens.

    None where they fit, or where nothing is known of the window (0).
    """
    token_limit, tools = int(window * TOOLS_SHARE), chat_request.tools
    if not token_limit or DESCRIBE in tools or measure_tools(tools) <= token_limit:
        return None
    words = [message.content for message in chat_request.history if message.role == "user"]
    async with ONE_AT_A_TIME:
        ranked = await asyncio.to_thread(rank_tools, "\n".join(words), tools)
    instructions = [message.content for message in chat_request.history if message.role == "system"]
    named = set(re.findall(r"[\w-]+", "\n".join(instructions)))
    # What the client's own instructions speak of comes first: its model is to work with that.
    ranked.sort(key=lambda name: name not in named)
    called = {call.name for message in chat_request.history for call in message.calls}
    return ToolCatalogue(tools, token_limit, ranked, called | {chat_request.choice.name})
