"""The part of a call's arguments that, while they arrive, is sure to stay as it is.

    {"path": "~/mu        all of it, where `path` is a text: whatever follows, this is its beginning
    {"level": "7          `{` alone, where `level` is a number: the value may be corrected
    {"Level               `{`, for there is no such parameter

What is sure goes on to the client at once. From the first place on that is not, nothing does, until
it is known what the call means: what follows then is `write_rest`. A value that is another one then
is written once more: of a name that an object has twice JSON's readers take the last value, and a
model that writes one twice means that.
"""

import json
import re
from collections.abc import Mapping
from typing import Literal

from andy_cli.compiler.mapper.mapper import map_call
from andy_cli.messages import Arguments, Schema

Place = Literal["begin", "first", "key", "colon", "value", "text", "after", "end", "broken"]
BLANK = re.compile(r"[ \t\n\r]*")
TEXT = re.compile(r'(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*')
"""Of a text of JSON, up to its end, or to what may be no part of one."""
ESCAPE = re.compile(r"\\(?:u[0-9a-fA-F]{0,3})?\Z")
"""An escape that is not whole yet."""
PLAIN_END = re.compile(r"[,}\s\]]")
"""Behind a number, `true`, `false` or `null`."""
STRUCTURE = re.compile(r'\\.|["{}\[\]]', re.DOTALL)
LIMITED = frozenset({"enum", "const", "pattern", "format", "maxLength", "minLength"})
"""Rules for a text that can be checked at its end alone."""


NEXT: Mapping[tuple[Place, str], Place] = {
    ("begin", "{"): "first",
    ("colon", ":"): "value",
    ("after", ","): "key",
}
SURE_PLACES = ("first", "text", "after", "end")
"""Places up to which all is sure: a name is once its value is, or has begun."""


def write_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


