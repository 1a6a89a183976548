"""Names and figures that a file is said to hold, and that were not written into it. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePath

from andy_cli.agent.grounding.action_claims import LOCAL_LOOKS
from andy_cli.agent.grounding.change_claims import (
    NUMBER,
    STEM_LENGTH,
    find_values,
    is_unreal,
    read_value,
)
from andy_cli.agent.grounding.evidence import FILE, Claim, EvidenceIndex, parse_result
from andy_cli.agent.grounding.text.segmentation import (
    ListEntry,
    Sentence,
    find_series,
    fold_text,
    split_words,
)


def find_content_claims(spoken: Sequence[Sentence], index: EvidenceIndex) -> Iterator[Claim]:
    """Find the names in a row (`it holds Ada and Bo`) of which a file that was written whole lacks
    some, and the figure that is not the one of which such a file is made."""
    contents = read_written_files(index)
    for sentence in spoken if contents else ():
        files = {*FILE.findall(fold_text(sentence.text))}
        content = contents.get(files.pop()) if len(files) == 1 else None
        if content is not None and not is_unreal(sentence):
            missing = find_missing_names(sentence, content)
            yield from (claim for claim in missing if index.contains(fold_text(claim.text)))
            yield from find_other_figure(sentence, content)


def read_written_files(index: EvidenceIndex) -> Mapping[str, str]:
    """Read what the calls of the turn wrote into whole files, folded, by the names of these; what
    was done afterwards may have changed it."""
    contents: dict[str, str] = {}
    for call in index.evidence.actions or ():
        values = parse_result(call.arguments) if call.is_new_success else None
        if isinstance(values, dict) and {"path", "content"} <= values.keys():
            contents[fold_text(PurePath(str(values["path"])).name)] = fold_text(
                str(values["content"])
            )
        elif call.effect not in LOCAL_LOOKS:
            contents.clear()
    return contents


def find_missing_names(sentence: Sentence, content: str) -> Iterator[Claim]:
    """Find the names that a text lacks, in a row of which it has others."""
    beginnings = list_beginnings(content)
    for series in find_series(sentence):
        names = cut_behind_and(series, sentence)
        missing = [name for name in names if beginnings.isdisjoint(list_beginnings(name.text))]
        for name in missing if len(missing) < len(names) else ():
            yield Claim(name.text, name.start, name.end, "content")


def list_beginnings(text: str) -> set[str]:
    """List the beginnings of words, so that a plural is the same word."""
    return {word[:STEM_LENGTH] for word in split_words(fold_text(text))}


def cut_behind_and(names: Sequence[ListEntry], sentence: Sentence) -> Sequence[ListEntry]:
    """Cut a row of names behind the one that a word joins to it: another sentence may go on."""
    for position in range(1, len(names)):
        start, end = (
            names[position - 1].end - sentence.start,
            names[position].start - sentence.start,
        )
        if any(map(str.isalpha, sentence.text[start:end])):
            return names[: position + 1]
    return ()


def find_other_figure(sentence: Sentence, content: str) -> Iterator[Claim]:
    """Find the one figure of a sentence where a text is but one figure, and another."""
    text = FILE.sub(lambda name: "x" * len(name[0]), sentence.text)
    figures = [*NUMBER.finditer(text)]
    if len(figures) != 1 or not NUMBER.fullmatch(content.strip()):
        return
    if read_value(figures[0]) not in find_values(content):
        start = sentence.start + figures[0].start()
        yield Claim(figures[0][0], start, start + len(figures[0][0]), "content")
