"""Take the plumbing of calls out of an answer, and nothing else (C1, C6 to C9, C29, R10, R15).

The structure is the compiler's: calls in any dialect, markers, role labels and control tokens.
What is left to do here are the names of tools, which users do not know (C8, F). A distinctive name
- of several words, joined by `_`, `.`, `-` or inner capitals - becomes the tool's title in any
language; a line that is nothing but a call or a label of a protocol goes, and so do the ids of
calls. Which prose is meant says the compiler: code and quotations never get here.
"""

import html
import re
from collections.abc import Collection, Iterator, Mapping

from andy_cli.agent.history.history import History
from andy_cli.agent.model.model_session import ModelSession
from andy_cli.compiler.compiler import Compiler
from andy_cli.compiler.dialect import Tools
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.lexing.lexer import SHOWN, Lexer, Segment
from andy_cli.compiler.lexing.markers import Markers
from andy_cli.toolbox.registry import Registry
from andy_cli.toolbox.tool import words_of_name

MAX_QUOTATION = 300
"""Characters in which a quotation ends and a line shows that it is a call; else it is none."""
TOKEN = Expression(r"(?<![A-Za-z0-9_$#@/\\.~?&=%+-])[A-Za-z][A-Za-z0-9_.:/@\\?&=%+~-]*")
NAME_LETTER = r"[A-Za-z0-9_$#.:/@\\?&=%+~-]"
OPEN_TOKEN = Expression(rf"(?:\s?\(|,\s?|\s|(?<!{NAME_LETTER})){NAME_LETTER}*\Z")
"""A word that may go on, with what would go with it if it were the id of a call."""
PLAIN = Expression(r"[A-Za-z0-9_.:-]+")
HUMP = Expression(r"(?<=[a-z0-9])(?=[A-Z])")
DISTINCTIVE = Expression(r"[A-Za-z0-9][_.-][A-Za-z0-9]|[a-z0-9][A-Z]")
WIRE_PREFIXES = ("functions", "function", "default_api", "tools", "tool", "multi_tool_use")
ID = r"\b(?:call|toolu|fc|chatcmpl-tool)[_-](?=[A-Za-z]*\d)[A-Za-z0-9]{6,64}\b(?![.@/-]\w)"
CALL_ID = Expression(ID)
CALL_ID_ALONE = Expression(rf"\s?\({ID}\)|,\s?{ID}")
ARGUMENTS = Expression(r"\((?=[^()\n]*[=:\"'{\[])[^()\n]{0,200}\)|\(\)")
LINE_MARKS = " \t*_#>-+\u2022[("
LABEL = Expression(
    r"(?i)(?:(?:tool|function)[ _-]?(?:calls?|results?|use|outputs?|responses?|requests?|name"
    r"|input)?(?:[ _-]id)?|action(?: input)?|observation)\s*(?:\*\*)?:"
)
MAX_LABEL_LENGTH = 24
BEGINS_LABEL = re.compile(r"(?i)tool|function|action|observation")
VALUE = Expression(r"\s*(?:[{\[].*[}\]]|\"[^\"]*\")?\s*")
PAIRS = {'"': '"', "\u201c": "\u201d", "\u201e": "\u201c\u201d", "\u00ab": "\u00bb",
         "\u300c": "\u300d", "\u300e": "\u300f"}  # fmt: skip
NAME_END = ".:-/?&=%+~@\\"
"""Characters at the end of a token that are no part of a name."""
SENTENCE_END = Expression(r"(?:^|[.!?:]\s+)[\s*_#>\"(-]*\Z")


def is_distinctive(name: str) -> bool:
    """Tell whether a name is no ordinary word: it is made of several."""
    return DISTINCTIVE.search(name) is not None


