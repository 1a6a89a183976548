"""Find the figures in an answer - numbers, shares, dates, times, sizes - and look them up. Pure.

A figure is supported if the evidence holds it, if it is the count, sum, mean or span of one column
of a result, or what two columns of it make, or if it comes about from others (derived_figures.py).
Nothing else is reckoned: of many figures any could be made.
"""

from collections.abc import Callable, Iterator, Sequence

from andy_cli.agent.grounding.evidence import Claim, EvidenceIndex
from andy_cli.agent.grounding.figures.answer_figures import (
    PERCENT,
    PLAIN,
    AnswerFigure,
    is_marker,
    read_values,
)
from andy_cli.agent.grounding.figures.dates import DATE, TIME, PartialDate, read_date, read_time
from andy_cli.agent.grounding.figures.derived_figures import (
    is_computed,
    is_converted,
    is_multiple,
    list_factors,
)
from andy_cli.agent.grounding.figures.evidence_figures import EvidenceFigures
from andy_cli.agent.grounding.figures.quantities import (
    COMPACT,
    FIGURE,
    SCALES,
    SIZE,
    UNITS_OF_TIME,
    NumberLine,
    Quantity,
    read_clock_seconds,
    read_duration,
    read_number,
    read_number_word,
    read_size,
)
from andy_cli.agent.grounding.text.segmentation import (
    Sentence,
    find_lists,
    find_table_columns,
    fold_text,
    split_words,
)
from andy_cli.agent.grounding.text.vocabulary import STOP, WEEKDAYS
from andy_cli.compiler.expression import Expression


