"""How people lead to a value when they ask for something: the patterns of spans.py, as data.

Each cue has one group, the value; what follows it is cut off by the patterns called *_END.
"""

import re

MARK = "\u00b6"
"""Stands where an address, a file or a quotation stood."""

LEAD = re.compile(
    r"^\W*(?:(?:please|hey|ok|okay|andy|now|and|then|also)\b[, ]*)*"
    r"(?:(?:can|could|would|will) you\s+|i(?:'d| would) like (?:you )?to\s+|i want (?:you )?to\s+"
    r"|let'?s\s+|i need (?:you )?to\s+|help me\s+)?(?:please\s+)?",
    re.I,
)
TAIL = re.compile(r"[\s,]*(?:\bplease|\bfor me|\bnow|\bthanks?|\bthank you)?[\s.!?]*$", re.I)

SCOPE = (
    r"(?:the |my |your |all )*(?:web|internet|net|google|online|docs?|documents?|files?|notes?"
    r"|papers?|e-?mails?|mails?|inbox|mailbox|messages?|memory|calendar|wikipedia|long-term memory"
    r"|drive|contacts?|websites?|sites?|pages?)"
)
QUERY = (
    r"\b(?:search|look|hunt|check|browse|query|scan|go)\b(?: (?:in|on|through|inside|at|over))?"
    rf"(?: {SCOPE})? (?:for|about|on)\s+(.+)",
    r"\b(?:search|results|information|info|something|anything|pages|articles|websites|sites)"
    r" (?:for|about|on)\s+(.+)",
    r"\bgoogle(?: for)?\s+(.+)",
    r"\blook up\s+(.+)",
    rf"\b{SCOPE} (?:about|from|on|by|regarding|concerning|mentioning|containing|with|that mention"
    r"|which mention)\s+(.+)",
    r"\b(?:mentions?|mentioning|contains?|containing|about|regarding|concerning)\s+(.+)",
    r"\bfrom\s+(.+)",
    r"\b(?:find|search|seek|locate)\s+(?:out\s+)?(?:me\s+)?(.+)",
    r"\bfor\s+(.+)",
)
QUERY_END = re.compile(
    rf"\s+(?:(?:in|on|from|at|through|within|using|via|over|across|inside) {SCOPE}|online)\b.*$",
    re.I,
)

LANGUAGES = (
    "Arabic|Bengali|Bulgarian|Catalan|Chinese|Croatian|Czech|Danish|Dutch|English|Estonian|"
    "Finnish|French|German|Greek|Hebrew|Hindi|Hungarian|Icelandic|Indonesian|Irish|Italian|"
    "Japanese|Korean|Latin|Latvian|Lithuanian|Mandarin|Norwegian|Persian|Polish|Portuguese|"
    "Romanian|Russian|Serbian|Slovak|Spanish|Swahili|Swedish|Thai|Turkish|Ukrainian|Urdu|"
    "Vietnamese|Welsh"
)
LANGUAGE = re.compile(rf"\b(?:{LANGUAGES})\b", re.I)

BODY = (
    r":\s+(.+)",
    r"\b(?:saying|says|reading|telling (?:him|her|them)"
    r"|with the (?:text|words?|content|message|body))(?: that\b)?:?\s+(.+)",
    r"\b(?:that|to say)\s+(.+)",
    r"\b(?:say|speak|announce|pronounce|read|utter)(?: (?:the )?(?:words?|text|sentence))?"
    r"(?: out)?(?: aloud)?\s+(.+)",
    r"\b(?:message|text|words?|note|body|content|comment)\s+(.+)",
    r"\b(?:as|with)\s+(.+)",
    r"\b(?:translate|remember|write|note|save|store|put|add|append|tell)\s+(?:down\s+)?(.+)",
)
BODY_END = re.compile(
    rf"\s+(?:(?:out )?(?:loud|aloud)|(?:in)?to (?:the )?(?:file )?{MARK}.*|in {MARK}"
    rf"|to (?:my|the|your) .*|(?:in|into|to) (?:{LANGUAGES}))$",
    re.I,
)

COMMAND = (
    r"\b(?:run|execute|exec|launch|invoke|start)\s+(?:the\s+)?(?:shell\s+)?"
    r"(?:command\s+|script\s+)?:?\s*(.+)",
    r"\bcommand:?\s+(.+)",
)
COMMAND_END = re.compile(
    r"\s+(?:in|on|from|using|inside|via) (?:the|a|my) "
    r"(?:shell|terminal|console|bash|command line|prompt)\b.*$",
    re.I,
)

