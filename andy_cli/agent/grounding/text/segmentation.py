"""Take a text apart, in one spelling: into words, fences, sentences, items of lists, cells. Pure.

Nothing here knows a language: sentences end at signs, and a name is what stands first in its line.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from andy_cli.compiler.expression import Expression

PLAIN = str.maketrans(
    dict.fromkeys("’‘‚ʼ`´", "'")
    | dict.fromkeys("“”„«»", '"')
    | dict.fromkeys("–—‑−‐", "-")
    | dict.fromkeys("\u00a0\u202f\u2009\t", " ")
    | {"…": "...", "\u200b": "", "\ufeff": "", "：": ":", "／": "/", "（": "(", "）": ")"}
)
ESCAPE = Expression(r"\\(?:u([0-9a-fA-F]{4})|([\"\\/_*`#~.()\[\]-])|([nrt]))")
PERCENT_ESCAPES = Expression(r"(?:%[0-9a-fA-F]{2})+")
WORD = Expression(r"[^\W_]+")
HIGH_HALF = Expression("[\ud800-\udfff]")
ONLY_WORDS = bytes(code if code < 128 and chr(code).isalnum() else 32 for code in range(256))


def fold_text(text: str) -> str:
    """Fold into one spelling: lower case, plain quotes and dashes."""
    if not text.isascii():
        text = text.translate(PLAIN)
    return text.casefold().replace("`", "'")


def remove_escapes(text: str) -> str:
    """Undo the escapes of JSON and Markdown, whether or not the text is JSON as a whole."""
    if "\\" not in text:
        return text

    def read_escape(match: re.Match[str]) -> str:
        return chr(int(match[1], 16)) if match[1] else match[2] or "\n"

    text = ESCAPE.sub(read_escape, text)
    if HIGH_HALF.search(text):
        text = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


def strip_line(line: str) -> str:
    """Fold a line, without the sign of an item and without blanks around it."""
    item = ITEM.match(line)
    return fold_text(item["rest"] if item else line).strip()


def split_words(text: str) -> list[str]:
    """Split a folded text into words; a run of Chinese or Japanese is one."""
    if text.isascii():
        return text.encode().translate(ONLY_WORDS).decode().split()
    return WORD.compiled.findall(text)


FENCE = Expression(r"^[ \t]*(`{3,12}|~{3,12})([^\n]*)\n(.*?)(?:^[ \t]*\1[^\S\n]*$|\Z)", re.M | re.S)
OUTPUT = frozenset(["", "text", "txt", "console", "output", "plaintext", "log", "csv", "tree"])
"""Words after the opening of a fence that shows a result rather than code."""
END = Expression(
    r"(?<=[.!?…])[\"'”’»)*_`]{0,3}\s+(?=[\"'“‘«(*_`\[¿¡]{0,3}[^\Wa-z_])|(?<=[。！？])|(?<=।)\s?|\n"
    r"|(?<=[^\s,;:]{4}[.!?])\s+(?=[*_`]{0,3}[a-z][\w-]*\.[a-z]\w)"
)
"""A name of a file begins a sentence in small letters too, where no `etc.` stands before it."""
NUMBERED = Expression(r"(?:^|\s)(?:\d{1,2}|[^\W\d_])\.\s*$")
"""`3.` and `z.`: no end of a sentence."""
QUESTION = Expression(r"[?？؟][\"'”’»)*_`\s]*$")
ITEM = Expression(
    r"^(?P<lead>[ \t>]*(?:[-*•+–◦]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?)(?P<rest>\S.*)$", re.M
)
LEAD_END = Expression(
    r"\s{1,8}[-–—|→>]{1,8}\s|\s{0,8}[–—]|[:：](?=[\s*_]|$|[^\x00-\x7f])|\s?[(（]|;|\s\|\s|\*\*\s"
    r"|[.!?]\s|[.!?]$|、|, "
)
PEEL = " \t*_`\"'“”‘’«»「」~[]\0"

EMPHASIS = ("**", "__", "`", '"', "”", "」", "»", "*")

CLOSERS = str.maketrans("“「«", "”」»")


class Sentence(NamedTuple):
    """A sentence, or a line; `text` stands at `start` in the answer."""

    text: str
    start: int
    question: bool

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class ListEntry(NamedTuple):
    """The name an item of a list or a cell of a table begins with."""

    text: str
    start: int
    emphasis: str = ""
    """The mark that stands around the name, and not around the rest: `**`."""

    @property
    def end(self) -> int:
        return self.start + len(self.text)


def find_fences(text: str) -> list[tuple[int, int, str]]:
    """Find the first and last position and the language of each fence."""
    if "```" not in text and "~~~" not in text:
        return []
    return [(*match.span(), match[2].strip().lower()) for match in FENCE.finditer(text)]


def blank_spans(text: str, spans: list[tuple[int, int]]) -> str:
    """Leave nothing but line ends where these spans are; the text is as long as before."""
    text_parts, last_end = [], 0
    for start, end in spans:
        text_parts.append(text[last_end:start])
        text_parts.append("\n".join("\0" * len(line) for line in text[start:end].split("\n")))
        last_end = end
    return "".join(text_parts) + text[last_end:]


PARAGRAPH = Expression(r"\S(?:[^\n]|\n(?!\s*\n))*(?<!\s)")
SALUTATION = Expression(r"[^\W\d_][^\n.!?:]{0,40},|[^\W\d_][^\n.!?:]{0,20},[^\n.!?:,]{1,30}:")
SIGNATURE = Expression(r"(?:[^\W\d_][^\n.!?:]{0,40}(?:\n|$)){1,3}")
RULE_LINE = Expression(r"^[ \t]*[-_*]{3,}[ \t]*$", re.M)
HEADERS = Expression(r"(?:[*_]{0,2}[^\W\d_]{1,12}:[^\n]+(?:\n|$)){2,}")
"""The lines of a letter above its salutation: to whom it goes, and about what."""


def find_letter(text: str) -> tuple[int, int]:
    """Find where a letter stands in a text: from the paragraph that is its salutation to the one
    that is its signature (`Hi Tom,`, `Un saludo`), with others between them; else nowhere. One
    paragraph may stand before it and one after; rules and its headers are none."""
    text = RULE_LINE.sub(lambda rule: " " * len(rule[0]), text)
    paragraphs = [part for part in PARAGRAPH.finditer(text) if not HEADERS.fullmatch(part[0])]
    salutations = [part for part in paragraphs[:2] if SALUTATION.fullmatch(part[0])]
    signatures = [part for part in paragraphs[-2:] if SIGNATURE.fullmatch(part[0])]
    if not salutations or not signatures:
        return 0, 0
    start, end = salutations[0].start(), signatures[-1].end()
    has_body = text.count("\n\n", start, end) > 1
    return (start, end) if has_body else (0, 0)


def split_sentences(text: str) -> list[Sentence]:
    """Split a text into sentences; a line end ends one."""
    sentences: list[Sentence] = []
    start = 0
    for match in END.finditer(text):
        sentence_text = text[start : match.start()]
        inside = match[0] and "\n" not in match[0]
        if inside and sentence_text.endswith(".") and NUMBERED.search(sentence_text[-5:]):
            continue
        sentences += read_sentences(sentence_text, start)
        start = match.end()
    sentences += read_sentences(text[start:], start)
    return [sentence for sentence in sentences if sentence.text.strip()]


def find_sentence(sentences: Sequence[Sentence], position: int) -> Sentence | None:
    """Find the sentence in which a position of the answer stands."""
    return next((said for said in sentences if said.start <= position < said.end), None)


MAX_SENTENCE = 2_000
"""Characters of a sentence; what goes on longer is a dump, or never paused."""


def read_sentences(text: str, start: int) -> Iterator[Sentence]:
    """Read a text as one sentence, or piece by piece, cut between two words, if it is too long."""
    while len(text) > MAX_SENTENCE:
        cut = text.rfind(" ", 1, MAX_SENTENCE) + 1 or MAX_SENTENCE
        yield read_sentence(text[:cut], start)
        text, start = text[cut:], start + cut
    yield read_sentence(text, start)


def read_sentence(text: str, start: int) -> Sentence:
    return Sentence(text, start, QUESTION.search(text) is not None)


QUOTED_LINES = Expression(r"^[ \t]*>[^\n]*", re.M)


def find_quoted_lines(text: str) -> list[tuple[int, int]]:
    """Find the lines that speak with another's voice."""
    return [match.span() for match in QUOTED_LINES.finditer(text)]