def holds_date(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = DATE.match(text)
    if match is None:  # a day and a month, or a number with the full stop of its sentence
        match = DATE.match(f"{text}.")
        if match is None or holds_number(text, evidence_figures):
            return True
    return any(
        all(is_known_date(day, evidence_figures) for day in meaning) for meaning in read_date(match)
    )


def is_known_date(day: PartialDate, evidence_figures: EvidenceFigures) -> bool:
    return any(is_same_date(day, other) for other in evidence_figures.days)


def is_same_date(day: PartialDate, known_day: PartialDate) -> bool:
    """Tell whether two dates agree in what both of them name; a month must be known."""
    return (
        (not day.month or day.month == known_day.month)
        and (not day.day or not known_day.day or day.day == known_day.day)
        and (not day.year or not known_day.year or day.year == known_day.year)
    )


def holds_time(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = TIME.match(text)
    if match is None:
        return True
    if all(
        any(evidence_figures.holds_time(time.minutes) for time in end) for end in read_time(match)
    ):
        return True
    # `3 h 27` may be how long it takes.
    durations = read_duration(text) if COMPACT.fullmatch(text) else []
    seconds = [*read_clock_seconds(text), *(duration.value for duration in durations)]
    return any(evidence_figures.seconds.has_near(Quantity(value, 0.5)) for value in seconds)


def holds_weekday(text: str, evidence_figures: EvidenceFigures) -> bool:
    name = fold_text(text)
    number = WEEKDAYS.get(name, WEEKDAYS.get(name.removesuffix("s"), WEEKDAYS.get(f"{name[:2]}日")))
    return number is None or not evidence_figures.weekdays or number in evidence_figures.weekdays


def holds_size(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = SIZE.match(text)
    if match is None:
        return True
    readings = [*read_size(match["number"], match["unit"]), *read_number(match["number"])]
    return any(
        evidence_figures.bytes.has_near(reading) or evidence_figures.has_near(reading)
        for reading in readings
    )


def holds_duration(text: str, evidence_figures: EvidenceFigures) -> bool:
    readings = [Quantity(value, max(slack, 0.5)) for value, slack in read_duration(text)]
    # Seconds that are left out may have been cut off as well as rounded.
    cut_readings = [Quantity(value + slack, 2 * slack) for value, slack in readings if slack >= 30]
    if any(map(evidence_figures.seconds.has_near, readings + cut_readings)):
        return True
    plain = [reading for number in FIGURE.compiled.findall(text) for reading in read_number(number)]
    return len(plain) == 1 and evidence_figures.has_near(plain[0])


def holds_percent(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = PERCENT.match(text)
    readings = read_number(match["number"]) if match else []
    shares = [Quantity(value / 100, slack / 100) for value, slack in readings]
    return any(map(evidence_figures.has_near, [*readings, *shares]))


def holds_number(text: str, evidence_figures: EvidenceFigures) -> bool:
    match = PLAIN.match(text)
    if match is None:
        return True
    scale = SCALES.get((match["scale"] or "").casefold(), 1)
    readings = read_number(match["number"])
    scaled = [Quantity(value * scale, slack * scale) for value, slack in readings]
    return any(map(evidence_figures.has_near, readings + scaled))


def holds_number_word(text: str, evidence_figures: EvidenceFigures) -> bool:
    value = read_number_word(text)
    return value is None or evidence_figures.has_near(Quantity(value, 0.1))


def holds_version(text: str, evidence_figures: EvidenceFigures) -> bool:
    return fold_text(text).lstrip("v") in evidence_figures.index.text


HOLDS: dict[str, Callable[[str, EvidenceFigures], bool]] = {
    "date": holds_date,
    "time": holds_time,
    "weekday": holds_weekday,
    "size": holds_size,
    "duration": holds_duration,
    "percent": holds_percent,
    "number": holds_number,
    "spelled": holds_number_word,
    "version": holds_version,
}


def find_figure_claims(
    prose: str,
    figures: Sequence[AnswerFigure],
    spoken: Sequence[Sentence],
    evidence_figures: EvidenceFigures,
) -> Iterator[Claim]:
    """Find the figures told of something that the results know, and that nothing supports."""
    groups = [*find_lists(prose), *find_table_columns(prose)]
    lengths = NumberLine(float(len(group)) for group in groups)
    supported = [figure for figure in figures if HOLDS[figure.kind](figure.text, evidence_figures)]
    unknown = set(figures).difference(supported)
    factors = list_factors(figures)
    for figure in figures:
        if figure not in unknown or not is_checkable(figure, spoken, evidence_figures):
            continue
        in_table = prose[prose.rfind("\n", 0, figure.start) + 1 :].lstrip().startswith("|")
        if not (
            is_computed(figure, supported, is_exact=in_table)
            or is_multiple(figure, factors, evidence_figures)
            or any(map(lengths.has_near, read_values(figure)))
        ):
            yield Claim(figure.text, figure.start, figure.end, figure.kind)


def is_checkable(
    figure: AnswerFigure, spoken: Sequence[Sentence], evidence_figures: EvidenceFigures
) -> bool:
    """Tell whether the figure is stated, of something that the results are about."""
    sentence = next(
        (candidate for candidate in spoken if candidate.start <= figure.start < candidate.end), None
    )
    if sentence is None or sentence.question or is_marker(figure, sentence):
        return False
    is_short = len(spoken) <= SHORT_ANSWER
    return is_about(figure, sentence, evidence_figures.index, is_short) and not is_converted(
        figure, sentence, evidence_figures
    )


KINDS_GIVEN = {
    "percent": Expression(r"%|percent|ratio|share"),
    "size": Expression(r"\d\s?[kmgt]i?b?\b|byte|size|_[kmgt]b"),
    "duration": Expression(
        rf"\d:\d\d|\d\s?(?:{UNITS_OF_TIME})(?![a-zа-я])|second|minute|hour|duration|_ms\b"
    ),
    "time": Expression(r"\d[:h]\d\d|\d\s?(?:am|pm|uhr|h)\b|\d[時时点]"),
}
"""Signs in results that they have figures of a kind: of others everybody may know some."""
UNIT = Expression(r"\s?(°|[^\W\d_]{1,2}[²³]?(?![^\W\d_]))")


def has_kind(figure: AnswerFigure, sentence: Sentence, index: EvidenceIndex) -> bool:
    """Tell whether the results have figures of this kind, or in this unit, at all."""
    if pattern := KINDS_GIVEN.get(figure.kind):
        return pattern.search(index.given) is not None
    unit = UNIT.match(fold_text(sentence.text[figure.end - sentence.start :]))
    return figure.kind != "number" or unit is None or unit[1] in index.given


BARE = 3
YEAR = Expression(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d)")


SHORT_ANSWER = 2
"""Sentences that say what was asked for and no more."""


def is_about(
    figure: AnswerFigure, sentence: Sentence, index: EvidenceIndex, is_short: bool
) -> bool:
    """Tell whether its sentence shares a telling word with the results: of other things everybody
    may know figures. A short answer is about what was asked."""
    if figure.kind == "spelled":
        return is_counted(figure, sentence, index)
    if figure.kind == "number" and YEAR.fullmatch(figure.text) and not YEAR.search(index.given):
        return False
    if not has_kind(figure, sentence, index):
        return False
    text = fold_text(sentence.text)
    return share_word(text, index, is_short or figure.kind == "date") or (
        not text.isascii() and share_letters(text, index)
    )


def is_counted(figure: AnswerFigure, sentence: Sentence, index: EvidenceIndex) -> bool:
    """Tell whether the results know what a spelled number counts: `three songs`."""
    following_text = fold_text(sentence.text[figure.end - sentence.start :][:40])
    words = split_words(following_text)[:2]
    return any(word not in STOP and index.contains_stem(word) for word in words)


def share_word(text: str, index: EvidenceIndex, with_question: bool = False) -> bool:
    known_words = index.given_words
    # What bare figures are of stands in the question, and when something is.
    if with_question or sum(map(str.isalpha, known_words)) < BARE:
        known_words = index.words
    shared = known_words.intersection(split_words(text))
    return any(len(word) > 2 and word not in STOP and not word[0].isdigit() for word in shared)


def share_letters(text: str, index: EvidenceIndex) -> bool:
    """Tell whether two Chinese or Japanese letters side by side stand in the results too."""
    letter_pairs = (text[position : position + 2] for position in range(len(text) - 1))
    return any(
        all("\u2e80" <= letter <= "\u9fff" for letter in letter_pair) and letter_pair in index.given
        for letter_pair in letter_pairs
    )
