"""List the control tokens of chat templates, and tell whose turn one of them begins.

One table for everything that reads or writes them: the lexer takes them out of replies, and data
on its way to a model has them escaped. A token of a template that is not listed is found by its
form, `<|name|>`.
"""

import re
from collections.abc import Sequence
from itertools import product
from typing import Literal, NamedTuple

REASONING = {
    "<think>": ("</think>", "</thinking>"),
    "[THINK]": ("[/THINK]",),
    "<thinking>": ("</thinking>", "</think>"),
    "<reasoning>": ("</reasoning>",),
    "<scratchpad>": ("</scratchpad>",),
    "<scratch_pad>": ("</scratch_pad>",),
    "<reflection>": ("</reflection>",),
    "<seed:think>": ("</seed:think>",),
    "<mm:think>": ("</mm:think>",),
    "<ifm|think>": ("</ifm|think>", "<ifm|/think>"),
    "\u25c1think\u25b7": ("\u25c1/think\u25b7",),
    "<|START_THINKING|>": ("<|END_THINKING|>",),
    "<|inner_prefix|>": ("<|inner_suffix|>",),
    "<|channel>thought": ("<channel|>",),
    "<|open|>think<|sep|>": ("<|close|>think<|sep|>",),
    "<|content_thinking|>": ("<|end_message|>",),
    "<|think|>": ("<|end|>",),
    "Here is my thought process:": ("Here is my response:",),
    "Here are my reasoning steps:": ("[BEGIN FINAL RESPONSE]",),
}
"""Openers of reasoning -> its closers."""

CLOSERS = tuple(
    dict.fromkeys(closer for end_markers in REASONING.values() for closer in end_markers)
)
"""Closers of reasoning that the prompt has opened, whatever the family."""

_SHARED = ("<|end_message|>", "<|end|>", "<channel|>", "Here is my response:")
SPLITTING = tuple(closer for closer in CLOSERS if closer not in _SHARED)
"""Closers that say of what stands before them that it was thought, also if nothing opened it."""

WORDY = tuple(opener for opener in REASONING if opener[0].isalpha())
"""Openers that are plain words."""
PROMPTED = (*WORDY, "<thinking>", "<reasoning>", "<scratchpad>", "<scratch_pad>", "<reflection>")
"""Openers that no template writes: without their closer they are an answer that begins so."""
HARMONY = ("<|end|>", "<|start|>", "<|channel|>")
"""Further closers of reasoning that the prompt has opened."""

STRIPPED_OPENER = "analysis"
"""Begins a reply of gpt-oss whose server took the tokens out and left the names of channels."""
STRIPPED_CLOSERS = {"assistantfinal": 14, "assistantcommentary to=": 9}
"""Ends of the thoughts of such a reply, and how many characters begin nothing else."""

_RESULT_WORDS = ("response", "result", "output")


def _name_protocol(joints: Sequence[str], words: Sequence[str]) -> tuple[str, ...]:
    """`tool_call`, `function_calls` and so on: a thing, a joint, a word, perhaps in the plural."""
    parts = product(("tool", "function"), joints, words, ("", "s"))
    return tuple(map("".join, parts))


_LABELS = ("request", "call", *_RESULT_WORDS, "execution", "use")
LABELS = tuple(f"[{label}]" for label in _name_protocol((" ", "_", "-", ""), _LABELS))
"""Labels that models write before a call or a result, in any case of letters."""
RESULTS = _name_protocol("_", _RESULT_WORDS)
"""Elements that tell a result."""
CALLS = _name_protocol("_", ("call", "request", "use", "code"))
"""Elements that hold a call."""
_JOINTS = ("_", "-", "")
RESULT_FENCES = frozenset(_name_protocol(_JOINTS, _RESULT_WORDS))
"""Info words of fences that tell a result."""
_FENCES = _name_protocol(_JOINTS, ("call", "code", "use", "request"))
FENCES = (frozenset(_FENCES) | RESULT_FENCES) - {"functioncode", "functionuse"}
"""Info words of fences that hold protocol, whatever stands in them."""

COMMENT = ("<!--", "-->")
"""The opener and the closer of a comment in a page."""

ANSWER_TAGS = ("answer", "final_answer", "final", "response")
ANSWERS = tuple(f"<{name}>" for name in ANSWER_TAGS)
"""Tokens with which an answer begins that stands after thoughts."""
ANSWER_ENDS = tuple(f"</{name}>" for name in ANSWER_TAGS)
LITERAL = (
    *("</s>", "<s>", "<eos>", "<bos>", "<seed:eos>", "[e~[", "<end_of_turn>", "<start_of_turn>"),
    *("[INST]", "[/INST]", "[AVAILABLE_TOOLS]", "[/AVAILABLE_TOOLS]", "<<SYS>>", "<</SYS>>"),
    *("[END FINAL RESPONSE]", "[BEGIN FINAL RESPONSE]", "<start_function_response>"),
    *("<end_function_response>", "[/TOOL_CALLS]", "<longcat_s>", "</longcat_s>"),
    *("[|system|]", "[|user|]", "[|assistant|]", "[|tool|]", "[|endofturn|]"),
    *(*ANSWERS, *ANSWER_ENDS),
)
"""Tokens that have no form of their own."""

