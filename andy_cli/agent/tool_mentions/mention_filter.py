"""Follows sentences through text that arrives in pieces, and leaves out those that narrate calls.

Lines of code fences, block quotes, tables and headings are passed on as they come.
"""

from andy_cli.agent.tool_mentions.narration import hopeless, narration, tells_more, without_act
from andy_cli.compiler.expression import Expression
from andy_cli.compiler.visible import Gaps

PIECE = 4096
ENDED = Expression(r"[.!?\u2026]+[\"'\u201d\u2019)\]*_]*(?=\s|\Z)")
MAY_END = Expression(r"[.!?\u2026]+[\"'\u201d\u2019)\]*_]*\Z")
SHORT = Expression(r"(?i)(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|mr|mrs|dr|st)|^\s*\d+)\.\Z")
ITEM = Expression(r"[ \t]*(?:[-*+\u2022]|\d+[.)])[ \t]+")
FENCES = ("```", "~~~")
BLANKS = " \t\r\ufeff"


class MentionFilter:
    """Build a new one for each text. With no `tools`, only markers can be named."""

    def __init__(self, tools: tuple[str, ...]) -> None:
        self._tools = tools
        self._gaps = Gaps()
        self._held = ""
        self._fence = ""
        self._line = ""  # what the line is: nothing yet, `as it is`, `item` or `text`
        self._passing = False  # the sentence is no narration: its rest goes as it comes
        self._marks = ""  # the quotation marks and backticks of the sentence so far
        self.left_out: list[str] = []
        """The sentences that were taken out."""

    def feed(self, text: str) -> str:
        for at in range(0, len(text), PIECE):
            self._read(text[at : at + PIECE], final=False)
        return self._gaps.passed()

    def finish(self) -> str:
        """What is left; an answer of nothing but narration is told minus its markers."""
        self._read("", final=True)
        if self._gaps.empty and self.left_out:
            return self._gaps.finish() + "".join(self.left_out).strip()
        return self._gaps.finish()

    def _read(self, text: str, final: bool) -> None:
        self._held += text
        while self._held:
            before = (len(self._held), self._line)
            if not self._line:
                self._begin_line(final)
            elif self._line == "as it is":
                self._pass_to_line_end()
            else:
                self._sentence(final)
            if (len(self._held), self._line) == before:
                return

    def _begin_line(self, final: bool) -> None:
        start = self._held.lstrip(BLANKS)
        known = final or "\n" in start or len(start) >= 6
        if not known:
            return
        if self._fence:
            closed = start.startswith(self._fence)
            self._fence = "" if closed else self._fence
            self._line = "as it is"
        elif start.startswith(FENCES):
            run = start[: len(start) - len(start.lstrip(start[0]))]
            self._fence, self._line = run, "as it is"
        elif start[:1] in (">", "|", "#"):
            self._line = "as it is"
        else:
            self._line = "item" if ITEM.match(self._held) else "text"

    def _pass_to_line_end(self) -> None:
        end = self._held.find("\n") + 1
        self._gaps.show(self._held[:end] if end else self._held)
        self._held = self._held[end:] if end else ""
        self._line = "" if end else self._line

    def _sentence(self, final: bool) -> None:
        """One sentence, or as much of it as can be passed on."""
        end, line_ends = self._end(final)
        if end is not None:
            sentence, self._held = self._held[:end], self._held[end:]
            self._say(sentence)
            self._passing, self._marks = False, ""
            if line_ends:
                self._gaps.show(self._held[:1])
                self._held, self._line = self._held[1:], ""
        elif final:
            sentence, self._held = self._held, ""
            self._say(sentence)
        elif self._passing or hopeless(self._unmarked(self._held)):
            self._passing = True
            tail = MAY_END.search(self._held, max(0, len(self._held) - 12))
            sure = tail.start() if tail else len(self._held)
            self._marks += marks(self._held[:sure])
            self._gaps.show(self._held[:sure])
            self._held = self._held[sure:]

    def _end(self, final: bool) -> tuple[int | None, bool]:
        """Where the sentence ends in what is held, and whether the line does too."""
        line = self._held.find("\n")
        if self._line == "text":
            for match in ENDED.finditer(self._held if line < 0 else self._held[:line]):
                if match.end() == len(self._held) and not final:
                    break
                before = self._held[: match.end()]
                if not (open_marks(self._marks + marks(before)) or SHORT.search(before)):
                    return match.end(), match.end() == line
        return (line, True) if line >= 0 else (None, False)

    def _unmarked(self, sentence: str) -> str:
        """Without the mark of a list's item."""
        item = ITEM.match(sentence) if self._line == "item" else None
        return sentence[item.end() :] if item else sentence

    def _say(self, sentence: str) -> None:
        words = self._unmarked(sentence)
        act = None if self._passing else narration(words, self._tools)
        if act is None or (self._line == "item" and ENDED.search(words.rstrip()[:-1])):
            self._gaps.show(sentence)
            return
        said = sentence[: len(sentence) - len(words)] + without_act(words, act)
        if tells_more(words, act):
            self._gaps.show(said)
        else:
            self.left_out.append(said)
            self._gaps.take_out()


def marks(text: str) -> str:
    return "".join(each for each in text if each in '"`\u201c\u201d')


def open_marks(found: str) -> bool:
    """A quotation or inline code that began has not ended."""
    paired = found.count('"') % 2 or found.count("`") % 2
    return bool(paired) or found.count("\u201c") > found.count("\u201d")
