"""White space where something was taken out: no blank line, no double blank is left behind."""

PUNCTUATION = ",.;:!?)"
ENDS = ".!?:"


class Gaps:
    """Takes text in pieces and passes it on; white space at the end waits for what follows."""

    def __init__(self) -> None:
        self._space = ""
        self._gap = ""  # the white space since something was taken out
        self._taken_out = False
        self._last = ""  # the last character that was passed on
        self._new: list[str] = []

    @property
    def empty(self) -> bool:
        """Nothing but white space has come so far."""
        return not self._last

    def show(self, text: str) -> None:
        if self._taken_out:
            body = text.lstrip()
            self._gap += text[: len(text) - len(body)]
            if not body:
                return
            self._space, text = self._joint(body[0]), body
            self._taken_out, self._gap = False, ""
        body = text.rstrip()
        if not body:
            self._space += text
            return
        self._new += [self._space, body]
        self._space, self._last = text[len(body) :], body[-1]

    def take_out(self) -> None:
        if self._gap.count("\n") > self._space.count("\n"):
            self._space = self._gap
        self._taken_out, self._gap = True, ""

    def framed(self) -> None:
        """What came since something was taken out was inside its framing."""
        self._gap = ""

    def _joint(self, first: str) -> str:
        """What stands between the text before and the text behind, which keeps its indentation."""
        before, after = self._space, self._gap
        indent = after.rpartition("\n")[2] if "\n" in after else ""
        if not self._last:
            return indent
        if after.count("\n") > before.count("\n"):
            return after
        if "\n" in after:
            return before[: before.rfind("\n") + 1] + indent
        if before + after == "" and self._last in ENDS and first.isupper():
            return " "
        if "\n" not in before and not after and first in PUNCTUATION:
            return ""
        return before or after

    def passed(self) -> str:
        """What can be passed on since the last time."""
        text, self._new = "".join(self._new), []
        return text

    def finish(self) -> str:
        """All that is left; behind what was taken out no white space stays."""
        return self.passed() + ("" if self._taken_out else self._space)
