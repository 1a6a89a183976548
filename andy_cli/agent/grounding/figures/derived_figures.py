"""Figures that stand nowhere and come about from others: by the answer's own reckoning, as a
multiple of one of the evidence, or in another unit. Pure.
"""

import itertools
from collections.abc import Callable, Iterator, Sequence

from andy_cli.agent.grounding.figures.answer_figures import AnswerFigure, read_values
from andy_cli.agent.grounding.figures.evidence_figures import CHANCE, EvidenceFigures
from andy_cli.agent.grounding.figures.quantities import NumberLine, Quantity
from andy_cli.agent.grounding.text.segmentation import Sentence, fold_text
from andy_cli.compiler.expression import Expression

MAX_DISTANCE = 400
"""Characters on either side in which an answer shows what it reckons with."""
MAX_OPERANDS = 12
PERIODS = (7, 12, 24, 52, 60, 365, 1000)
"""Numbers that people multiply by without saying so: days of a week, months, hours, metres."""
PRECISE = 3
"""Digits of a figure that does not come about by chance."""


def is_computed(
    figure: AnswerFigure, supported: Sequence[AnswerFigure], is_exact: bool = False
) -> bool:
    """Tell whether the answer itself shows how the figure comes about: from two of those near it,
    or as the sum of them all, or of those with as many decimals. `is_exact`: it is not rounded.
    """
    sought = read_values(figure)
    if is_exact:
        sought = list(map(make_exact, sought))
    near_figures = [other for other in supported if abs(other.start - figure.start) < MAX_DISTANCE]
    operands = [values[0] for other in near_figures if (values := read_values(other))]
    results = NumberLine(combine(operands, sought))
    return any(map(results.has_near, sought))


def combine(operands: Sequence[Quantity], sought: Sequence[Quantity]) -> Iterator[float]:
    """Reckon with the last of the numbers, and add up those with as many decimals as `sought`."""
    yield from combine_pairs([operand.value for operand in operands][-MAX_OPERANDS:])
    slack = min((quantity.slack for quantity in sought), default=0.0)
    yield sum(operand.value for operand in operands if operand.slack == slack)


def make_exact(quantity: Quantity) -> Quantity:
    """Take a round number as it is."""
    return quantity._replace(slack=min(quantity.slack, 0.5))


def combine_pairs(operands: Sequence[float]) -> Iterator[float]:
    """Add up all numbers, and reckon with each two of them."""
    yield sum(operands)
    for first, second in itertools.permutations(operands, 2):
        yield from (first + second, first - second, first * second)
        if second:
            yield from (first / second, 100 * first / second, 100 * (first - second) / second)


def is_precise(text: str) -> bool:
    """Tell whether a figure has so many digits that it is hardly right by chance."""
    return count_digits(text) >= PRECISE


def count_digits(text: str) -> int:
    return sum(map(str.isdigit, text))


def list_factors(figures: Sequence[AnswerFigure]) -> list[float]:
    """List the small numbers of an answer, and the periods, that one may multiply or divide by."""
    values = {read[0].value for figure in figures if (read := read_values(figure))}
    small = [value for value in values if 1 < value < CHANCE and not value * 2 % 1]
    return [factor for number in (*small, *PERIODS) for factor in (number, 1 / number)]


def is_multiple(
    figure: AnswerFigure, factors: Sequence[float], evidence_figures: EvidenceFigures
) -> bool:
    """Tell whether a precise figure is one of the evidence, times or divided by one of the factors:
    `5.25 a day, 26.25 for the five days`."""
    if not is_precise(figure.text):
        return False
    products = (
        Quantity(quantity.value / factor, quantity.slack / factor)
        for quantity in map(make_exact, read_values(figure))
        for factor in factors
    )
    return any(map(evidence_figures.numbers.has_near, products))


CONVERTED: Sequence[tuple[Expression, Callable[[float], float]]] = (
    (Expression(r"°?\s?f\b"), lambda value: (value - 32) / 1.8),
    (Expression(r"°?\s?c\b"), lambda value: value * 1.8 + 32),
    (Expression(r"(?:miles?|mi|mph|meilen|millas|milles)\b"), lambda value: value * 1.609344),
    (Expression(r"(?:km|kilom\w+|km/h)\b"), lambda value: value / 1.609344),
    (Expression(r"(?:lbs?|pounds?)\b"), lambda value: value * 0.45359),
    (Expression(r"(?:feet|foot|ft)\b"), lambda value: value * 0.3048),
)
"""Converts a figure with this unit after it into the unit that it was given in."""


def is_converted(
    figure: AnswerFigure, sentence: Sentence, evidence_figures: EvidenceFigures
) -> bool:
    following_text = fold_text(sentence.text[figure.end - sentence.start :][:12]).lstrip(" |*_")
    in_table = "|" in sentence.text
    for unit, convert in CONVERTED:
        if in_table or unit.match(following_text):
            scale = convert(1.0) - convert(0.0)
            converted = (
                Quantity(convert(value), max(0.6 * scale, 0.6, slack * scale))
                for value, slack in read_values(figure)
            )
            if any(map(evidence_figures.numbers.has_near, converted)):
                return True
    return False
