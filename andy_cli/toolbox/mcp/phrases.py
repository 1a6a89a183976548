"""Phrases for what a tool of a server does, as our own tools have them: from its name, verb first.

search_memory     search memory for {query}     searched memory
create_issue      create issue                  created issue
weather           use the weather               used the weather
wx                use the forecast (met.wx)     used the forecast (met)
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from andy_cli.guard.terminal_sanitizer import one_line
from andy_cli.messages import Schema
from andy_cli.toolbox.tool import words_of_name

MAX_TITLE_LENGTH = 60
PLAIN_TITLE = re.compile(r"[^\W_](?:[^\W_]|[ .,:'()/&+-])*")
"""A title is used as it is if it is words: no markers, no slots, no name with `_`."""

REGULAR = frozenset(
    """add analyze append apply approve archive ask assign attach call cancel change check clear
    click clone close collect compare complete compute configure connect convert copy count create
    delete deploy describe detect disable download duplicate edit enable execute explain export
    extract fetch fill filter fork generate import insert inspect install invite invoke join launch
    list load lock look mark measure merge modify monitor move navigate open parse pause perform
    play post press preview print publish pull purge push query receive refresh register remove
    rename render reopen replace reply request resolve restart restore resume retrieve review
    revoke rotate save search select share show start store subscribe suggest summarize sync test
    toggle track transcribe transfer transform translate trigger uninstall unlock update upload
    validate verify view visit wait warm watch""".split()
)
PLAIN = {"upsert": "save"}
"""Verbs of programmers, and what others say."""
IRREGULAR = {
    "begin": "began",
    "build": "built",
    "buy": "bought",
    "commit": "committed",
    "cut": "cut",
    "draw": "drew",
    "drop": "dropped",
    "embed": "embedded",
    "find": "found",
    "get": "got",
    "give": "gave",
    "keep": "kept",
    "leave": "left",
    "make": "made",
    "map": "mapped",
    "pay": "paid",
    "plan": "planned",
    "put": "put",
    "read": "read",
    "reset": "reset",
    "run": "ran",
    "scan": "scanned",
    "see": "saw",
    "send": "sent",
    "set": "set",
    "split": "split",
    "stop": "stopped",
    "submit": "submitted",
    "tag": "tagged",
    "take": "took",
    "tell": "told",
    "think": "thought",
    "write": "wrote",
}
"""Past tenses that no rule gives."""

SEEKING = ("find", "look", "query", "search")
SOUGHT = ("query", "q", "search_query", "pattern", "text", "term", "keywords")
"""Parameters of tools that look for something, in which it stands what they look for."""


class Phrases(NamedTuple):
    action: str
    """As `Tool.action`, with slots."""
    did: str


def describe_step(name: str, title: str, schema: Schema, server: str) -> Phrases:
    """Say what the tool does and did; the server stands after it, as `(github)`."""
    written, _, object_words = words_of_name(name).partition(" ")
    verb = PLAIN.get(written, written)
    words = f"{verb} {object_words}".strip()
    past_verb = past_tense(verb)
    if not past_verb:
        # A title is the server's own praise: what a yes is given to has its name beside it.
        called = server if title == words_of_name(name) else f"{server}.{name}"
        return Phrases(f"use the {title} ({called})", f"used the {title} ({server})")
    sought_name = sought_parameter(schema) if verb in SEEKING else ""
    sought_phrase = f" for {{{sought_name}}}" if sought_name else ""
    return Phrases(
        f"{words}{sought_phrase} ({server})", f"{past_verb} {object_words}".strip() + f" ({server})"
    )


def past_tense(verb: str) -> str:
    """Empty for a word that is no known verb."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    if verb not in REGULAR:
        return ""
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


def sought_parameter(schema: Schema) -> str:
    """The parameter that holds what is looked for, if it is a text."""
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return ""
    for name in SOUGHT:
        parameter = properties.get(name)
        if isinstance(parameter, Mapping) and parameter.get("type") == "string":
            return name
    return ""


def plain_title(title: str, name: str) -> str:
    """The title that a server gives, if it is a short plain text, else the words of the name."""
    words = " ".join(one_line(title).split())
    if len(words) <= MAX_TITLE_LENGTH and PLAIN_TITLE.fullmatch(words):
        return words
    return words_of_name(name)
