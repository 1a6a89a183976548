"""What in a request speaks for plain talk: courtesies and questions of general knowledge. Pure."""

import re
from collections.abc import Mapping, Sequence

from andy_cli.models.inside.features import Asked

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
OWN = re.compile(r"\b(my|mine|our|here|this (folder|directory|computer|machine))\b", re.I)


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
        "t_noverb": float(not request.first),
        "t_notopic": float(max((each["cover"] for each in tools), default=0.0) < 0.15),
    }
