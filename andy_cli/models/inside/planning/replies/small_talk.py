"""Fixed answers of the small model: to greetings, to what it cannot know, to what it cannot do.

It writes none of them itself, for it would invent something. `talk.toml` beside this file has what
people say, by the kind of talk.
"""

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

from andy_cli.actions import fill_action
from andy_cli.messages import Choice
from andy_cli.models.inside.values.parameters import summarize_command
from andy_cli.models.inside.values.words import is_question

UNCLEAR = "I cannot tell what you mean: I am a very small model. {able}"
CANNOT_KNOW = "I am a very small model and cannot know that."
CANNOT_ANSWER = "I am a very small model and cannot answer: {part}?"
"""The answer to a question that stands beside a wish which was carried out."""
UNSURE = "I am not sure that {file} answers this: I am a very small model and cannot know that."
"""The answer to a question whose nearest file was read."""
CANNOT_DO = "I cannot do this."
"""The reason why a wish was not carried out that stands beside one which was."""
I_AM_TOO_SMALL = "I am too small to {beyond} safely."
"""The reason why such a wish was not carried out, where the model is not trusted with it."""
MODEL_IS_TOO_SMALL = "{model} is too small to {beyond} safely."
"""The answer to a wish that the model is not trusted with, and the reason where it is listed."""
QUESTIONS = frozenset({"knowledge", "own"})
"""Kinds that are answered with what cannot be known, unless a file is about that."""
MIN_NEARNESS = 0.83
"""Nearness to the nearest kind of talk below which it is none of them."""
COURTESIES = frozenset({"greeting", "thanks", "goodbye", "okay", "complaint"})
MIN_COURTESY = 0.895
"""Nearness below which a text is no courtesy. It is higher, for `what about him` is as short as one
and so near to it: of 197 that were meant four are farther."""
ASKS_NOTHING = COURTESIES - {"greeting"}
"""Courtesies that are no question: `why not` is none of them."""
AGAIN = "again"
"""The kind of what is a wish for the same once more."""
MAX_ABILITIES = 12
"""Verbs that a list of what the model can do names at most."""
ABSENT = "I cannot do that: it is not set up. `andy doctor` shows what is missing. {able}"
"""The answer to a wish for a tool that cannot be used now; its name is the kind."""
ANSWERS: Mapping[str, str] = {
    "greeting": "Hello! What can I do for you?",
    "thanks": "You're welcome.",
    "goodbye": "Goodbye!",
    "okay": "All right.",
    "complaint": "I am sorry. I am a very small model and may be wrong: say it in other words.",
    AGAIN: UNCLEAR,
    "mood": "I see. Tell me if there is something that I can do.",
    "reason": UNCLEAR,
    "who": "I am andy, a small assistant on your computer.",
    "abilities": "{able}",
    "create": "I cannot do that well: I am a very small model. {able}",
    "knowledge": CANNOT_KNOW,
    "own": CANNOT_KNOW,
    "beyond": "I cannot do that. {able}",
}
"""Kind of talk -> what is answered."""


def is_refused(kind: str) -> bool:
    """Tell whether talk of the kind is a wish for what no tool does, or none that can be used."""
    return kind == "beyond" or kind not in ANSWERS


@cache
def load_examples() -> Mapping[str, tuple[str, ...]]:
    """Load the phrases of talk by its kind."""
    file = Path(__file__).with_name("talk.toml")
    kinds = tomllib.loads(file.read_text(encoding="utf-8"))
    return {
        kind: tuple(dict.fromkeys(phrase for spoken in languages.values() for phrase in spoken))
        for kind, languages in kinds.items()
    }


YES = (
    "yes", "yes please", "yeah", "sure, do it", "ok, go on", "go ahead", "ja", "ja bitte", "klar",
    "oui", "oui, vas-y", "s\u00ed", "s\u00ed, por favor", "s\u00ec", "certo",
)  # fmt: skip
NO = ("no", "no thanks", "nope", "better not", "nein", "nein danke", "non", "non merci")


def is_far(text: str, kind: str, nearness: float) -> bool:
    """Tell whether a text is too far from the kind of talk that it is nearest to: `till when?` is
    no goodbye, however near."""
    if kind in ASKS_NOTHING and text.rstrip().endswith("?"):
        return True
    return nearness < (MIN_COURTESY if kind in COURTESIES else MIN_NEARNESS)


def is_unclear(text: str, kind: str, nearness: float) -> bool:
    """Tell whether talk of the kind is answered with that it is not understood."""
    return is_far(text, kind, nearness) or ANSWERS.get(kind) == UNCLEAR


def answer_talk(
    text: str, kind: str, nearness: float, choices: Sequence[Choice], said: str = ""
) -> str:
    """Answer a text, talk of the kind that it is nearest to. What the model can do is listed once,
    not again where that was `said` just before.
    """
    answer = ANSWERS.get(kind, ABSENT)
    if is_far(text, kind, nearness):
        answer = UNCLEAR
    elif kind in ASKS_NOTHING and is_question(text):
        answer = CANNOT_KNOW
    able = list_abilities("I", choices, "" if kind == "abilities" else said)
    return answer.format(able=able).strip()


def list_abilities(who: str, choices: Sequence[Choice], said: str = "") -> str:
    """`I can list the files or the music, read a file and stop the music.` Nothing where that was
    `said` just before.
    """
    *some, last = name_abilities(choices)[:MAX_ABILITIES] or ["chat"]
    able = f" can {', '.join(some)} and {last}." if some else f" can {last}."
    return "" if able in said else who + able


def name_abilities(choices: Sequence[Choice]) -> list[str]:
    """Name what commands do, those of one verb together: `list the files or the music`."""
    objects_by_verb: dict[str, dict[str, None]] = {}
    for choice in choices:
        action = fill_action(choice.action, {}) or summarize_command(choice)
        verb, _, thing = action.partition(" ")
        if verb and not choice.beyond:
            objects = objects_by_verb.setdefault(verb.lower(), {})
            if thing:
                objects[thing] = None
    return [f"{verb} {' or '.join(objects)}".strip() for verb, objects in objects_by_verb.items()]


def explain_too_small(
    model: str, command: Choice, choices: Sequence[Choice], said: str = ""
) -> str:
    """Say that the model is too small for a command, what it can do, and where to find others."""
    refusal = MODEL_IS_TOO_SMALL.format(model=model, beyond=command.beyond)
    others = "/model in chat and `andy models list` show what else is here."
    return " ".join(filter(None, (refusal, list_abilities("It", choices, said), others)))