CLAUSE = Expression(r"[,;:!?()\n]\s|[.]\s|\s[-–—]\s|[，；：、（）。]|،")
NAMED = r"[`*_\"“„«]{0,3}(?<![\w.+/-])[\w.+/-]{1,80}\.[a-zA-Z][a-zA-Z\d]{0,9}[`*_\"”»]{0,3}"
JOINED = Expression(
    rf"^[^\w\n]*(?:\d{{1,3}}[.)]\s)?{NAMED}\s?[:：–—-]"
    rf"|{NAMED}(?:[,，、،]\s?{NAMED})+(?:,?\s[^\W\d_]{{1,3}}\s{NAMED}|(?=\W*$|[;:.!?)。；]))"
)
"""A file that a sentence begins with and the sign behind it, or a row of files."""


def locate_clause(sentence: Sentence, position: int) -> tuple[str, int]:
    """Find the clause of a sentence in which a position of the answer stands, and where in the
    answer it begins. No sign between files ends one: `a.txt, b.txt and c.txt`, `a.txt: deleted`."""
    offset, start = position - sentence.start, 0
    text = JOINED.sub(lambda names: "x" * len(names[0]), sentence.text)
    for match in CLAUSE.finditer(text):
        if match.start() >= offset:
            return sentence.text[start : match.start()], sentence.start + start
        start = match.end()
    return sentence.text[start:], sentence.start + start


def find_lists(text: str) -> list[list[ListEntry]]:
    """Find the lists of a text, each as the names its items begin with."""
    groups: list[list[ListEntry]] = []
    last_end = -9
    for match in ITEM.finditer(text):
        # Lines of one list follow each other with at most one other line between.
        if last_end < 0 or text.count("\n", last_end, match.start()) > 2:
            groups.append([])
        last_end = match.end()
        groups[-1].append(read_entry(match["rest"], match.start("rest")))
    return groups


def read_entry(text: str, start: int) -> ListEntry:
    """Read the name at the beginning: what is emphasised or quoted, else all before a separator."""
    body = text.lstrip(PEEL)
    peeled = len(text) - len(body)
    opener = text[:peeled].translate(CLOSERS)
    close = next((emphasis for emphasis in EMPHASIS if emphasis in opener), "")
    end = body.find(close) if close else -1
    if end < 0:
        close = ""
        lead_end = LEAD_END.search(body)
        end = lead_end.start() if lead_end else len(body)
    name = body[:end].rstrip(PEEL).rstrip(":：").rstrip(PEEL)
    return ListEntry(name, start + peeled, close)


def has_word(text: str) -> bool:
    """Tell whether a text is more than signs."""
    return "_" in text or any(map(str.isalnum, text))
