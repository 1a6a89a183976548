"""Say the title of a tool where the model writes its name: users know no names of tools (C8, F).

A distinctive name - of several words, joined by `_`, `.`, `-` or inner capitals - becomes the
tool's title in any language; a line that is nothing but a call or a label of a protocol goes, and
so do the ids of calls. Which prose is meant says the compiler: code and quotations never get here.
"""

import re
from collections.abc import Collection, Iterator, Mapping

from andy_cli.compiler.expression import Expression
from andy_cli.toolbox.tool import words_of_name

AHEAD = 300
"""Characters in which a quotation ends and a line shows that it is a call; else it is none."""
TOKEN = Expression(r"(?<![A-Za-z0-9_$#@/\\.~?&=%+-])[A-Za-z][A-Za-z0-9_.:/@\\?&=%+~-]*")
OPEN_TOKEN = Expression(r"(?:\s?\(|,\s?|\s)?[A-Za-z0-9_$#.:/@\\?&=%+~-]*\Z")
"""A word that may go on, with what would go with it if it were the id of a call."""
PLAIN = Expression(r"[A-Za-z0-9_.:-]+")
HUMP = Expression(r"(?<=[a-z0-9])(?=[A-Z])")
DISTINCTIVE = Expression(r"[A-Za-z0-9][_.-][A-Za-z0-9]|[a-z0-9][A-Z]")
WIRE_PREFIXES = ("functions", "function", "default_api", "tools", "tool", "multi_tool_use")
ID = r"\b(?:call|toolu|fc|chatcmpl-tool)[_-](?=[A-Za-z]*\d)[A-Za-z0-9]{6,64}\b(?![.@/-]\w)"
CALL_ID = Expression(ID)
CALL_ID_ALONE = Expression(rf"\s?\({ID}\)|,\s?{ID}")
ARGUMENTS = Expression(r"\((?=[^()\n]*[=:\"'{\[])[^()\n]{0,200}\)|\(\)")
MARKS = " \t*_#>-+\u2022[("
LABEL = Expression(
    r"(?i)(?:(?:tool|function)[ _-]?(?:calls?|results?|use|outputs?|responses?|requests?|name"
    r"|input)?(?:[ _-]id)?|action(?: input)?|observation)\s*(?:\*\*)?:"
)
LONGEST_LABEL = 24
BEGINS_LABEL = re.compile(r"(?i)tool|function|action|observation")
VALUE = Expression(r"\s*(?:[{\[].*[}\]]|\"[^\"]*\")?\s*")
PAIRS = {'"': '"', "\u201c": "\u201d", "\u201e": "\u201c\u201d", "\u00ab": "\u00bb",
         "\u300c": "\u300d", "\u300e": "\u300f"}  # fmt: skip
SENTENCE_END = Expression(r"(?:^|[.!?:]\s+)[\s*_#>\"(-]*\Z")


def is_distinctive(name: str) -> bool:
    """Whether a name is no ordinary word: it is made of several."""
    return DISTINCTIVE.search(name) is not None


