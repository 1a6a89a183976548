"""Pieces of what a user said that can be the value of a parameter: what kind of value is wanted,
and which words of the request are of that kind. Pure.
"""

import re
from collections.abc import Iterator, Sequence

from andy_cli.messages import Schema
from andy_cli.models.words import Found, stem, things, words

NUMBER_WORDS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen twenty"
).split()
TENS = {
    word: 10 * at
    for at, word in enumerate("thirty forty fifty sixty seventy eighty ninety".split(), 3)
}
ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth".split()

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
    (
        "file",
        r"file|filename|file_name|path|source|destination|src|dest|track|song",
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


MARK = "\u00b6"
LANGUAGES = (
    "Arabic|Bengali|Bulgarian|Catalan|Chinese|Croatian|Czech|Danish|Dutch|English|Estonian|"
    "Finnish|French|German|Greek|Hebrew|Hindi|Hungarian|Icelandic|Indonesian|Irish|Italian|"
    "Japanese|Korean|Latin|Latvian|Lithuanian|Mandarin|Norwegian|Persian|Polish|Portuguese|"
    "Romanian|Russian|Serbian|Slovak|Spanish|Swahili|Swedish|Thai|Turkish|Ukrainian|Urdu|"
    "Vietnamese|Welsh"
)

# Spans for each role, the most plausible first.

LEAD = re.compile(
    r"^\W*(?:(?:please|hey|ok|okay|andy|now|and|then|also)\b[, ]*)*"
    r"(?:(?:can|could|would|will) you\s+|i(?:'d| would) like (?:you )?to\s+|i want (?:you )?to\s+"
    r"|let'?s\s+|i need (?:you )?to\s+|help me\s+)?(?:please\s+)?",
    re.I,
)
TAIL = re.compile(r"[\s,]*(?:\bplease|\bfor me|\bnow|\bthanks?|\bthank you)?[\s.!?]*$", re.I)
SCOPE = (
    r"(?:the |my |your |all )*(?:web|internet|net|google|online|docs?|documents?|files?|notes?|papers?|"
    r"e-?mails?|mails?|inbox|mailbox|messages?|memory|calendar|wikipedia|long-term memory|drive|contacts?|websites?|sites?|pages?)"
)
QUERY_CUES = (
    rf"\b(?:search|look|hunt|check|browse|query|scan|go)\b(?: (?:in|on|through|inside|at|over))?(?: {SCOPE})? (?:for|about|on)\s+(.+)",
    r"\b(?:search|results|information|info|something|anything|pages|articles|websites|sites) (?:for|about|on)\s+(.+)",
    r"\bgoogle(?: for)?\s+(.+)",
    r"\blook up\s+(.+)",
    rf"\b{SCOPE} (?:about|from|on|by|regarding|concerning|mentioning|containing|with|that mention|which mention)\s+(.+)",
    r"\b(?:mentions?|mentioning|contains?|containing|about|regarding|concerning)\s+(.+)",
    r"\bfrom\s+(.+)",
    r"\b(?:find|search|seek|locate)\s+(?:out\s+)?(?:me\s+)?(.+)",
    r"\bfor\s+(.+)",
)
QUERY_END = re.compile(
    rf"\s+(?:(?:in|on|from|at|through|within|using|via|over|across|inside) {SCOPE}|online)\b.*$",
    re.I,
)
BODY_CUES = (
    r":\s+(.+)",
    r"\b(?:saying|says|reading|telling (?:him|her|them)|with the (?:text|words?|content|message|body))(?: that\b)?:?\s+(.+)",
    r"\b(?:that|to say)\s+(.+)",
    r"\b(?:say|speak|announce|pronounce|read|utter)(?: (?:the )?(?:words?|text|sentence))?(?: out)?(?: aloud)?\s+(.+)",
    r"\b(?:message|text|words?|note|body|content|comment)\s+(.+)",
    r"\b(?:as|with)\s+(.+)",
    r"\b(?:translate|remember|write|note|save|store|put|add|append|tell)\s+(?:down\s+)?(.+)",
)
BODY_END = re.compile(
    rf"\s+(?:(?:out )?(?:loud|aloud)|(?:in)?to (?:the )?(?:file )?{MARK}.*|in {MARK}"
    rf"|to (?:my|the|your) .*|(?:in|into|to) (?:{LANGUAGES}))$",
    re.I,
)
CAPITAL = r"(?:[A-Z][\w'-]*(?:[ -](?:[A-Z][\w'-]*|de|la|of|am|do)(?=[\s,.?!]|$))*)"


def tidy(text: str) -> str:
    """Without the blanks, the courtesies and the full stop at the end."""
    return TAIL.sub("", text.strip()).strip(" ,;:\t\n")


def cued(cues: Sequence[str], text: str) -> Iterator[str]:
    for cue in cues:
        for match in re.finditer(cue, text, re.I | re.S):
            if span := tidy(match[1]):
                yield span


def spans(kind: str, name: str, schema: Schema, text: str) -> list[str]:
    """Candidates of that kind in the text, the best first, none twice."""
    found = (
        [*labelled(name, schema, text)] if kind not in {"query", "command", "url", "mail"} else []
    )
    found += FINDERS.get(kind, generic)(text)
    return list(dict.fromkeys(filter(None, found)))


def labelled(name: str, schema: Schema, text: str) -> Iterator[str]:
    """What follows the parameter's own word: `with the subject Lunch`, `branch dev`."""
    own = [word for word in words(name) if word not in {"path", "file", "to", "text", "name"}]
    for word in own:
        pattern = rf"\b{re.escape(word)}\b(?:\s+(?:is|of|to|called|named|as))?\s*[:=]?\s+(.+)"
        for match in re.finditer(pattern, text, re.I):
            if quoted := things(match[1])[:1]:
                if quoted[0].start == 0:
                    yield quoted[0].text
                    continue
            if re.match(r"(?:in|on|from|and|with|for|at|that|about|by)\b|\W", match[1], re.I):
                continue
            yield tidy(re.split(r"\s+(?:and|with|in|on|saying|that|to|from)\b|[,;:]", match[1])[0])


def of_kind(*kinds: str) -> "object":
    return lambda text: [each.text for each in things(text) if each.kind in kinds]


def urls(text: str) -> list[str]:
    named = [each.text for each in things(text) if each.kind == "url"]
    return named or re.findall(
        r"\b(?:[\w-]+\.)+(?:com|org|net|io|dev|edu|gov|de|uk|eu|fr|nl)\b(?:/\S*)?", text
    )


def mails(text: str) -> list[str]:
    return [each.text for each in things(text) if each.kind == "mail"]


def phones(text: str) -> list[str]:
    return [each.text for each in things(text) if each.kind == "phone"]


def files(text: str) -> list[str]:
    found = [each for each in things(text) if each.kind in {"file", "quote", "folder"}]
    filed = [
        each.text for each in found if each.kind == "file" or re.search(r"\.\w{1,5}$", each.text)
    ]
    quoted = [each.text for each in found if each.kind == "quote"]
    pathed = [each.text for each in found if each.kind == "folder"]
    shouted = re.findall(r"\b(?:[A-Z]{4,}|Makefile|Dockerfile|\.\w+rc)\b", text)
    named = re.findall(r"\bfile (?:called |named )?([\w.-]+)", text)
    named = [each for each in named if stem(each) not in {"in", "with", "to", "and", "that", "is"}]
    return [*filed, *shouted, *pathed, *named, *quoted]


BARE_FOLDER = (
    r"\b(?:folder|directory|dir)\s+(?:called\s+|named\s+)?([\w.-]+(?:/[\w.-]+)*)",
    r"\b(?:the\s+)?([\w.-]+)\s+(?:folder|directory|dir)\b",
    r"\b(?:tree of|contents? of|inside|ls|in|of|under|from|list|show)\s+([\w.-]+)(?=\s+(?:\w+\s+levels?|and|to|recursively|with|at)\b|\s*[?.!,]*$)",
)
NO_FOLDER = frozenset(
    """this that the my a an current here it there me your which what music song file folder
    directory working same whole all home level deep loud""".split()
)


def folders(text: str) -> list[str]:
    named = [each for each in things(text) if each.kind in {"folder", "file", "quote"}]
    pathed = [each.text for each in named if each.kind == "folder"]
    rest = blanked(text, [each for each in named if each.kind != "folder"])
    bare = [
        match[1]
        for pattern in BARE_FOLDER
        for match in re.finditer(pattern, rest, re.I)
        if stem(match[1]) not in NO_FOLDER and not match[1].isdigit()
    ]
    parents = [each.text.rpartition("/")[0] for each in named if each.kind == "file"]
    return [*pathed, *bare, *filter(None, parents)]


def commands(text: str) -> list[str]:
    quoted = [each.text for each in things(text) if each.kind == "quote"]
    bare = LEAD.sub("", text).strip()
    cues = (
        r"\b(?:run|execute|exec|launch|invoke|start)\s+(?:the\s+)?(?:shell\s+)?(?:command\s+|script\s+)?:?\s*(.+)",
        r"\bcommand:?\s+(.+)",
    )
    ends = re.compile(
        r"\s+(?:in|on|from|using|inside|via) (?:the|a|my) (?:shell|terminal|console|bash|command line|prompt)\b.*$",
        re.I,
    )
    return [*quoted, *(tidy(ends.sub("", each)) for each in cued(cues, bare)), tidy(bare)]


def queries(text: str) -> list[str]:
    quoted = [each.text for each in things(text) if each.kind == "quote"]
    bare = LEAD.sub("", text)
    return [
        *quoted,
        *(tidy(QUERY_END.sub("", each)) for each in cued(QUERY_CUES, bare)),
        tidy(bare),
    ]


def bodies(text: str) -> list[str]:
    found = things(text)
    quoted = [each.text for each in found if each.kind == "quote"]
    rest = blanked(text, [each for each in found if each.kind in {"mail", "phone"}])
    cut = (BODY_END.sub("", each) for each in cued(BODY_CUES, LEAD.sub("", rest)))
    return [*quoted, *(tidy(each) for each in cut if MARK not in each)]


def places(text: str) -> list[str]:
    cues = (
        rf"\b(?:in|for|at|to|of|near|around|into)\s+(?:the\s+)?({CAPITAL})",
        r"\b(?:in|for|to|from|at)\s+((?:the\s+)?\w+(?:\s\w+)?)(?=\s+(?:to|by|on|at|today|tomorrow|tonight|now|right now)\b|\s*[?.!,]|\s*$)",
    )
    capital = [match[1] for match in re.finditer(cues[0], text)]
    loose = [tidy(match[1]) for match in re.finditer(cues[1], text, re.I)]
    loose = [each for each in loose if not re.search(r"\d", each)]
    loose += re.findall(r"\b(?:the|my)\s+(\w+)(?=\s+\w)", text)
    alone = [match[0] for match in re.finditer(CAPITAL, text[1:]) if len(match[0]) > 2]
    return [*capital, *(each.removeprefix("the ") for each in loose), *alone]


DAY = re.compile(
    r"\b(?:today|tomorrow|tonight|yesterday|(?:this|next|last) (?:week|month|weekend|year|\w+day)"
    r"|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d\d-\d\d)\b",
    re.I,
)


def days(text: str) -> list[str]:
    return [match[0].removeprefix("on ") for match in DAY.finditer(text)]


LANGUAGE = re.compile(rf"\b(?:{LANGUAGES})\b", re.I)


def languages(text: str) -> list[str]:
    rest = blanked(text, [each for each in things(text) if each.kind == "quote"])
    return [match[0] for match in LANGUAGE.finditer(rest)]


def sums(text: str) -> list[str]:
    found = [tidy(each.text) for each in things(text) if each.kind == "sum"]
    cues = (r"\b(?:calculate|compute|evaluate|solve|what(?:'s| is)|how much is)\s+(.+)",)
    return [*found, *cued(cues, text)]


def labels(text: str) -> list[str]:
    cues = (
        r"\b(?:called|named|titled|labelled|labeled|entitled|title|label)\s+(.+)",
        r"\bremind me (?:in .+? |at .+? )?to\s+(.+)",
        r"\bfor (?:the |my )?([a-z]\w*)$",
    )
    quoted = [each.text for each in things(text) if each.kind == "quote"]
    return [*quoted, *cued(cues, text)]


def subjects(text: str) -> list[str]:
    cues = (r"\b(?:subject|titled|entitled)(?: line)?:?\s+(.+)",)
    return [re.split(r"\s+(?:and|saying|with)\b|[,:]", each)[0] for each in cued(cues, text)]


def generic(text: str) -> list[str]:
    """The request without the verb it starts with and the place it ends with."""
    quoted = [each.text for each in things(text) if each.kind == "quote"]
    bare = LEAD.sub("", text)
    cues = (
        r"\bto (?:buy|get|purchase|order)\s+(.+?)(?:\s+(?:at|from|in) .*)?$",
        r"^\w+\s+(?:a |an |the |some |my )?(.+?)\s+(?:to|on|onto|in|into|from|at|for|with)\s+.+$",
        r"^\w+\s+(?:a |an |the |some |my )?(.+)$",
    )
    return [*quoted, *cued(cues, bare)]


FINDERS = {
    "url": urls,
    "mail": mails,
    "phone": phones,
    "file": files,
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