class ToolTitles:
    """Reads the prose of one text in order. Build a new one for each.

    Pieces come out as they are or with titles; an empty piece says that something was taken out.
    """

    def __init__(self, titles: Mapping[str, str], own_text: str = "") -> None:
        """`titles` by the tools' names. `own_text`: the user's words and what was found; a name
        that stands there is the user's own."""
        self._titles = {_fold_name(name): title for name, title in titles.items()}
        self._exact = {name: title for name, title in titles.items() if is_distinctive(name)}
        self._own = own_text
        self._held = ""
        self._line = ""  # what stands before it on its line
        self._only = True  # the line may yet be nothing but a call or a label

    def feed(self, text: str) -> list[str]:
        """Take the next piece of prose."""
        self._held += text
        return list(self._read(final=False))

    def pass_by(self, text: str) -> list[str]:
        """Note what stands next and is no prose, or with "" the end; returns what was held."""
        held_pieces = list(self._read(final=True, ended=text[:1] in ("", "\n")))
        self._line = (self._line + text).rpartition("\n")[2][-MAX_QUOTATION:]
        self._only = self._only and not text.strip()
        return held_pieces

    def _read(self, final: bool, ended: bool = False) -> Iterator[str]:
        while "\n" in self._held:
            line, _, self._held = self._held.partition("\n")
            yield from self._yield_pieces(line + "\n", True)
            self._line, self._only = "", True
        if self._held:
            sure_length = len(self._held) if final else self._count_sure()
            sure_text, self._held = self._held[:sure_length], self._held[sure_length:]
            if sure_text:
                yield from self._yield_pieces(sure_text, ended)
                self._line = (self._line + sure_text)[-MAX_QUOTATION:]

    def _count_sure(self) -> int:
        """Count how much of an unfinished line can be said: no name is begun in it, and no
        quotation with one."""
        text = self._held
        if self._only and self._may_be_alone(text):
            return 0
        open_token = OPEN_TOKEN.search(text)
        sure_length = open_token.start() if open_token else len(text)
        for match in TOKEN.compiled.finditer(text[:sure_length]):
            if self._find_title(match[0]) and self._may_go_on(text, match):
                return match.start()
        return sure_length

    def _may_go_on(self, text: str, match: re.Match[str]) -> bool:
        """Tell whether what follows a name may yet decide what it is."""
        following_text = text[match.end() :]
        if len(following_text) >= MAX_QUOTATION:
            return False
        is_open_call = following_text.startswith("(") and ")" not in following_text
        return not following_text or is_open_call or self._in_quotation(text, match) is None

    def _may_be_alone(self, text: str) -> bool:
        """Tell whether a line may yet be nothing but a call or a label."""
        if self._line.strip(LINE_MARKS) or len(text) > MAX_QUOTATION:
            return False
        start = text.lstrip(LINE_MARKS)
        if not start or OPEN_TOKEN.match(start):
            return True
        if BEGINS_LABEL.match(start) and (len(start) < MAX_LABEL_LENGTH or LABEL.match(start)):
            return True
        token = TOKEN.match(start)
        return bool(token and self._find_title(token[0]))

    def _yield_pieces(self, text: str, ended: bool) -> Iterator[str]:
        """Say this much of a line; the whole of it if nothing stood before and it has `ended`."""
        body = text.rstrip("\n")
        if ended and self._only and not self._line.strip(LINE_MARKS) and self._is_plumbing(body):
            yield ""
            yield text[len(body) :]
            return
        self._only = self._only and not text.strip()
        titled = self._insert_titles(body) + text[len(body) :]
        if titled:
            yield titled

    def _is_plumbing(self, line: str) -> bool:
        """Tell whether a line is nothing but a call, a label, or a label with a call or data."""
        if len(line) > MAX_QUOTATION:
            return False
        words = line.strip(f"{LINE_MARKS}])`.\u2026")
        label = LABEL.match(words)
        if label is None:
            return self._is_call(words, line.strip(" *_").startswith("["))
        after_label = words[label.end() :].strip(" *_")
        if VALUE.fullmatch(after_label) or CALL_ID.fullmatch(after_label):
            return True
        return self._is_call(after_label, True)

    def _is_call(self, words: str, is_marked: bool) -> bool:
        """Tell whether words are a call; without arguments only where a label or a bracket says."""
        token = TOKEN.match(words)
        if token is None or not self._find_title(token[0]):
            return False
        following_text = words[token.end() :]
        arguments = ARGUMENTS.match(following_text)
        after_arguments = following_text[arguments.end() if arguments else 0 :]
        if is_marked:
            return not after_arguments.strip("] *_.\u2026")
        return arguments is not None and not after_arguments.strip(" ;.`*_")

    def _insert_titles(self, text: str) -> str:
        titled_parts, last_end = [], 0
        for match in TOKEN.compiled.finditer(text):
            name = match[0].rstrip(NAME_END)
            title = self._find_title(name)
            if not title or self._in_quotation(text, match):
                continue
            start, end = match.start(), match.start() + len(name)
            if SENTENCE_END.search(self._line + text[:start]):
                title = title[0].upper() + title[1:]
            titled_parts += [text[last_end:start], title]
            arguments = ARGUMENTS.match(text[end:])
            last_end = end + arguments.end() if arguments else end
        titled = "".join(titled_parts) + text[last_end:]
        if CALL_ID.search(titled) and not self._are_own_ids(titled):
            titled = CALL_ID.sub("", CALL_ID_ALONE.sub("", titled))
        return titled

    def _are_own_ids(self, text: str) -> bool:
        return all(call_id in self._own for call_id in CALL_ID.compiled.findall(text))

    def _find_title(self, token: str) -> str:
        """Find the title that a word stands for, if it is a distinctive name of a tool."""
        name = token.rstrip(NAME_END)
        title = self._look_up_title(name) if is_distinctive(name) else ""
        # Asked last: what was found may be megabytes, and few words are names of tools.
        return "" if title and name in self._own else title

    def _look_up_title(self, name: str) -> str:
        if name in self._exact:
            return self._exact[name]
        if not PLAIN.fullmatch(name):
            return ""
        head, separator, tail = name.partition("-")
        if separator and (title := self._find_title(head)):
            return f"{title}-{tail}" if tail else title
        return self._find_folded_title(name) or self._find_prefixed_title(name)

    def _find_folded_title(self, name: str) -> str:
        """Find a name in another spelling: with inner capitals, or in the plural."""
        folded = _fold_name(name)
        for spelling in (folded, folded.removesuffix("s"), folded.removesuffix("es")):
            if spelling in self._titles and "_" in spelling.strip("_"):
                return self._titles[spelling]
        return ""

    def _find_prefixed_title(self, name: str) -> str:
        """Find a name after a prefix of a protocol."""
        prefix, unprefixed = _split_prefix(name)
        if prefix in WIRE_PREFIXES or prefix.startswith("mcp"):
            return self._titles.get(_fold_name(unprefixed), "")
        return ""

    def _in_quotation(self, text: str, match: re.Match[str]) -> bool | None:
        """Tell whether it stands between quotation marks of its line; None: not known yet."""
        line_before = self._line + text[: match.start()]
        following_text = text[match.end() : match.end() + MAX_QUOTATION]
        for opener, closers in PAIRS.items():
            if not _is_open(line_before, opener, closers):
                continue
            if any(closer in following_text for closer in closers):
                return True
            if len(following_text) < MAX_QUOTATION:
                return None
        return False


