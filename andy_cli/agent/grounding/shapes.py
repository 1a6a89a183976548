"""What names and figures look like, each kind as a regular expression."""

import re

from andy_cli.agent.grounding.dates import WEEKDAY
from andy_cli.agent.grounding.quantities import NUMBER
from andy_cli.agent.grounding.vocabulary import EXTENSIONS, ITEMS, NUMBER_WORDS
from andy_cli.compiler.expression import Expression

URL = Expression(r"\b(?:https?|ftp|file)://[^\s<>\"'`|\0]+|\bwww\.[^\s<>\"'`|\0]+", re.IGNORECASE)
ADDRESS = Expression(r"(?<![\w.+-])[\w.+'-]{0,64}[\w+]@[\w-]+(?:\.[\w-]+)+", re.IGNORECASE)
UUID = Expression(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", re.IGNORECASE)
HOST = Expression(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?(?![\w.]*\w)")
DOTTED = Expression(r"(?<![\w.@/-])[a-z][\w-]*(?:\.[a-z][\w-]*){2,}(?![\w(/-])")
PATH = Expression(
    r"(?<![\w/.<~:])(?:~|\.{1,2})?/(?:[^\s/`\"'“”<>|*:;,()\[\]{}\0]+(?:/"
    r"|\b))(?:[^\s/`\"“”<>|*:;,()\[\]{}\0]*/?)*"
    r"|(?<![\w])[A-Za-z]:\\[^\s`\"“”<>|*:;,()\0]+"
    r"|(?<![\w/.<~:@-])[\w.-]+/(?:[\w.-]+/)*[\w.-]*"
)

EXTENSION = "|".join(sorted(EXTENSIONS, key=len, reverse=True))
FILE = Expression(
    rf"(?<![\w./@\\-])[\w][\w.+&'’()\[\]-]{{0,200}}?\.(?:{EXTENSION})\b(?![\w-]|\.\w)",
    re.IGNORECASE,
)

DELIMITED = Expression(
    r"`([^`\n]+)`|“([^”\n]{1,200})”|„([^“”\n]{1,200})[“”]|«\s?([^»\n]{1,200}?)\s?»"
    r"|(?<![\w\"])\"(?!\s)([^\"\n]{1,200})(?<!\s)\"(?!\w)"
    r"|(?<![\w*])\*\*(?!\s)([^*\n]{1,160})\*\*(?!\w)"
    r"|(?<![\w*])\*(?!\s)([^*\n]{2,160})(?<!\s)\*(?!\w)"
    r"|(?<![\w_])_(?!\s)([^_\n]{2,160})(?<!\s)_(?!\w)"
    r"|(?<![\w'])'(?=[A-Z0-9])([^'\n]{2,120})'(?!\w)|(?<![\w‘])‘([^’\n]{2,120})’(?!\w)"
)

ID = Expression(
    r"(?<![\w/.#&-])(?:\#\d+|[A-Z][A-Z0-9]{0,9}[-_]\d[\w-]*"
    r"|(?=[\w-]*\d)(?=[\w-]*[A-Za-z])[\w]{2,}(?:[-_]\w+)*)(?![\w/-]|\.\d)"
)

PHONE = Expression(r"(?<![\w.])\+?\d[\d ()/-]{7,}\d(?!\w)")
ACCOUNT = Expression(r"(?<![\w.,-])(\d{2,12})-(\d{2,12})(?![\w-])")
LABELLED = Expression(
    r"\b(?:no|nr|nos|number|nummer|numéro|número|code|ref|reference|id)(?:\.|:|\s#)?\s[*_`]{0,3}"
    r"((?=[\w/-]*\d)\w+(?:[/-]\w+)+)(?![\w])",
    re.IGNORECASE,
)
"""`order no. 70-4418`."""

PERCENT = Expression(
    rf"(?<![\w.])[-+−]?(?:{NUMBER})(?:\s|\u00a0)?(?:%|percent\b|prozent\b|por ciento\b)", re.I
)

SPELLED = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
NOUN = "|".join(sorted(map(re.escape, ITEMS), key=len, reverse=True))
COUNT = Expression(
    rf"(?<![\w.,:#/-])(?P<number>(?:{NUMBER})|(?:twenty|thirty|forty|fifty|sixty|seventy"
    rf"|eighty)[- ]"
    rf"(?:one|two|three|four|five|six|seven|eight|nine)|{SPELLED}|no|kein\w*|aucune?|ningún"
    rf"|ninguna)\s+"
    rf"(?P<between>(?:of\s+(?:the\s|all\s|your\s)?\d+\s)?"
    rf"(?:(?!(?:with|and|or|in|for|on|at|to|from|by|is|are|was|times|than|und|et"
    rf"|y)\s)[^\W\d][\w'’.*`/&-]*\s+){{0,3}}?)[*_`\"]*(?P<noun>{NOUN})\b(?!\.\w)",
    re.IGNORECASE,
)

TALLY = Expression(
    rf"(?<![\w.,:#/$€£-])(?P<number>(?:{NUMBER})"
    rf"|(?i:{SPELLED}))\s+(?P<between>(?:[^\W\d_][\w'’-]*\s){{0,1}}?)"
    r"(?P<noun>[a-zà-ÿ]{3,}(?:s|en|er)|[A-ZÀ-Þ][a-zà-ÿ]{2,}(?:e|en|er|s))\b(?!\.\w)"
)
"""A count of what may be anything: only who knows the results can tell."""

PLAIN_NUMBER = Expression(
    rf"(?<![\w.,#/:-])(?P<sign>[-−+])?(?P<money>[$€£¥]\s?)?(?P<number>{NUMBER})"
    r"(?P<scale>\s(?:thousand|million|billion|trillion|millions?|millionen|milliarden|mio)\b"
    r"|[kKmM]\b|\s?bn\b)?(?P<after>\s?(?:°\s?[CF]?\b|[€$£]|(?:km/h|km|miles|mph|m/s"
    r"|degrees|Grad)\b))?(?![\w]|[.,:/]\d)"
)

ORDINAL = Expression(r"\b\d+(?:st|nd|rd|th|er|ème|º|ª)\b", re.IGNORECASE)
VERSION = Expression(
    r"(?<![\w.])v?\d+(?:\.\d+){2,}(?:[-+]?[a-z]+\.?\d*)?(?![\w])|\bv\d+(?:\.\d+)*\b", re.I
)

DAY_NAME = Expression(rf"\b(?:{WEEKDAY})s?\b", re.IGNORECASE)
COMMON = re.compile(
    r"(?:mp[34]|h\.?26[45]|\d+(?:st|nd|rd|th|er|x|k|d|p|px|pt|em|rem|am|pm|h|m|s|min|ms|km"
    r"|kg|cm|mm|kb|mb|gb|g|l|w|v|°c|hz|khz|kbps|bit|fps|th)"
    r"|utf-?\d+|sha-?\d+|md5|base64|python[23]|x86(?:_64)?|x64|amd64|arm64|i\d|q[1-4]"
    r"|h[1-6]|[a-z]\d"
    r"|covid-19|gpt-?\d\w*|iso-?\d+|rfc-?\d+|log4j|web3|b2b|co2|pm2|\d+-\w+|s3|ec2|oauth2?"
    r"|http2|ipv[46]|3d|2d|n8n"
    r"|f-?\d+|es\d+|vitamin\w*|win\d+|php\d|css3|html5|mp3s|[a-z]+_?\d{1,2})",
    re.IGNORECASE,
)
"""Letters with digits that name no record: formats, units, standards."""