DOCUMENT_ENDS = ("<|endoftext|>", "<|end_of_text|>", "<eos>")
"""Tokens after which another text begins, which is none of the answer."""

FORMS = (
    r"<\|(?:open|close)\|>[^<>|\n]{1,100}<\|sep\|>",  # Kimi K3: a name between two of them
    r"<\|[\w.:/\-]{1,60}\|>",
    r"<\uff5c[\w\u2581.:/ \-]{1,60}\uff5c>",
    r"<\|[a-z][a-z_]{1,40}>",
    r"<[a-z][a-z_]{1,40}\|>",
)
"""The forms of control tokens, as expressions."""
_TURN_END = re.compile(rf"(?:(?:{'|'.join([*map(re.escape, LITERAL), *FORMS])})\s*)+\Z")
NESTED = r"<\|\w{0,20}<\|\w{1,40}\|>\w{0,20}\|?>"
"""A token inside another one: taken out alone, it would leave one after."""
BEGUN = re.compile(
    r"<(?:\|(?:[\w.:/\-]{0,60}\|?(?:<(?:\|?\w{0,40}\|?>?\w{0,20}\|?)?)?)?"
    r"|\uff5c[\w\u2581.:/ \-]{0,60}\uff5c?|[a-z][a-z_]{0,40}\|?"
    r"|\|(?:open|close)\|>[^<>|\n]{0,100}(?:<(?:\|(?:s(?:ep?)?\|?)?)?)?)?\Z"
)
"""The beginning of a token at the end of a text."""

OWN_ROLES = frozenset(["assistant", "model", "bot", "ai", "gpt"])
FOREIGN_ROLES = frozenset(
    "user human system tool tools function ipython observation developer environment".split()
)
MAX_END_LENGTH = 80
"""Characters at the end of a text that hold the token which ends the turn."""
_HEAD = frozenset("start turn header role begin open sep im message id of token".split())
_RESULT = frozenset("response responses result results output outputs".split())
_CALL = frozenset("tool tools calls action plugin function functions python args".split())
_WORD = re.compile(r"[a-z]+")
ROLE_AHEAD = re.compile(r"[ \t]*(?P<role>[A-Za-z]{2,20})(?:\.[\w.]{1,80})?(?=[ \t]*(?:\n|<|:|\Z))")
ROLE_BEGUN = re.compile(r"[ \t]*[A-Za-z]{0,20}[ \t]*\Z")

Turn = Literal["own", "foreign", "result", ""]
"""The speaker after a token: the model, somebody else, a tool; empty where it does not say."""


class Header(NamedTuple):
    """The turn that a token begins, and how many characters after it belong to it."""

    turn: Turn
    size: int = 0


def names_call(token: str) -> bool:
    """Tell whether a token belongs to a call: without one it is a word about them."""
    words = set(_WORD.findall(token.lower()))
    return bool(words & _CALL) and not words & _RESULT and words - _HEAD != {"tool"}


def strip_turn_end(text: str) -> str:
    """Take out the token at the end of a text that ends the turn, or begins another's."""
    token = _TURN_END.search(text, max(0, len(text) - MAX_END_LENGTH))
    return text if token is None or names_call(token[0]) else text[: token.start()]


def read_header(token: str, following_text: str, final: bool) -> Header | None:
    """Tell what a control token begins; None while the text after it is too short to say."""
    words = set(_WORD.findall(token.lower()))
    if words & _RESULT and words & {"tool", "function"}:
        return Header("result")
    if token in ("[INST]", "<<SYS>>"):
        return Header("foreign")
    turn = _turn_of(words)
    begins_header = "end" not in words and (turn or words & _HEAD)
    if not (begins_header or token in DOCUMENT_ENDS):
        return Header(turn)
    if not final and ROLE_BEGUN.match(following_text):
        return None
    return _read_role(turn, following_text)


def _read_role(turn: Turn, following_text: str) -> Header:
    """Read the role after a token that begins a header; a foreign turn stays one."""
    role = ROLE_AHEAD.match(following_text)
    named_turn = _turn_of({role["role"].lower()}) if role else ""
    if role is None or not named_turn:
        return Header(turn)
    size = role.end() + following_text.startswith((":", "\n"), role.end())
    return Header(named_turn if turn != "foreign" else turn, size)


def _turn_of(words: set[str]) -> Turn:
    """Tell the role that a token names, if it names nothing else."""
    role_words = words - _HEAD
    if role_words and role_words <= OWN_ROLES:
        return "own"
    return "foreign" if role_words and role_words <= FOREIGN_ROLES else ""