class ToolTitles:
    """Reads the prose of one text in order. Build a new one for each.

    Pieces come out as they are or with titles; an empty piece says that something was taken out.
    """

    def __init__(self, titles: Mapping[str, str], own: str = "") -> None:
        """`titles` by the tools' names. `own`: the user's words and what was found; a name that
        stands there is the user's own."""
        self._titles = {_fold_name(name): title for name, title in titles.items()}
        self._exact = {name: title for name, title in titles.items() if is_distinctive(name)}
        self._own = own
        self._held = ""
        self._line = ""  # what stands before it on its line
        self._only = True  # the line may yet be nothing but a call or a label

    def feed(self, text: str) -> list[str]:
        """Take the next piece of prose."""
        self._held += text
        return [*self._read(final=False)]

    def pass_by(self, text: str) -> list[str]:
        """Note what stands next and is no prose, or with "" the end; returns what was held."""
        pieces = [*self._read(final=True, ended=text[:1] in ("", "\n"))]
        self._line = (self._line + text).rpartition("\n")[2][-AHEAD:]
        self._only = self._only and not text.strip()
        return pieces

    def _read(self, final: bool, ended: bool = False) -> Iterator[str]:
        while "\n" in self._held:
            line, _, self._held = self._held.partition("\n")
            yield from self._pieces(line + "\n", True)
            self._line, self._only = "", True
        if self._held:
            sure = len(self._held) if final else self._sure()
            piece, self._held = self._held[:sure], self._held[sure:]
            if piece:
                yield from self._pieces(piece, ended)
                self._line = (self._line + piece)[-AHEAD:]

    def _sure(self) -> int:
        """How much of an unfinished line can be said: no name is begun in it, and no quotation
        with one."""
        text = self._held
        if self._only and self._may_be_alone(text):
            return 0
        half = OPEN_TOKEN.search(text)
        sure = half.start() if half else len(text)
        for match in TOKEN.compiled.finditer(text[:sure]):
            behind = text[match.end() :]
            if self._title(match[0]) and len(behind) < AHEAD:
                asks = behind.startswith("(") and ")" not in behind
                if not behind or asks or self._in_quotation(text, match) is None:
                    return match.start()
        return sure

    def _may_be_alone(self, text: str) -> bool:
        """The beginning of a line that is perhaps nothing but a call or a label."""
        if self._line.strip(MARKS) or len(text) > AHEAD:
            return False
        start = text.lstrip(MARKS)
        if not start or OPEN_TOKEN.match(start):
            return True
        if BEGINS_LABEL.match(start) and (len(start) < LONGEST_LABEL or LABEL.match(start)):
            return True
        token = TOKEN.match(start)
        return bool(token and self._title(token[0]))

    def _pieces(self, text: str, ended: bool) -> Iterator[str]:
        """Say this much of a line; the whole of it if nothing stood before and it has `ended`."""
        body = text.rstrip("\n")
        if ended and self._only and not self._line.strip(MARKS) and self._is_plumbing(body):
            yield ""
            yield text[len(body) :]
            return
        self._only = self._only and not text.strip()
        said = self._titled(body) + text[len(body) :]
        if said:
            yield said

    def _is_plumbing(self, line: str) -> bool:
        """Whether a line is nothing but a call, a label, or a label with a call or data."""
        if len(line) > AHEAD:
            return False
        words = line.strip(f"{MARKS}])`.\u2026")
        label = LABEL.match(words)
        rest = words[label.end() :].strip(" *_") if label else words
        if label and (VALUE.fullmatch(rest) or CALL_ID.fullmatch(rest)):
            return True
        token = TOKEN.match(rest)
        if token is None or not self._title(token[0]):
            return False
        behind = rest[token.end() :]
        asks = ARGUMENTS.match(behind)
        if label or line.strip(" *_").startswith("["):
            return not behind[asks.end() if asks else 0 :].strip("] *_.\u2026")
        return asks is not None and not behind[asks.end() :].strip(" ;.`*_")

    def _titled(self, text: str) -> str:
        parts, last = [], 0
        for match in TOKEN.compiled.finditer(text):
            name = match[0].rstrip(".:-/?&=%+~@\\")
            title = self._title(name)
            if not title or self._in_quotation(text, match):
                continue
            start, end = match.start(), match.start() + len(name)
            asks = ARGUMENTS.match(text[end:])
            if SENTENCE_END.search(self._line + text[:start]):
                title = title[0].upper() + title[1:]
            parts += [text[last:start], title]
            last = end + (asks.end() if asks else 0)
        said = "".join(parts) + text[last:]
        if CALL_ID.search(said) and not self._own_ids(said):
            said = CALL_ID.sub("", CALL_ID_ALONE.sub("", said))
        return said

    def _own_ids(self, text: str) -> bool:
        return all(each in self._own for each in CALL_ID.compiled.findall(text))

    def _title(self, token: str) -> str:
        """The title that a word stands for, if it is a distinctive name of a tool."""
        name = token.rstrip(".:-/?&=%+~@\\")
        if name in self._own or not is_distinctive(name):
            return ""
        if name in self._exact:
            return self._exact[name]
        if not PLAIN.fullmatch(name):
            return ""
        head, dash, tail = name.partition("-")
        if dash and (title := self._title(head)):
            return f"{title}-{tail}" if tail else title
        folded = _fold_name(name)
        for spelled in (folded, folded.removesuffix("s"), folded.removesuffix("es")):
            if spelled in self._titles and "_" in spelled.strip("_"):
                return self._titles[spelled]
        prefix, _, rest = re.sub(r"__|:", ".", name).rpartition(".")
        if prefix in WIRE_PREFIXES or prefix.startswith("mcp"):
            return self._titles.get(_fold_name(rest), "")
        return ""

    def _in_quotation(self, text: str, match: re.Match[str]) -> bool | None:
        """Whether it stands between quotation marks of its line; None: not known yet."""
        before = self._line + text[: match.start()]
        for opener, closers in PAIRS.items():
            at = before.rfind(opener)
            if at < 0 or any(each in before[at + 1 :] for each in closers if each != opener):
                continue
            if opener == '"' and before.count('"') % 2 == 0:
                continue
            behind = text[match.end() : match.end() + AHEAD]
            if any(each in behind for each in closers):
                return True
            if len(behind) < AHEAD:
                return None
        return False


def _fold_name(name: str) -> str:
    return (name if "_" in name else HUMP.sub("_", name)).lower()


def make_titles(names: Collection[str]) -> dict[str, str]:
    """Titles for tools of which nothing but the names is known."""
    return {name: words_of_name(re.split(r"__|[.:]", name)[-1] or name) for name in names}


TOOL_WORDS = """
    tool werkzeug outil herramienta ferramenta strument инструмент 工具 ツール 도구 أداة أدوات
    उपकरण टूल টুল ٹول narzędzi alat mcp api function fonction función função funzion funktion функци
    函数 関数
""".split()
"""How users of the large languages ask about tools."""
ASKS = re.compile("|".join(rf"(?<![a-z]){each}" if each.isascii() else each for each in TOOL_WORDS))


def asks_about_tools(user: str) -> bool:
    """Whether the user asks about tools (R10, R15)."""
    return ASKS.search(user.lower()) is not None