WORK = r"(?:songs?|tracks?|tunes?|albums?|movies?|films?|videos?|books?|episodes?)"
"""Things that are known by a title."""
WHERE = re.compile(
    r"\b(?:from|in|inside|under|at|within|of|aus|von|de|en|dans)\s+(?:the\s+)?$", re.I
)
PLACED = re.compile(
    rf"[,;.?!]?\s*(?:\b(?:and|it'?s|it is|the folder is|which is|that is|they are|found|located"
    r"|stored|to be found)\s+)*(?:\b(?:from|in|inside|under|at|within|of|aus|von|de|en|dans)\s+)?"
    rf"(?:the\s+)?(?:(?:folder|directory)\s+)?{MARK}(?:\s+(?:folder|directory))?",
    re.I,
)
TITLE_LEAD = re.compile(
    r"^(?:(?:me|us|on|up|to)\s+)?(?:(?:the|a|an|my|some)\s+)?"
    rf"(?:{WORK}\s+)?(?:(?:called|named|titled)\s+)?",
    re.I,
)
TITLE_END = re.compile(
    r"\s+(?:(?:at|with|on|mit)\s+(?:a\s+)?(?:full |low |high |half )?(?:volume|\d+)\b.*|next"
    r"|(?:very )?(?:quietly|softly|loudly|loud)\b.*"
    r"|(?:on|to|in) (?:the |my )?(?:queue|playlist|end)\b.*"
    r"|after (?:this|that)\b.*|right now|now|again|please)(?=\W*$)",
    re.I,
)
BY = re.compile(rf"(?:some|any)?(?:thing|one|{WORK}|music)\s+(?:by|from|of)\s+(.+)", re.I)
NO_TITLE = frozenset(
    """it again song songs track tracks music tune tunes mp3 mp3s album albums movie movies film
    video videos book books file files play playing nice good random else other more next""".split()
)
"""Words that alone are no title."""

BARE_FOLDER = (
    r"\b(?:folder|directory|dir)\s+(?:called\s+|named\s+)?([\w.-]+(?:/[\w.-]+)*)",
    r"\b(?:the\s+)?([\w.-]+)\s+(?:folder|directory|dir)\b",
    r"\b(?:tree of|contents? of|inside|ls|in|of|under|from|list|show)\s+([\w.-]+)"
    r"(?=\s+(?:\w+\s+levels?|and|to|recursively|with|at)\b|\s*[?.!,]*$)",
)
NO_FOLDER = frozenset(
    """this that the my a an current here it there me your which what music song file folder
    directory working same whole all home level deep loud are is do""".split()
)
"""Stems that stand where a folder's name may stand and name none."""

CAPITAL = r"(?:[A-Z][\w'-]*(?:[ -](?:[A-Z][\w'-]*|de|la|of|am|do)(?=[\s,.?!]|$))*)"
PLACE = re.compile(rf"\b(?:in|for|at|to|of|near|around|into)\s+(?:the\s+)?({CAPITAL})")
LOOSE_PLACE = (
    r"\b(?:in|for|to|from|at)\s+((?:the\s+)?\w+(?:\s\w+)?)"
    r"(?=\s+(?:to|by|on|at|today|tomorrow|tonight|now|right now)\b|\s*[?.!,]|\s*$)",
)

DAY = re.compile(
    r"\b(?:today|tomorrow|tonight|yesterday|(?:this|next|last) (?:week|month|weekend|year|\w+day)"
    r"|(?:on )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|\d{4}-\d\d-\d\d)\b",
    re.I,
)
SUM = (r"\b(?:calculate|compute|evaluate|solve|what(?:'s| is)|how much is)\s+(.+)",)
LABEL = (
    r"\b(?:called|named|titled|labelled|labeled|entitled|title|label)\s+(.+)",
    r"\bremind me (?:in .+? |at .+? )?to\s+(.+)",
    r"\bfor (?:the |my )?([a-z]\w*)$",
)
SUBJECT = (r"\b(?:subject|titled|entitled)(?: line)?:?\s+(.+)",)
ANYTHING = (
    r"\bto (?:buy|get|purchase|order)\s+(.+?)(?:\s+(?:at|from|in) .*)?$",
    r"^\w+\s+(?:a |an |the |some |my )?(.+?)\s+(?:to|on|onto|in|into|from|at|for|with)\s+.+$",
    r"^\w+\s+(?:a |an |the |some |my )?(.+)$",
)
"""What follows the verb a request starts with."""