def _is_open(line_before: str, opener: str, closers: str) -> bool:
    """Tell whether a quotation that began before is still open."""
    position = line_before.rfind(opener)
    if position < 0:
        return False
    since = line_before[position + 1 :]
    if any(closer in since for closer in closers if closer != opener):
        return False
    return opener != '"' or line_before.count('"') % 2 == 1


def _fold_name(name: str) -> str:
    return (name if "_" in name else HUMP.sub("_", name)).lower()


def _split_prefix(name: str) -> tuple[str, str]:
    """Split a name behind the last prefix: `functions.seek`, `mcp__music__seek`, `music:seek`."""
    prefix, _, own_name = name.replace("__", ".").replace(":", ".").rpartition(".")
    return prefix, own_name


def make_titles(names: Collection[str]) -> dict[str, str]:
    """Make titles for tools of which nothing but the names is known."""
    return {name: words_of_name(_split_prefix(name)[1] or name) for name in names}


TOOL_WORDS = """
    tool werkzeug outil herramienta ferramenta strument инструмент 工具 ツール 도구 أداة أدوات
    उपकरण टूल টুল ٹول narzędzi alat mcp api function fonction función função funzion funktion функци
    函数 関数
""".split()
"""Words by which users of the large languages ask about tools."""
TOOL_WORD = re.compile(
    "|".join(rf"(?<![a-z]){word}" if word.isascii() else word for word in TOOL_WORDS)
)


def asks_about_tools(user: str) -> bool:
    """Tell whether the user asks about tools (R10, R15)."""
    return TOOL_WORD.search(user.lower()) is not None


class Sanitizer:
    """Reads one answer as it arrives; how it was cut never matters. Build a new one for each."""

    def __init__(self, markers: Markers, tools: Tools, titles: ToolTitles | None = None) -> None:
        """`markers` as the compiler has them; `titles` if the user has not asked about tools."""
        self._compiler = Compiler(markers, tools, runs_requests=False, prose=titles)

    def feed(self, text: str) -> str:
        """Take the next piece; returns what can be shown now."""
        return self._compiler.feed(text).text

    def finish(self) -> str:
        """End the answer; returns what is left to show."""
        return self._compiler.finish()[0].text


