"""Output without secrets, while it streams: what is kept on disk passes here first (P4).

Whole lines are looked at, and lines that belong together together: a private key has many, and a
value may stand in the line below its name.
"""

import re
from collections.abc import Sequence

from andy_cli.guard.redactor import may_hold_secret, redact_text

MAX_CHARACTERS = 1 << 20
"""Characters that are held back at most."""
SMALL = 2048
"""Characters that are looked at as one: the thorough look is slow, so little is given to it."""

KEY = "-----BEGIN"
OPEN_KEY = re.compile(r"-----BEGIN[ A-Z]*-----(?!.*-----END)", re.DOTALL)
GOES_ON = re.compile(r"(?i)(?:[:=>]|bearer|basic)\s*\Z")


class Scrubber:
    def __init__(self, secrets: Sequence[str] = ()) -> None:
        """`secrets` are values that are known to be some."""
        self._secrets = secrets
        self._held = ""

    def feed(self, text: str) -> str:
        """Take in text and return what can be written now."""
        self._held += text
        cut_position = self._held.rfind("\n") + 1
        ready = self._held[:cut_position]
        if len(self._held) < MAX_CHARACTERS and (not ready or self._goes_on(ready)):
            return ""
        ready, self._held = (ready, self._held[cut_position:]) if ready else (self._held, "")
        return self._clean(ready)

    def finish(self) -> str:
        ready, self._held = self._held, ""
        return self._clean(ready)

    def _goes_on(self, text: str) -> bool:
        text_end = text[-2 * SMALL :]
        key_position = text.rfind(KEY)
        return GOES_ON.search(text_end) is not None or (
            key_position >= 0 and bool(OPEN_KEY.match(text, key_position))
        )

    def _clean(self, text: str) -> str:
        if not may_hold_secret(text, self._secrets):
            return text
        cut_position = self._middle(text) if len(text) > SMALL and KEY not in text else 0
        if not cut_position:
            return redact_text(text, self._secrets)
        return self._clean(text[:cut_position]) + self._clean(text[cut_position:])

    def _middle(self, text: str) -> int:
        """Find where it can be cut in two: after a line that is whole in itself; 0 for nowhere."""
        cut_position = text.find("\n", len(text) // 2) + 1
        while cut_position and GOES_ON.search(text[max(0, cut_position - SMALL) : cut_position]):
            cut_position = text.find("\n", cut_position) + 1
        return cut_position if cut_position < len(text) else 0
