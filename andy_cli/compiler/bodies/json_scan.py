"""Follow one JSON value to its end, also where quotes inside its strings are not escaped."""

from andy_cli.compiler.expression import Expression

OUTSIDE = Expression(r"[\"'`{}\[\]()]")
INSIDE = Expression(r"[\"'`\\\u201e]")
OPENERS = {"]": "[", ")": "("}
FULL_WIDTH = str.maketrans("\uff1a\uff0c", ":,")
"""The colon and the comma of Chinese text, which models write between keys and values too."""
KEY = Expression(
    r"(?:\"(?:\\[^\n]|[^\"\\\n])*+(?:\\?\Z|\"\s*)"
    r"|'(?:\\[^\n]|[^'\"\\\n])*+(?:\\?\Z|'\s*)|\w[\w\-]*\s*)(?P<colon>:?)"
)
"""A key and its colon, or their beginning."""
MAX_AHEAD = 100
"""Characters after a comma that are looked at."""


class JsonScan:
    """Follows one JSON value, or what a model takes for one, to its end.

    A quotation mark ends a string only if what follows could follow that string, so that
    `"say "hi" to him"` is one string. In the value of a key, what opened inside closes inside too:
    `"f("a", "b");"` is one. Where a quote follows brackets right behind the end of a value, that
    was no end: `"a { b: "}"; }"`. Single quotes, and the backticks of JavaScript, count where a
    value or key may start. Text is looked at in order, and each character once.
    """

    def __init__(self, begun: str = "", pairs_quotes: bool = True) -> None:
        """`begun`: what of the value was read before. `pairs_quotes`: none stands there alone."""
        self.began = False
        self._pairs_quotes = pairs_quotes
        self.inner_quotes: list[int] = []
        """The places of double quotes that stand unescaped inside a string of such."""
        self._open: list[str] = []  # brackets
        self._quote = ""
        self._is_value = False  # the string is the value of a key
        self._is_quoting = False  # an inner quote opened, the next one closes
        self._quotes_low = False  # a low quotation mark opened
        self._escaped = False
        self._before = ""  # the character before a quote that may end its string
        self._behind: str | None = None  # what follows that
        self._blanks = 0  # between the two
        self._size = 0  # characters that were followed
        self._last = ""  # the last character outside strings that is not blank
        self._previous = ""
        self._ended: tuple[list[str], int] | None = None
        """The open brackets, and the place of the quote, where the value of a key ended; while
        nothing but brackets follows it."""
        self.feed(begun)

    @property
    def in_string(self) -> bool:
        return bool(self._quote) and not self._behind

    @property
    def in_open_text(self) -> bool:
        """A string goes on: no quotation mark stands last that may have ended it."""
        return bool(self._quote) and self._behind is None

    @property
    def may_go_on(self) -> bool:
        """Nothing but brackets follows a text, which goes on if a quote comes next."""
        return self._ended is not None

    def feed(self, text: str, position: int = 0) -> int | None:
        """Index one past the end of the value in this piece; None while it goes on."""
        while position < len(text):
            if self._behind is not None:
                position = self._look_behind_quote(self._behind, text[position], position)
            else:
                position = self._follow(text, position)
            if self.began and not self._open and not self._quote:
                return position
        return None

    def _follow(self, text: str, position: int) -> int:
        follow = self._follow_string if self._quote else self._follow_outside
        end = follow(text, position)
        self._size += end - position
        self._previous = text[end - 1]
        return end

    def _follow_outside(self, text: str, position: int) -> int:
        outside_match = OUTSIDE.search(text, position)
        passed_text = text[position : outside_match.start()] if outside_match else text[position:]
        if passed_text:
            self._ended = None
        if stripped_text := passed_text.rstrip():
            self._last = stripped_text[-1].translate(FULL_WIDTH)
        if not outside_match:
            return len(text)
        if outside_match[0] == '"' and self._ended is not None:
            self._go_on(*self._ended)
        else:
            self._take_sign(outside_match[0])
        return outside_match.end()

    def _take_sign(self, character: str) -> None:
        """Take a bracket, or a quotation mark where a string may begin."""
        if character in "{[(":
            self._open.append(character)
            self.began = True
        elif character in "}])":
            del self._open[-1:]
        elif self._open and (character == '"' or self._last in "{[,:(="):
            self._open_string(character)
        if character not in "}]":
            self._ended = None
        self._last = character

    def _go_on(self, open_brackets: list[str], place: int) -> None:
        """Take the text that ended at that place for one that goes on behind the quote here."""
        self._open, self._ended = open_brackets, None
        self.inner_quotes += [place, self._size]
        self._quote, self._is_value = '"', True

    def _open_string(self, quote: str) -> None:
        self._quote, self._is_value = quote, self._last == ":"
        self._is_quoting = self._quotes_low = False

    def _follow_string(self, text: str, position: int) -> int:
        if self._escaped:
            self._escaped = False
            return position + 1
        inside_match = INSIDE.search(text, position)
        if not inside_match:
            return len(text)
        start = inside_match.start()
        if inside_match[0] == "\\":
            self._escaped = True
        elif inside_match[0] == "\u201e":
            self._quotes_low = True
        elif inside_match[0] == self._quote:
            self._before = text[start - 1] if start else self._previous
            self._take_quote(self._size + start - position)
        return start + 1

    def _take_quote(self, place: int) -> None:
        """Close what an inner quote opened, else wait for what follows."""
        if self._is_quoting:
            if self._quote == '"':
                self.inner_quotes.append(place)
            self._is_quoting = False
        else:
            self._behind = ""

    def _look_behind_quote(self, behind: str, character: str, position: int) -> int:
        """Look at the next character after a quote; once they say what it was, follow them all."""
        if not behind and character.isspace():
            self._blanks += 1
            return position + 1
        behind += character
        is_end = self._tell_end(behind)
        self._behind = behind if is_end is None else None
        if is_end is not None:
            self._decide_quote(is_end)
            is_tight = is_end and self._is_value and behind[0] in "}]" and not self._blanks
            self._ended = (self._open.copy(), self._size - 1) if is_tight else None
            self._size += self._blanks
            self._blanks = 0
            self.feed(behind)  # nothing in it ends the value, but its last character
        return position + 1

    def _decide_quote(self, is_end: bool) -> None:
        if is_end:
            self._quote, self._last = "", '"'
        elif self._quote == '"':
            self.inner_quotes.append(self._size - 1)
            is_inch_or_low = self._before.isdigit() or self._quotes_low
            self._is_quoting = self._is_value and self._pairs_quotes and not is_inch_or_low
            self._quotes_low = False
        elif self._quote == "`":
            self._is_quoting = True

    def _tell_end(self, behind: str) -> bool | None:
        """Tell whether a string ends before this text; None while it is too short to say."""
        if behind[0] == "\uff0c" and not self._is_value:
            return _begins_element(behind)
        behind = behind.translate(FULL_WIDTH)
        character = behind[0]
        if character == ",":
            return _begins_key(behind) if self._is_value else True
        if character == ":":
            return not self._is_value
        return character == "}" or OPENERS.get(character, "") in self._open


def _begins_element(behind: str) -> bool | None:
    """Tell whether no word of a sentence follows the comma; None while that is open."""
    next_character = behind[1:].lstrip()[:1] if len(behind) <= MAX_AHEAD else ","
    return not next_character.isalpha() if next_character else None


def _begins_key(behind: str) -> bool | None:
    """Tell whether a key follows the comma, or what is no word; None while that is open."""
    if len(behind) > MAX_AHEAD:
        return True
    name = behind[1:].lstrip()
    if not name:
        return None
    if not (name[0].isalnum() or name[0] in "_\"'"):
        return True
    key = KEY.match(name)
    if key is not None and key.end() == len(name) and not key["colon"]:
        return None
    return key is not None and bool(key["colon"])