class SureArguments:
    def __init__(self, parameters: Schema) -> None:
        self.text = ""
        self.sure = 0
        """Characters of `text`."""
        self.end = 0
        """The place behind the last brace of the object; 0 while that has not come."""
        self._parameters = parameters
        declared = parameters.get("properties")
        self._properties = declared if isinstance(declared, Mapping) else {}
        self._place: Place = "begin"
        self._at = 0
        self._key = ""
        self._began = 0
        """The start of the last text."""
        self._open: str | None = None
        """The name of the text whose end has not come."""
        self._done: dict[str, object] = {}
        """The values that are whole, and sure."""
        self._looked = 0
        """Of a value: how far its brackets were counted."""
        self._depth = 0
        self._in_text = False

    @property
    def is_whole(self) -> bool:
        """It is one object, and fits."""
        return self._place == "end" and self.sure == len(self.text)

    @property
    def begins(self) -> bool:
        """More of it is sure than that it is an object."""
        return bool(self.text[: self.sure].strip("{ \t\r\n"))

    def add_text(self, text: str) -> None:
        self.text += text
        while self._place != "broken" and self._read_next():
            pass

    def write_rest(self, arguments: Arguments) -> str | None:
        """Write what follows the sure part, so that all of it means these; None if nothing can."""
        if self.end:
            return "" if self.is_whole or arguments == self._done else None
        if not self.sure:
            return write_json(arguments)
        if not arguments.keys() >= self._sure_names:
            return None
        others = {
            key: value
            for key, value in arguments.items()
            if key not in self._done or self._done[key] != value
        }
        begun = self._began_text()
        if begun is None:
            return _write_others(others, behind=bool(self._done))
        return _write_open_rest(begun, str(self._open), others)

    @property
    def _sure_names(self) -> set[str]:
        """Names of the values that have gone on, or have begun to."""
        return {*self._done} if self._open is None else {*self._done, self._open}

    def _began_text(self) -> str | None:
        """The text whose beginning is sure and whose end is not."""
        if self._open is None:
            return None
        return str(json.loads(f'{self.text[self._began : self.sure]}"'))

    def _read_next(self) -> bool:
        """Read one more part; False where there is none that is whole."""
        if self._place == "text":
            return self._read_text()
        blank = BLANK.match(self.text, self._at)
        self._at = blank.end() if blank else self._at
        if self._place == "end":
            self.sure = self._at
        if self._at == len(self.text):
            return False
        character = self.text[self._at]
        if next_place := NEXT.get((self._place, character)):
            return self._move_to(next_place)
        match self._place, character:
            case "first" | "key", '"':
                return self._read_key()
            case "value", '"' if self._is_plain_text():
                self._began, self._open = self._at, self._key
                return self._move_to("text")
            case "value", _:
                return self._read_value()
            case "first" | "after", "}" if self._has_required():
                self.end = self._at + 1
                return self._move_to("end")
        self._place = "broken"
        return False

    def _move_to(self, next_place: Place, end: int = 0) -> bool:
        self._at = end or self._at + 1
        self._place = next_place
        if next_place in SURE_PLACES:
            self.sure = self._at
        self._looked, self._depth, self._in_text = self._at, 0, False
        return True

    def _read_key(self) -> bool:
        key_match = TEXT.match(self.text, self._at + 1)
        end = key_match.end() if key_match else self._at
        if self.text[end : end + 1] != '"':
            return self._is_unfinished(end)
        self._key = str(json.loads(self.text[self._at : end + 1]))
        if self._key in self._done or self._key not in self._properties:
            self._place = "broken"
            return False
        return self._move_to("colon", end + 1)

    def _read_text(self) -> bool:
        text_match = TEXT.match(self.text, self._at)
        self._at = self.sure = text_match.end() if text_match else self._at
        if self.text[self._at : self._at + 1] == '"':
            self._done[self._key] = json.loads(self.text[self._began : self._at + 1])
            self._open = None
            return self._move_to("after")
        return self._is_unfinished(self._at)

    def _is_unfinished(self, position: int) -> bool:
        """A text goes on as far as it was read; else it is none."""
        if position < len(self.text) and not ESCAPE.match(self.text, position):
            self._place = "broken"
        return False

    def _read_value(self) -> bool:
        end = self._find_end()
        if not end:
            return False
        try:
            value = json.loads(self.text[self._at : end])
        except (ValueError, RecursionError):
            value = None
            self._place = "broken"
        if self._place == "broken" or not self._fits_schema(value):
            self._place = "broken"
            return False
        self._done[self._key] = value
        return self._move_to("after", end)

    def _find_end(self) -> int:
        """Find where the value ends; 0 while that is not known."""
        if self.text[self._at] not in '"{[':
            value_end = PLAIN_END.search(self.text, self._at)
            return value_end.start() if value_end else 0
        limit = len(self.text) - self.text.endswith("\\")
        for structure_sign in STRUCTURE.finditer(self.text, self._looked, limit):
            self._looked = structure_sign.end()
            if structure_sign[0] == '"':
                self._in_text = not self._in_text
            elif not self._in_text:
                self._depth += (structure_sign[0] in "{[") - (structure_sign[0] in "}]")
            if not self._in_text and self._depth <= 0 and not structure_sign[0].startswith("\\"):
                return structure_sign.end()
        return 0

    def _is_plain_text(self) -> bool:
        schema = self._properties[self._key]
        return schema.get("type") == "string" and LIMITED.isdisjoint(schema)

    def _fits_schema(self, value: object) -> bool:
        """Tell whether the mapper would leave the value as it is."""
        shared = {key: schema for key, schema in self._parameters.items() if key.startswith("$")}
        properties = {self._key: self._properties[self._key]}
        parameters = {**shared, "type": "object", "properties": properties}
        tool = {"type": "function", "function": {"name": "tool", "parameters": parameters}}
        mapped = map_call("tool", {self._key: value}, {"tool": tool}, lambda name: False)
        unchanged = [call.arguments for call in mapped.calls] == [{self._key: value}]
        return unchanged and not (mapped.problems or mapped.changes)

    def _has_required(self) -> bool:
        required = self._parameters.get("required")
        return not isinstance(required, list) or self._done.keys() >= set(required)


def _write_open_rest(begun: str, name: str, others: Arguments) -> str:
    """Write the rest of a text that has begun, and the arguments after it."""
    value, rest = others[name], '"'
    if isinstance(value, str) and value.startswith(begun):
        rest = write_json(value[len(begun) :])[1:]
        others = {key: other for key, other in others.items() if key != name}
    return rest + _write_others(others, behind=True)


def _write_others(others: Arguments, behind: bool) -> str:
    comma = ", " if others and behind else ""
    return comma + write_json(others)[1:]
