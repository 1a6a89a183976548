"""What in a request speaks for plain talk: courtesies and questions of general knowledge. Pure."""

import json
import re
from collections.abc import Callable, Mapping, Sequence

from andy_cli.messages import Choice, Wire
from andy_cli.models.inside.dialogue import ordered, read_turn
from andy_cli.models.inside.features import Asked, asked, profile
from andy_cli.models.inside.words import things, words

GREETING = re.compile(
    r"^\W*(hello|hi|hey|good (morning|evening|afternoon|day|night|job)|thanks?|thank you|cheers|bye"
    r"|goodbye|see you|ok|okay|yes|yeah|no|nope|great|nice|cool|wow|perfect|awesome|excellent"
    r"|sorry|never ?mind|welcome|you are|you're|you made|i am|i'm|i feel|i love|i like|i hate"
    r"|well done|haha|lol|that (was|is|helped|works?))\b",
    re.I,
)
QUESTION = re.compile(
    r"^\W*(what (is|are|does|was|were|do you)|what's (a|an|the|your)|who|why"
    r"|how (many|old|do|does|are|is|can|come|much|far|long)|when|where|which|is|are|do|does|did"
    r"|can you|could you|explain|tell me|give me|write me|name|describe|define)\b",
    re.I,
)
WHAT = (
    r"what (is|are) (a|an)\b",
    r"what('s| is| was) the (meaning|difference|capital|point|reason|largest|highest|longest|best"
    r"|boiling)",
    r"what does .* mean",
)
WHO = (
    r"who (is|was|were|are|invented|wrote|painted|discovered|made|won)",
    r"which \w+ is",
    r"when (was|did)",
    r"where (is|was) \w+$",
)
HOW = (
    r"why",
    r"how (do|does|did|can|should) (?!i (get|have))",
    r"how (many|old|tall|big|far|long|much)\b",
    r"is (a|an|it true)\b",
    r"are you",
    r"do you (?!know|have|see|remember)",
)
CAN = (
    r"can (a|an|you|people|\w+s)\b(?! (find|search|play|open|read|show|send|run|list|turn|put"
    r"|tell me wh|look|get|make|start|stop|please))",
)
PLEASE = (
    r"explain|define|describe",
    r"tell me (about|a|an|more|something)",
    r"give me (a|an|some|\w+) (advice|tips?|ideas?|names?|examples?)",
    r"write (me )?(a|an) (\w+ )?(poem|story|song|haiku|joke|essay|limerick)",
    r"name (a|an|some|three|two|five)",
)
KNOWLEDGE = re.compile(rf"^\W*({'|'.join((*WHAT, *WHO, *HOW, *CAN, *PLEASE))})", re.I)
OWN = re.compile(
    r"\b(my|mine|our|here|now|currently|still|this (folder|directory|computer|machine))\b", re.I
)


def _knowledge(request: Asked) -> bool:
    """Asked for what everybody may know, and for nothing of the user's own."""
    own = request.kinds or OWN.search(request.text)
    return not own and bool(KNOWLEDGE.search(request.text))


