"""Find what opens an entry of that which a step finds: `find X and show me the whole thing`.

opening.toml has what people say.
"""

import tomllib
from functools import cache
from pathlib import Path

from andy_cli.models.inside.planning.choosing import Phrase, make_phrase, name_things, sum_nearest
from andy_cli.models.inside.planning.command_kinds import find_entry_kind, reads_one, takes_one
from andy_cli.models.inside.planning.planned_request import PlannedRequest, Step
from andy_cli.models.inside.values.numbers import find_ordinal

UNNAMED = 0.07
"""Added to the nearness of an opener, which is no kind that is learned, and of which fewer phrases
are known than of a command."""


def find_opener(request: PlannedRequest, step: Step, text: str) -> Step | None:
    """Find the step that shows what the other finds, where the text asks for that and no more."""
    nearest = find_taker(request, step.at)
    if nearest is None or not request.choices[nearest].only_looks or not request.has_examples:
        return None
    is_asked_again = request.compare(text).best == step.at
    return None if is_asked_again or not asks_to_see(request, text) else Step(nearest, text, 1.0)


def find_taker(request: PlannedRequest, finder: int) -> int | None:
    """Find the command that takes an entry of what another finds: of several the one whose
    description is nearest.
    """
    kind = find_entry_kind(request.choices[finder])
    takers = [at for at, choice in enumerate(request.choices) if kind and takes_one(choice, kind)]
    near = request.compare_commands(finder, takers)
    return max(takers, key=near.__getitem__, default=None)


def asks_to_see(request: PlannedRequest, text: str) -> bool:
    """Tell whether a text asks to see what was found, and is nearer to nothing else."""
    if find_ordinal(text) is not None:
        return False  # an entry of a list, which may be played as well
    scores = request.compare(text)
    choices = zip(request.choices, scores.commands, strict=True)
    others = (score for choice, score in choices if not reads_one(choice))
    return measure_openings(request, text) + UNNAMED >= max(scores.talk, *others)


def measure_openings(request: PlannedRequest, text: str) -> float:
    """Measure how near a text is to what is said to see what was found."""
    plain = name_things(text, request.names)
    written, named = list_openings()
    near, nearer = request.encoder.closeness(text, written), request.encoder.closeness(plain, named)
    return sum_nearest([(one + other) / 2 for one, other in zip(near, nearer, strict=True)])


@cache
def list_openings() -> tuple[tuple[str, ...], tuple[str, ...]]:
    """List the phrases, and the same without the names in them."""
    phrases = load_openings()
    return tuple(phrase.text for phrase in phrases), tuple(phrase.plain for phrase in phrases)


@cache
def load_openings() -> tuple[Phrase, ...]:
    file = Path(__file__).with_name("opening.toml")
    spoken = tomllib.loads(file.read_text(encoding="utf-8"))
    return tuple(make_phrase(said) for phrases in spoken.values() for said in phrases)
