"""Pieces of what a user said that can be the value of a parameter: what kind of value is wanted,
and which words of the request are of that kind. Pure.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from andy_cli.agent import cues
from andy_cli.agent.cues import CAPITAL, LEAD, MARK
from andy_cli.messages import Schema
from andy_cli.models.inside.dialogue import clauses
from andy_cli.models.inside.words import IDLE, Found, mistyped, stem, things, verbs, words

ROLES = (
    # (role, words of the parameter's name, words of its description), the first that fits
    ("id", r"\w*ids?|\w+_id", r"id|identifier"),
    (
        "url",
        r"url|uri|link|href",
        r"url|link|web address|address (?:of the|of a|to) (?:page|open|site|fetch)",
    ),
    ("subject", r"subject", r"subject(?: line)?"),
    ("command", r"command|cmd", r"(?:shell )?command(?: line)?"),
    (
        "query",
        r"query|q|search|keywords?|term|pattern|question",
        r"(?:what|words?|text|term) to (?:search|find|look)\b.*",
    ),
    (
        "body",
        r"body|content|contents|text|message|utterance|note|fact|comment|description",
        r"(?:text|words?|message) (?:of|to)\b.*|.*\bmessage",
    ),
    (
        "mail",
        r"to|cc|bcc|e?mail|recipients?|receiver",
        r"e-?mail address|address of the .*(?:receiver|recipient).*",
    ),
    ("phone", r"phone|number|tel|mobile", r"phone.*"),
    ("folder", r"folder|directory|dir|root|cwd|workspace", r".*\b(?:folder|directory)\b.*"),
    ("titled", r"song|track|title", rf"(?:which |what )?{cues.WORK}\b.*|.*\bfiles?\b.*\btitle\b.*"),
    (
        "file",
        r"file|filename|file_name|path|source|destination|src|dest",
        r".*\bfiles?\b.*",
    ),
    ("language", r"language|lang|locale|target_language", r".*\blanguage\b.*"),
    ("sum", r"expression|formula|equation", r".*\bexpression\b.*"),
    (
        "place",
        r"city|place|location|timezone|time_zone|tz|country|town|origin|destination|address|from|region|room",
        r".*\b(?:city|town|place|location|country|time ?zone|room|starting point)\b.*",
    ),
    ("day", r"date|day|when|start|end|due|time", r".*\b(?:day|date)\b.*"),
    (
        "label",
        r"label|title|name|tag|topic|summary|reason",
        r".*\b(?:name|title|label)\b.*|what .* for",
    ),
)


def role(name: str, schema: Schema) -> str:
    """What kind of text a parameter wants; `text` when nothing says so."""
    form = {"uri": "url", "url": "url", "email": "mail", "date": "day", "path": ""}.get(
        str(schema.get("format") or ""), ""
    )
    if form:
        return form
    described = " ".join(words(str(schema.get("description") or "")))
    plain = "_".join(words(name))
    for found, _, pattern in ROLES:
        if described and re.fullmatch(pattern, described):
            return found
    for found, pattern, _ in ROLES:
        if re.fullmatch(pattern, plain) or re.fullmatch(pattern, name.lower()):
            return found
    return "text"


def tidy(text: str) -> str:
    """Without the blanks, the courtesies and the full stop at the end."""
    return cues.TAIL.sub("", text.strip()).strip(" ,;:\t\n")


def cued(patterns: Sequence[str], text: str) -> Iterator[str]:
    for pattern in patterns:
        for match in re.finditer(pattern, text, re.I | re.S):
            if span := tidy(match[1]):
                yield span


PLAIN_ROLES = frozenset({"query", "command", "url", "mail"})
"""Found by their form, never by the parameter's own word before them."""


def spans(kind: str, name: str, schema: Schema, text: str) -> list[str]:
    """Candidates of that kind in the text, the best first, none twice."""
    found = [] if kind in PLAIN_ROLES else [*labelled(name, text)]
    found += FINDERS.get(kind, generic)(text)
    return list(dict.fromkeys(filter(None, found)))


def labelled(name: str, text: str) -> Iterator[str]:
    """What follows the parameter's own word: `with the subject Lunch`, `branch dev`."""
    own = [word for word in words(name) if word not in {"path", "file", "to", "text", "name"}]
    for word in own:
        pattern = rf"\b{re.escape(word)}\b(?:\s+(?:is|of|to|called|named|as))?\s*[:=]?\s+(.+)"
        for match in re.finditer(pattern, text, re.I):
            named = things(match[1])[:1]
            if named and named[0].start == 0:
                yield named[0].text
            elif not re.match(r"(?:in|on|from|and|with|for|at|that|about|by)\b|\W", match[1], re.I):
                ends = r"\s+(?:and|with|in|on|saying|that|to|from)\b|[,;:]"
                yield tidy(re.split(ends, match[1])[0])


def of_kind(kind: str, text: str) -> list[str]:
    return [each.text for each in things(text) if each.kind == kind]


def urls(text: str) -> list[str]:
    host = r"\b(?:[\w-]+\.)+(?:com|org|net|io|dev|edu|gov|de|uk|eu|fr|nl)\b(?:/\S*)?"
    return of_kind("url", text) or re.findall(host, text)


def mails(text: str) -> list[str]:
    return of_kind("mail", text)


def phones(text: str) -> list[str]:
    return of_kind("phone", text)


