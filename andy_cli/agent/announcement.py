"""Replies that say what the model will do, and do nothing: announcements, and calls in words."""

import re
from collections.abc import Sequence

from andy_cli.agent.conversation import Conversation
from andy_cli.agent.grounding.action_claims import mask_quotations
from andy_cli.agent.grounding.evidence import FILE
from andy_cli.agent.grounding.text.languages import detect_languages
from andy_cli.agent.grounding.text.segmentation import split_sentences
from andy_cli.agent.turn_state import TurnState
from andy_cli.agent.unread_files import find_unread_files
from andy_cli.compiler.compiler import asks_for_code
from andy_cli.compiler.dialect import Tools
from andy_cli.foreign_values import read_json
from andy_cli.messages import Effect

MAX_CHARACTERS = 160
"""Characters; more is an answer."""
MIN_WORDS = 4
"""Words; fewer is an answer too."""
STEM_LETTERS = 4
"""Letters by which words are the same: `list` and `listing`, `Lied` and `Lieder`."""
LEADING_WORDS = 2
LOOKS = (Effect.READ, Effect.NETWORK, Effect.PROTOCOL)
OPEN_END = (":", "\uff1a", "...", "\u2026")
SUBSTANCE = re.compile(r"[\d`\"'\u2018\u201c\u201e\u00ab/\\<>\n|*#]")
CONTRACTION = re.compile(r"(?<=\w)['\u2019](?=\w)")
WORD = re.compile(r"[^\W\d_]+")
VALUE = re.compile(r"\"[^\"]*\"|'[^']*'|\w+\s*=\s*[^\s,)]+")


def should_nudge(conversation: Conversation, state: TurnState, written: str) -> bool:
    """Tell whether the answer only announces something, is one line about a file that nothing
    has looked at, or little but the name of a tool: then the model is told once to do it, or to
    say that it was the answer.

    One whose steps are chosen announces nothing, and would take that for the user's next wish.
    """
    if state.announcement or conversation.client.guided or state.answer != state.reply_text:
        return False
    if not conversation.model.profile.tools:
        return False
    user, tools = conversation.history.user_request, conversation.model.profile.tools
    if only_announces(user, state.answer, is_done=state.calls > 0):
        return True
    return is_bare_call(written.strip(), user, tools) or leaves_undone(conversation, state)


def leaves_undone(conversation: Conversation, state: TurnState) -> bool:
    """Tell whether one line that asks nothing ends with what is still to be done, or is about a
    file that nothing has looked at."""
    answer = state.answer
    if not is_short_line(answer) or asks_something(answer):
        return False
    is_unread = not state.calls and bool(find_unread_files(conversation, answer))
    return is_unread or announces_change(conversation, answer)


def announces_change(conversation: Conversation, reply: str) -> bool:
    """Tell whether a reply ends with what the speaker is going to do, to a file that it names or
    after mere looks: `I'll change it to Hello now.`"""
    new_actions = [action for action in conversation.tools.actions if not action.earlier]
    is_tried = any(action.effect not in LOOKS for action in new_actions)
    if is_tried or asks_something(conversation.history.user_request):
        return False
    return (bool(new_actions) or FILE.search(reply) is not None) and intends_action(reply)


def intends_action(text: str) -> bool:
    """Tell whether the last sentence begins with what the speaker is going to do, without an `if`;
    what is quoted is somebody else's."""
    sentence = mask_quotations(split_sentences(text)[-1].text)
    for language in detect_languages(text):
        match = language.intends.search(sentence)
        if match is None or not may_lead(sentence[: match.start()]):
            continue
        if not language.unreal.search(f"{sentence[: match.start()]} {sentence[match.end() :]}"):
            return True
    return False


def may_lead(words: str) -> bool:
    """Tell whether words before an intention leave it the speaker's own: `Now`, no `She says:`."""
    return ":" not in words and len(WORD.findall(words)) <= LEADING_WORDS


def only_announces(user: str, reply: str, is_done: bool = False) -> bool:
    """Tell whether a reply that calls nothing announces what the user asked for, and stops.

    No words of any language are looked for. A reply that stops at a colon or an ellipsis has more
    to come. Else it is one short line that repeats a wish of the user and adds nothing to it: no
    figure, no name, no quotation, no place.

    `is_done`: something was done before; then its end alone tells.
    """
    if not is_short_line(reply):
        return False
    line = CONTRACTION.sub(" ", reply.strip())
    if line.endswith(OPEN_END):
        return True
    is_question = "?" in user or asks_something(line)
    words = WORD.findall(line)
    if is_done or len(words) < MIN_WORDS or SUBSTANCE.search(line) or is_question:
        return False
    return _only_repeats_wish(words, user)


def is_bare_call(reply: str, user: str, tools: Tools) -> bool:
    """Tell whether a reply is one line with the name of a tool, values and next to no words: a call
    in a notation of the model's own. Not JSON, nor where the user speaks of that tool or of code.
    """
    if not is_short_line(reply) or reply.endswith(".") or asks_for_code(user):
        return False
    named = [name for name in tools if "_" in name and name in reply]
    if len(named) != 1 or named[0] in user:
        return False
    rest = VALUE.sub(" ", reply.replace(named[0], " ", 1))
    return len(WORD.findall(rest)) < MIN_WORDS and read_json(reply) is None


def is_short_line(reply: str) -> bool:
    """Tell whether a reply is one line that is too short to be more than a word about a wish."""
    return 0 < len(reply.strip()) <= MAX_CHARACTERS and "\n" not in reply.strip()


def asks_something(text: str) -> bool:
    return "?" in text or "\uff1f" in text


def _only_repeats_wish(words: Sequence[str], user: str) -> bool:
    """Tell whether words repeat a wish of the user, and name nothing that the user does not."""
    wished = {_cut_to_stem(word) for word in WORD.findall(user)}
    repeats = any(len(word) >= STEM_LETTERS and _cut_to_stem(word) in wished for word in words)
    names = [word for word in words[1:] if word[0].isupper() and _cut_to_stem(word) not in wished]
    return repeats and not any(len(name) > 1 for name in names)


def _cut_to_stem(word: str) -> str:
    return word.lower()[:STEM_LETTERS]