def talk_features(request: Asked, tools: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """What speaks for plain talk, given how well the tools fit."""
    return {
        "t_bias": 1.0,
        "t_greet": float(bool(GREETING.search(request.text))),
        "t_general": float(bool(QUESTION.search(request.text))),
        "t_knowledge": float(_knowledge(request)),
        "t_things": float(bool(request.kinds)),
        "t_noverb": float(not request.first and not request.state),
        "t_notopic": float(max((each["cover"] for each in tools), default=0.0) < 0.15),
    }


COURTESIES = (
    # (what is said, what may be answered)
    (
        r"thanks?|thank (?:you|u)|thx|ty|cheers|danke|gracias|merci",
        ("You're welcome.", "Glad to help."),
    ),
    (
        r"hello|hi|hey|hiya|howdy|good (?:morning|evening|afternoon|day)|hallo|hola|bonjour",
        ("Hello! What can I do for you?", "Hi! What can I do for you?"),
    ),
    (
        r"bye|goodbye|see (?:you|ya)|good night|tsch\u00fcss|adi\u00f3s",
        ("Goodbye!", "See you soon!"),
    ),
    (r"sorry|my (?:bad|mistake)|never ?mind|forget it", ("No problem.", "That is all right.")),
    (
        r"(?:you are|you're|that (?:was|is)|that's|well|good|great|nice|cool|wow|perfect|awesome"
        r"|excellent|amazing|lovely|haha|lol)",
        ("Thank you!", "I am glad you like it."),
    ),
    (r"my name is|call me", ("Nice to meet you.", "Nice to meet you!")),
    (r"ok|okay|yes|yeah|yep|no|nope|alright|fine|sure|i see", ("All right.", "Okay.")),
    (r"how are you|how's it going|how do you do", ("I am fine, thank you.", "I am well, thanks.")),
    (
        r"who are you|what are you|what(?:'s| is) your name",
        ("I am andy, a small assistant on your computer.",),
    ),
)
CANNOT_KNOW = "I am a very small model and cannot know that."
ENGLISH_ONLY = "I am a very small model and cannot understand that: I know English only."
LOST = ("I am not sure what you mean.", "I do not know how to do that.")
LONGEST_COURTESY = 6
"""Words; more than that is about something."""
ABILITY = re.compile(
    r"^\W*(?:(?:so |and |hi,? |hello,? )?what (?:can|could|do) (?:you|u) (?:do|help)\b"
    r"|help(?: me)?\W*$"
    r"|how (?:can|could|do) (?:you help|i use)|what are you (?:able|good))",
    re.I,
)
ABILITIES = 6
Tokens = Callable[[str], Sequence[int]]
PIECES = 1.5
"""Tokens a word, names left out: no English request of three words or more in
tests/corpora/requests has more, and most in German, Spanish, French and Italian have."""
FEWEST = 3
"""Words by which that can be told."""
SENTENCES = r"""root ::= sentence (" " sentence)?
sentence ::= [A-Z0-9"] rest{2,160} [.!?]
rest ::= [^.!?\n<>*#] | [0-9] "." [0-9]
"""
"""One or two sentences of plain text."""


def talk_grammar(messages: Sequence[Wire], choices: Sequence[Choice], tokens: Tokens) -> str:
    """GBNF for what is said where no tool was used: a courtesy for a courtesy, else one or two
    sentences. So small a model cannot say what it is able to do; the tools say it. To a language
    that it was not taught it would answer something else than was asked.
    """
    text = read_turn(messages).request.replace("\u2019", "'")
    if ABILITY.search(text):
        return _either([able(choices)])
    if len(text.split()) <= LONGEST_COURTESY:
        for said, replies in COURTESIES:
            if re.match(rf"\W*(?:{said})\b(?! (?:what|how|who|is|do|can)\b)", text, re.I):
                return _either(replies)
    if is_foreign(text, tokens):
        return _either([ENGLISH_ONLY])
    if _orders(text):
        return _either(LOST)
    return _either([CANNOT_KNOW]) if _about_here(text, choices) else SENTENCES


def is_foreign(text: str, tokens: Tokens) -> bool:
    """Whether the model knows the words so little that it has to spell them."""
    for each in reversed(things(text)):
        text = text[: each.start] + " " + text[each.end :]
    first, *rest = text.split() or [""]
    plain = " ".join([first, *(word for word in rest if not word[0].isupper())])  # no names
    said = [word for word in words(plain) if not any(map(str.isdigit, word))]
    return len(said) >= FEWEST and len(tokens(f" {' '.join(said)}")) > PIECES * len(said)


def is_unread(text: str, tokens: Tokens) -> bool:
    """Whether what should be done cannot be told: another language, and no verb that is known."""
    return not asked(text).first and is_foreign(text, tokens)


def _about_here(text: str, choices: Sequence[Choice]) -> bool:
    """It asks for something of the user's own, of which the model knows nothing without a tool."""
    request = asked(text)
    known = {topic for choice in choices for topic in profile(choice).main_topics}
    return request.asks and bool(request.kinds or OWN.search(text) or request.topics & known)


def _orders(text: str) -> bool:
    """It wants something done, and no tool does it."""
    free = QUESTION.search(text) or KNOWLEDGE.search(text)
    return bool(asked(text).first) and ordered(text) and not free


def able(choices: Sequence[Choice]) -> str:
    """`I can list the files in a folder, play a song and stop the music.`"""
    trusted = [each for each in choices if not each.beyond]
    found = [each.about.partition("\n")[0].strip().rstrip(".") for each in trusted]
    doing = [f"{each[:1].lower()}{each[1:]}" for each in found if each][:ABILITIES]
    if not doing:
        return "I can chat with you."
    return f"I can {'; '.join(doing)}."


def too_small(model: str, command: Choice, choices: Sequence[Choice]) -> str:
    """What is said instead of a command that the model is not trusted with."""
    trusted = [words(each.about)[:1] for each in choices if not each.beyond]
    *some, last = dict.fromkeys(verb for first in trusted for verb in first) or [""]
    can = f" It can {', '.join(some)} and {last}." if some else ""
    return (
        f"{model} is too small to {command.beyond} safely.{can} "
        "/model in chat and `andy models list` show what else is here."
    )


def _either(texts: Sequence[str]) -> str:
    quoted = (json.dumps(" ".join(each.split()), ensure_ascii=False) for each in texts)
    return f"root ::= {' | '.join(quoted)}\n"