def sanitize(text: str, markers: Markers, tools: Tools, titles: ToolTitles | None = None) -> str:
    """Remove the plumbing from an answer; if there is none, nothing changes. Never raises."""
    sanitizer = Sanitizer(markers, tools, titles)
    return sanitizer.feed(text) + sanitizer.finish()


def find_leaks(rendered: str, markers: Markers, tools: Tools, source: str = "") -> tuple[str, ...]:
    """Find plumbing in the finished text, ANSI sequences stripped: empty if there is none (C29).

    Code, inline code and quotes may show what they like. Where rendering has taken their marks
    away, `source` is the text as it was: what is code or a quote there is no leak.
    """
    hidden = _find_hidden(rendered, markers, tools)
    if not (hidden and source):
        return hidden
    allowed = _squeeze(source)
    leaked = {_squeeze(text) for text in _find_hidden(source, markers, tools)}
    return tuple(
        text for text in hidden if _squeeze(text) in leaked or _squeeze(text) not in allowed
    )


def _find_hidden(text: str, markers: Markers, tools: Tools) -> tuple[str, ...]:
    hidden: list[str] = []
    for segment in _split_answer(text, markers, tools):
        is_visible = segment.kind in (*SHOWN, "reasoning") or segment.fence
        if segment.text.strip() and not is_visible:
            hidden.append(segment.text)
    return tuple(hidden)


def _split_answer(text: str, markers: Markers, tools: Tools) -> list[Segment]:
    lexer = Lexer(markers, tools, runs_requests=False)
    return [*lexer.feed(text), *lexer.finish()]


def _squeeze(text: str) -> str:
    return "".join(text.split())


MARKDOWN = frozenset("&\\*_~")
"""Characters of prose that rendering takes away or changes."""
ESCAPED = Expression(r"\\([^\w\s])")
EMPHASIS = Expression(r"\*+|(?<!~)~~(?!~)|(?<!\w)_+(?=\w)|(?<=\w)_+(?!\w)")


def strip_markdown(text: str, markers: Markers, tools: Tools) -> str:
    """Return about what a reader sees of it; itself where nothing is rendered (C29).

    `&lt;tool_call&gt;` is no marker before it is rendered, and is one on the screen. Code stays as
    it is, between its marks: it may show what it likes.
    """
    if not MARKDOWN.intersection(text):
        return text
    parts: list[str] = []
    for segment in _split_answer(text, markers, tools):
        part = segment.text
        if segment.kind != "code":
            unescaped = ESCAPED.sub(r"\1", part)
            part = html.unescape(EMPHASIS.sub("", unescaped))
        parts.append(part)
    return "".join(parts)


WORKED_ON = 60
"""So many messages back, a name of a tool in a result is one that the user works on."""


class AnswerSanitizer:
    """Sanitizes all that is shown of answers, whoever shows it."""

    def __init__(self, model: ModelSession, history: History, registry: Registry) -> None:
        self._model, self._history, self._registry = model, history, registry

    def sanitize(self, text: str) -> str:
        """Sanitize a text that a request carries for the user."""
        profile = self._model.profile
        return sanitize(text, profile.markers, profile.known, self.make_titles())

    def find_leaks(self, answer: str) -> tuple[str, ...]:
        """Find the plumbing that would stand in the answer once it is rendered."""
        profile = self._model.profile
        return find_leaks(self._strip_markdown(answer), profile.markers, profile.known, answer)

    def clean(self, answer: str) -> str:
        """Clean the answer, or a piece of it, so that nothing leaks when it is rendered."""
        stripped = self._strip_markdown(answer)
        if stripped == answer or not self.find_leaks(answer):
            return answer
        return self.sanitize(stripped)

    def _strip_markdown(self, answer: str) -> str:
        profile = self._model.profile
        return strip_markdown(answer, profile.markers, profile.known)

    def make_titles(self) -> ToolTitles | None:
        """Make what says titles for the names of tools; None where the user asks about tools."""
        history = self._history
        if asks_about_tools(history.user_request):
            return None
        user = history.messages[history.turn_start].content
        worked_on = [
            message.content
            for message in history.messages[-WORKED_ON:]
            if message.role == "tool" and message.call_id not in history.failed_calls
        ]
        names = self._model.profile.names
        titles = {tool.name: tool.title for tool in self._registry}
        offered = {names[name]: title for name, title in titles.items() if name in names}
        return ToolTitles({**offered, **titles}, "\n".join([user, *worked_on]))
