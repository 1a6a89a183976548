"""Join what is shown: where something was taken out, no blank line and no double blank is left.

One rule for every front end. Text arrives in pieces; white space at the end waits for what
follows it.
"""

PUNCTUATION = ",.;:!?)"
ENDS = ".!?:"


class Gaps:
    """Takes text in pieces and passes it on."""

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

    @property
    def blank(self) -> str | None:
        """The white space that waits; None where what waits is more than that."""
        return None if self._taken_out else self._space

    def show(self, text: str) -> None:
        if self._taken_out:
            body = text.lstrip()
            self._gap += text[: len(text) - len(body)]
            if not body:
                return
            self._space, text = self._join(body[0]), body
            self._taken_out, self._gap = False, ""
        body = text.rstrip()
        if not body:
            self._space += text
            return
        self._new += [self._space, body]
        self._space, self._last = text[len(body) :], body[-1]

    def take_out(self) -> None:
        """Note that something that stood here is not shown."""
        if self._gap.count("\n") > self._space.count("\n"):
            self._space = self._gap
        self._taken_out, self._gap = True, ""

    def take_frame_out(self) -> None:
        """Note that a frame ends here: the white space before it was inside it."""
        self._gap, self._taken_out = "", True

    def drop_all(self) -> str:
        """Take back all that was shown or waits; returns what had not been passed on."""
        text = "".join([*self._new, self._space])
        self._new, self._space, self._gap, self._last = [], "", "", ""
        self._taken_out = True
        return text

    def _join(self, first_character: str) -> str:
        """Choose the white space between the two texts; the one behind keeps its indent."""
        earlier_space, later_space = self._space, self._gap
        _, line_break, indent = later_space.rpartition("\n")
        if not self._last:
            return indent if line_break else ""
        if later_space.count("\n") > earlier_space.count("\n"):
            return later_space
        if line_break:
            return earlier_space[: earlier_space.rfind("\n") + 1] + indent
        return self._join_words(earlier_space, later_space, first_character)

    def _join_words(self, earlier_space: str, later_space: str, first_character: str) -> str:
        """Choose the white space between two texts of which the second begins no line."""
        if earlier_space + later_space == "" and self._last in ENDS and first_character.isupper():
            return " "
        if "\n" not in earlier_space and not later_space and first_character in PUNCTUATION:
            return ""
        return earlier_space or later_space

    def pass_on(self) -> str:
        """Pass on what can be since the last time."""
        text, self._new = "".join(self._new), []
        return text

    def finish(self) -> str:
        """All that is left; behind what was taken out no white space stays."""
        return self.pass_on() + ("" if self._taken_out else self._space)