def files(text: str) -> list[str]:
    found = [each for each in things(text) if each.kind in {"file", "quote", "folder"}]
    ended = [each.text for each in found if re.search(r"\.\w{1,5}$", each.text)]
    filed = [each.text for each in found if each.kind == "file" or each.text in ended]
    shouted = re.findall(r"\b(?:[A-Z]{4,}|Makefile|Dockerfile)\b", text)
    loud = sum(map(str.isupper, text)) > sum(map(str.islower, text))
    shouted = [] if loud and " " in text else shouted
    named = re.findall(r"\bfile (?:called |named )?([\w.-]+)", text)
    named = [each for each in named if stem(each) not in {"in", "with", "to", "and", "that", "is"}]
    there = [each for each in of_kind("folder", text) if each not in located(text)]
    return [*filed, *shouted, *there, *named, *of_kind("quote", text), *located(text)]


def located(text: str) -> list[str]:
    """Folders that say where something is: `from ~/Music`. They are hardly what is wanted."""
    found = (each for each in things(text) if each.kind == "folder")
    return [each.text for each in found if cues.WHERE.search(text[: each.start])]


def titled(text: str) -> list[str]:
    """Files, quotations, or the bare words between the verb and the place: `play blue moon`."""
    quoted, files_ = of_kind("quote", text), of_kind("file", text)
    bare = [each for each in titles(text) if each not in quoted]
    longer = [each for each in bare for file in files_ if each.endswith(file)]
    return [*longer, *quoted, *files_, *([] if quoted or files_ else bare)]


def titles(text: str) -> list[str]:
    """For each part of the request what is left of it without verb, place and courtesies."""
    text = cues.PLACED.sub(" ", blanked(text, _folders(text)))
    return list(filter(None, map(_title, clauses(text))))


def _title(part: str) -> str:
    """Empty when no name is left."""
    part = tidy(cues.TITLE_END.sub("", LEAD.sub("", part)))
    first, _, rest = part.partition(" ")
    if verbs(first) or mistyped(first):
        part = rest.strip()
    part = cues.TITLE_LEAD.sub("", part) or part
    by = cues.BY.fullmatch(part)
    part = (by[1] if by else part).strip(" ,;:.!?")
    telling = [word for word in words(part) if word not in IDLE and word not in cues.NO_TITLE]
    return part if telling and MARK not in part else ""


def _folders(text: str) -> list[Found]:
    return [each for each in things(text) if each.kind == "folder"]


def folders(text: str) -> list[str]:
    named = [each for each in things(text) if each.kind in {"folder", "file", "quote"}]
    rest = blanked(text, [each for each in named if each.kind != "folder"])
    bare = [
        match[1]
        for pattern in cues.BARE_FOLDER
        for match in re.finditer(pattern, rest, re.I)
        if stem(match[1]) not in cues.NO_FOLDER and not match[1].isdigit()
    ]
    parents = [each.text.rpartition("/")[0] for each in named if each.kind == "file"]
    return [*of_kind("folder", text), *bare, *filter(None, parents)]


def commands(text: str) -> list[str]:
    bare = LEAD.sub("", text).strip()
    said = (tidy(cues.COMMAND_END.sub("", each)) for each in cued(cues.COMMAND, bare))
    return [*of_kind("quote", text), *said, tidy(bare)]


def queries(text: str) -> list[str]:
    bare = LEAD.sub("", text)
    said = (tidy(cues.QUERY_END.sub("", each)) for each in cued(cues.QUERY, bare))
    return [*of_kind("quote", text), *said, tidy(bare)]


def bodies(text: str) -> list[str]:
    rest = blanked(text, [each for each in things(text) if each.kind in {"mail", "phone"}])
    cut = (cues.BODY_END.sub("", each) for each in cued(cues.BODY, LEAD.sub("", rest)))
    return [*of_kind("quote", text), *(tidy(each) for each in cut if MARK not in each)]


def places(text: str) -> list[str]:
    capital = [match[1] for match in cues.PLACE.finditer(text)]
    loose = [each for each in cued(cues.LOOSE_PLACE, text) if not re.search(r"\d", each)]
    loose += re.findall(r"\b(?:the|my)\s+(\w+)(?=\s+\w)", text)
    alone = [match[0] for match in re.finditer(CAPITAL, text[1:]) if len(match[0]) > 2]
    return [*capital, *(each.removeprefix("the ") for each in loose), *alone]


def days(text: str) -> list[str]:
    return [match[0].removeprefix("on ") for match in cues.DAY.finditer(text)]


def languages(text: str) -> list[str]:
    rest = blanked(text, [each for each in things(text) if each.kind == "quote"])
    return [match[0] for match in cues.LANGUAGE.finditer(rest)]


def sums(text: str) -> list[str]:
    return [*map(tidy, of_kind("sum", text)), *cued(cues.SUM, text)]


def labels(text: str) -> list[str]:
    return [*of_kind("quote", text), *cued(cues.LABEL, text)]


def subjects(text: str) -> list[str]:
    ends = r"\s+(?:and|saying|with)\b|[,:]"
    return [re.split(ends, each)[0] for each in cued(cues.SUBJECT, text)]


def generic(text: str) -> list[str]:
    """The request without the verb it starts with and the place it ends with."""
    return [*of_kind("quote", text), *cued(cues.ANYTHING, LEAD.sub("", text))]


Finder = Callable[[str], list[str]]
FINDERS: dict[str, Finder] = {
    "url": urls,
    "mail": mails,
    "phone": phones,
    "file": files,
    "titled": titled,
    "folder": folders,
    "command": commands,
    "query": queries,
    "body": bodies,
    "place": places,
    "day": days,
    "language": languages,
    "sum": sums,
    "label": labels,
    "subject": subjects,
}


def blanked(text: str, found: Sequence[Found]) -> str:
    """The text with a mark where these things stood."""
    for each in sorted(found, key=lambda each: -each.start):
        text = text[: each.start] + MARK + text[each.end :]
    return text
