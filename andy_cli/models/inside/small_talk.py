"""What is said where no command is wanted: nothing that could be wrong. Pure."""

from collections.abc import Sequence
from typing import NamedTuple

from andy_cli.messages import Choice
from andy_cli.models.inside.words import words

CANNOT_KNOW = "I am a very small model and cannot know that."
UNCLEAR = "I cannot tell what you mean: I am a very small model. {able}"
FAR = 0.83
"""Nearness to the nearest example below which a question is none that is known to be one."""
COURTEOUS = 0.875
"""The same for what is answered with a courtesy."""
ABILITIES = 6


class Talk(NamedTuple):
    """A kind of talk, known by its nearness in meaning to examples."""

    examples: tuple[str, ...]
    answer: str


TALKS = (
    Talk(
        ("hello", "good morning", "hey, how are you?", "nice to meet you", "hi there"),
        "Hello! What can I do for you?",
    ),
    Talk(
        ("thank you very much", "thanks, that helped", "well done", "you are great", "perfect"),
        "You're welcome.",
    ),
    Talk(("bye", "see you tomorrow", "good night", "I have to go now"), "Goodbye!"),
    Talk(
        ("sorry, my mistake", "never mind", "forget it", "okay", "no", "that is all", "I see"),
        "All right.",
    ),
    Talk(
        ("I am tired today", "I had a good day", "I like it", "what a day", "my name is Peter"),
        "I see. Tell me if there is something that I can do.",
    ),
    Talk(
        ("who are you?", "what is your name?", "are you a robot?", "do you sleep?"),
        "I am andy, a small assistant on your computer.",
    ),
    Talk(("what can you do?", "what can you help me with?", "what are you good for?"), "{able}"),
    Talk(
        (
            "tell me a joke",
            "write a poem about autumn",
            "tell me a story",
            "give me an idea for a present",
            "explain it to me",
        ),
        "I cannot do that well: I am a very small model. {able}",
    ),
    Talk(
        (
            "what is photosynthesis?",
            "what is the highest mountain of Norway?",
            "why is the sky blue?",
            "who invented the telephone?",
            "who composed this opera?",
            "which city is the capital of Mongolia?",
            "why do cats purr?",
            "how many people live in Chile?",
            "how do I cook rice?",
            "what does serendipity mean?",
            "how far away is the moon?",
            "how much is seven times eight?",
            "when did the war end?",
            "what is the difference between a crow and a raven?",
            "what is my sister's name?",
            "how old am I?",
            "did Peter call me back?",
            "when is my birthday?",
            "where did I leave my keys?",
            "what did I eat yesterday?",
            "how much money do I have?",
            "will it be a good year?",
        ),
        CANNOT_KNOW,
    ),
)
EXAMPLES = tuple(example for talk in TALKS for example in talk.examples)
YES = ("yes", "yes please", "sure, do it", "ok, go on")


def answer_talk(closeness: Sequence[float], choices: Sequence[Choice]) -> str:
    """What is answered; `closeness` is that of what was said to each of EXAMPLES."""
    best = max(range(len(EXAMPLES)), key=closeness.__getitem__)
    talk = next(talk for talk in TALKS if EXAMPLES[best] in talk.examples)
    if closeness[best] < (FAR if talk.answer == CANNOT_KNOW else COURTEOUS):
        return UNCLEAR.format(able=list_abilities("I", choices))
    return talk.answer.format(able=describe_abilities(choices))


def describe_abilities(choices: Sequence[Choice]) -> str:
    """`I can list the files in a folder; play a song; stop the music.`"""
    found = [
        each.about.partition("\n")[0].strip().rstrip(".") for each in choices if not each.beyond
    ]
    doing = [f"{each[:1].lower()}{each[1:]}" for each in found if each][:ABILITIES]
    return f"I can {'; '.join(doing)}." if doing else "I can chat with you."


def list_abilities(who: str, choices: Sequence[Choice]) -> str:
    """`I can list, read and play.`"""
    trusted = [words(choice.about)[:1] for choice in choices if not choice.beyond]
    *some, last = dict.fromkeys(verb for first in trusted for verb in first) or ["chat"]
    return f"{who} can {', '.join(some)} and {last}." if some else f"{who} can {last}."


def too_small(model: str, command: Choice, choices: Sequence[Choice]) -> str:
    """What is said instead of a command that the model is not trusted with."""
    return (
        f"{model} is too small to {command.beyond} safely. {list_abilities('It', choices)} "
        "/model in chat and `andy models list` show what else is here."
    )
