"""Take out of foreign text what would drive the terminal: the last step before the screen. Pure.

    neutralize_text(text) what may be shown of a finished text
    Neutralizer           what may be shown of a text that arrives in pieces, whatever the cuts
    one_line(text)        for a place that is one line: a title, a tag, a header
    spell_out(text)       for a place where every character counts: a prompt for a yes, a file name

Taken out are whole escape sequences, what is left of broken ones, the other C0 and C1 controls,
characters that turn the direction of text round, tags and invisible characters. Line breaks, tabs,
every script, emoji and their joiners stay. No text is hidden by a sequence that does not end in its
line, and no length of text costs more than its length.
"""

import re
import unicodedata

CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)
"""Sequences that may never be written to a terminal."""

MAX_CHARACTERS = 4096
"""Characters of a sequence; what goes on longer is text."""

# What costs time to compile is a text until it is first used.
SEQUENCE = (
    r"(?:\x1b\[|\x9b)[0-?]{0,99}[ -/]{0,9}[@-~]"
    rf"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]{{0,{MAX_CHARACTERS}}}"
    r"(?:\x07|\x1b\\|\x9c)"
    r"|\x1b[ -/]{1,9}[0-~]|\x1b[0-OQ-WYZ\\`-~]"
)
OPENER = re.compile("[\x1b\x90\x98\x9b\x9d-\x9f]")
UNFINISHED = (
    r"(?:(?:\x1b\[|\x9b)[0-?]{0,99}[ -/]{0,9}"
    rf"|(?:\x1b[\]PX^_]|[\x90\x98\x9d-\x9f])[^\x00-\x08\x0a-\x1f\x7f-\x9f]{{0,{MAX_CHARACTERS}}}\x1b?"
    r"|\x1b[ -/]{0,9})\Z"
)
INVISIBLE = (
    "[\xad\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u2060-\u2065\u206a-\u206f\u3164"
    "\ufe00-\ufe0d\ufeff\uffa0\ufff0-\ufffb\U0001d173-\U0001d17a\U000e0080-\U000e0fff]"
)
FORMS = "\ufe0e\ufe0f"
"""Selectors of a character's form: as text, as a picture."""

JOINERS = "\u200c\u200d" + FORMS
KEYS = "0123456789#*"
UNSEEN = "\u2800" + FORMS
"""Printable, and yet nothing is seen."""

JOINING = re.compile(f"[{JOINERS}]+")
FOREIGN = re.compile(r"[^\x00-\x7f]{9,}")
FLAGS = re.compile("([\U0001f1e6-\U0001f1ff]{32})[\U0001f1e6-\U0001f1ff]+")
MAX_ACCENTS = 8
"""Accents on one letter: more than any script needs."""

CONTEXT_CHARACTERS = 64
"""Characters that are looked back at, more than any run that is cut off."""


def neutralize_text(text: str) -> str:
    """Safe to write to a terminal, whatever it was; doing it twice changes nothing more.

    Pieces of a text are safe too, but a sequence cut in two leaves its letters: see Neutralizer.
    """
    return _tidy_joiners(_strip_sequences(text))


class Neutralizer:
    """Neutralizes a text that arrives in pieces: the cuts never change what is shown."""

    def __init__(self) -> None:
        self._unfinished = ""
        self._joiners = ""
        self._shown = ""

    def feed(self, text_piece: str) -> str:
        """Return the text that may be shown now; what depends on what follows waits."""
        text = self._unfinished + text_piece
        cut_position = _find_unfinished(text)
        self._unfinished = text[cut_position:]
        clean = self._joiners + _strip_sequences(text[:cut_position])
        decided = clean.rstrip(JOINERS)
        self._joiners = JOINING.sub(_one_of_a_kind, clean[len(decided) :])
        return self._tidy_after_shown(decided)

    def finish(self) -> str:
        """Return the text that had waited."""
        waiting_text = self._joiners + _strip_sequences(self._unfinished)
        self._unfinished = self._joiners = ""
        return self._tidy_after_shown(waiting_text)

    def _tidy_after_shown(self, clean: str) -> str:
        """Tidied as what follows the text shown so far."""
        new_text = _tidy_joiners(self._shown + clean)[len(self._shown) :]
        self._shown = (self._shown + new_text)[-CONTEXT_CHARACTERS:]
        return new_text


def _find_unfinished(text: str) -> int:
    """Find where a sequence begins that the end of the text cuts off; the end, if there is none."""
    openers = [match.start() for match in OPENER.finditer(text)]
    # The last two: what ends a sequence, ESC and a backslash, begins like one itself.
    for position in openers[-2:]:
        if re.compile(UNFINISHED).match(text, position):
            return position
    return len(text)


def one_line(text: str) -> str:
    """Neutralized, with line breaks and tabs as blanks: nothing of it begins a line."""
    return re.sub(r"[\n\t]+", " ", neutralize_text(text))


def spell_out(text: str) -> str:
    r"""Every character can be seen: what is invisible or acts is written as `\n` or `\u200b`."""
    if text.isascii() and text.isprintable():
        return text
    mark_count, spelled = 0, []
    for character in text:
        mark_count = mark_count + 1 if _is_mark(character) else 0
        is_visible = character.isprintable() and not re.match(INVISIBLE, character)
        is_unseen = not is_visible or character in UNSEEN or mark_count > MAX_ACCENTS
        spelled.append(ascii(character)[1:-1] if is_unseen else character)
    return "".join(spelled)


def _strip_sequences(text: str) -> str:
    """Without sequences, controls and what is never seen."""
    if text.isascii() and text.isprintable():
        return text
    return re.sub(INVISIBLE, "", CONTROL.sub("", re.sub(SEQUENCE, "", text)))


def _tidy_joiners(text: str) -> str:
    """Clean text without joiners that join nothing and without endless runs."""
    if text.isascii():
        return text
    text = FLAGS.sub(r"\1", JOINING.sub(_keep_joiners, text))
    return FOREIGN.sub(_with_few_marks, text)


def _keep_joiners(match: re.Match[str]) -> str:
    """Of a run of joiners what joins or forms its neighbours; the ends of the text may join."""
    text = match.string
    character_before = text[match.start() - 1 : match.start()]
    character_after = text[match.end() : match.end() + 1]
    joiners = _one_of_a_kind(match)
    if character_before and character_before.isascii():
        return joiners[:1] if joiners[0] in FORMS and character_before in KEYS else ""
    if character_after and character_after.isascii():
        return joiners.rstrip("\u200c\u200d")
    return joiners


def _one_of_a_kind(match: re.Match[str]) -> str:
    """A run of joiners, shortened: the form that stands first, and the first true joiner."""
    joiners = match[0]
    form_character = joiners[0] if joiners[0] in FORMS else ""
    return form_character + joiners.lstrip(FORMS)[:1]


def _with_few_marks(match: re.Match[str]) -> str:
    """A run of letters that are not plain ones, without the accents nobody could read."""
    mark_count, kept_characters = 0, []
    for character in match[0]:
        mark_count = mark_count + 1 if _is_mark(character) else 0
        if mark_count <= MAX_ACCENTS:
            kept_characters.append(character)
    return "".join(kept_characters)


def _is_mark(character: str) -> bool:
    """Tell whether it stands on or between letters and has no room of its own."""
    return unicodedata.category(character)[0] == "M" or character in JOINERS
