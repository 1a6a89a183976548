"""`I have deleted the file`: sentences that say something was done, and whether it was. Pure."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from andy_cli.agent.grounding.claim import Claim, Deed
from andy_cli.agent.grounding.evidence import Index
from andy_cli.agent.grounding.families import FAMILIES, Family
from andy_cli.agent.grounding.folding import folded, words_of
from andy_cli.agent.grounding.layout import Sentence
from andy_cli.agent.grounding.phrases import (
    ALOUD,
    ALSO,
    AND_ALSO,
    ANY_DEED,
    BYSTANDER,
    CLAIMED,
    GROUPS,
    NAMED,
    OPINION,
    OWN_TEXT,
    RECIPIENT,
    THING,
    UNREAL,
    WORDS,
)
from andy_cli.agent.grounding.shapes import FILE

READING = re.compile(
    r"list|read|get|search|find|found|show|look|check|time|now_playing|status|fetch_page"
    r"|view|query|count|weather|glob|grep|stat"
)
"""Calls that only look: they are no trace of anything else."""


def deed_claims(sentences: Sequence[Sentence], index: Index, text: str) -> Iterator[Claim]:
    """What the answer says was done, with no call or result that did it."""
    for sentence in sentences:
        if sentence.question or verbs().isdisjoint(words_of(folded(sentence.text))):
            continue
        real = False
        for match, verb, group in told(sentence):
            family = family_of(verb)
            rest = clause(sentence.text, match.end())
            real = real or family.name in {"delete", "send"}
            if (group == "more" and not real) or not outside(family, match, group, rest):
                continue
            real = True
            if not done(family, rest, group, index):
                start = (
                    sentence.start
                    + match.start()
                    + len(match[0])
                    - len(match[0].lstrip(" *_>-#\n"))
                )
                end = sentence.start + match.end() + len(rest.rstrip(" *_\"'`\0"))
                yield Claim(text[start:end], start, end, "deed")
                break


@lru_cache(maxsize=1)
def verbs() -> frozenset[str]:
    """Every verb of the families; of one with a hyphen its last part."""
    alternatives = (
        each for family in FAMILIES for each in f"{family.done}|{family.doing}".split("|")
    )
    spelled = {
        form for each in alternatives for form in (each.replace("?", ""), re.sub(r".\?", "", each))
    }
    return frozenset(words_of(form)[-1] for form in spelled if form)


def told(sentence: Sentence) -> Iterator[tuple[re.Match[str], str, str]]:
    """Each verb that says what was done, and which of GROUPS it is; `and sent it` included."""
    own = False
    for match in CLAIMED.finditer(sentence.text):
        group = next(each for each in GROUPS if match[each])
        if stated(match, group, sentence):
            own = own or group in {"past", "doing", "begun", "bare"}
            yield match, match[group], group
    if not own:
        for match in ALSO.finditer(sentence.text):
            if stated(match, "past", sentence):
                yield match, match["past"], "past"
    if own:
        for match in AND_ALSO.finditer(sentence.text):
            if not UNREAL.search(sentence.text):
                yield match, match["more"], "more"


def stated(match: re.Match[str], group: str, sentence: Sentence) -> bool:
    """Is it said as a fact, of now, by the speaker?"""
    before = sentence.text[: match.start()]
    if (
        group == "bare"
        and sentence.text[match.end() : match.end() + 3].strip(" *_").startswith(":")
        and re.match(r"\s*[-*•+]\s|\s*\*\*", sentence.text)
    ):
        return False
    if group == "bare" and not plain_report(match[group], match[0], sentence.text):
        return False
    comma = before.rfind(",")
    near = (
        before[comma + 1 :]
        if comma >= 0 and not re.match(r"\W*(?:if|once|when)\b", before, re.I)
        else before
    )
    if UNREAL.search(near) or UNREAL.search(match[0].replace(match[group], "")):
        return False
    if re.fullmatch(r"\W*", sentence.text[match.end() :].replace(".", "x")) and re.match(
        r"\W*(?:\*\*|#)", sentence.text
    ):
        # A heading.
        return False
    if group in {"passive", "short"}:
        return not (BYSTANDER.search(sentence.text) or self_done(match[0], match[group]))
    return True


def self_done(said: str, verb: str) -> bool:
    """`It has restarted`: the thing did it by itself; `was built` alone tells its history."""
    aux = re.findall(r"\b(?:has|have|had|was|were)\b", said[: said.rfind(verb)], re.IGNORECASE)
    if not aux:
        return False
    if aux[-1].casefold() in {"has", "have", "had"}:
        return not re.search(r"\bbeen\b", said, re.IGNORECASE)
    return bool(re.search(r"built|made|founded", verb, re.IGNORECASE))


def plain_report(verb: str, said: str, text: str) -> bool:
    """`Deleted it.`, `Now sending it`, `Playing it` report; `Deleting it failed` does not."""
    if not re.search(r"ing$", verb, re.IGNORECASE):
        return True
    reported = re.search(r"\bnow\b|^playing", said.strip(" *_"), re.IGNORECASE)
    return bool(reported) and not UNREAL.search(text)


def family_of(word: str) -> Family:
    plain = word.casefold()
    for family in FAMILIES:
        if re.fullmatch(family.done, plain) or (family.doing and re.fullmatch(family.doing, plain)):
            return family
    return FAMILIES[-1]


def clause(text: str, at: int) -> str:
    """What follows the verb, to the end of its clause."""
    end = re.search(
        r"[,;:!?\n]\s|\.\s|\.$|\s(?:and|but|so|because|und|et|y)\s(?:I|it|you|then)\b|\Z", text[at:]
    )
    return text[at : at + end.start()] if end else text[at:]


def outside(family: Family, match: re.Match[str], group: str, rest: str) -> bool:
    """Is it done to a thing in the world, not to words of the answer?"""
    said = f"{match['subject'] or match['things'] or ''} {rest}"
    if group in {"german", "french", "spanish"}:
        said = f"{match[0]} {rest}"
    if OPINION.match(rest.strip()):
        return False
    if family.name == "say":
        return ALOUD.search(rest) is not None
    if group == "passive" and not THING.search(match["subject"]):
        return False
    if OWN_TEXT.search(rest):
        return False
    thing = THING.search(said)
    if family.name == "send" and RECIPIENT.search(rest):
        return True
    if (
        (family.outward or family.name == "delete")
        and WORDS.search(said)
        and not NAMED.search(said)
    ):
        return False
    if group == "bare" and family.outward:
        return thing is not None
    return not family.outward or thing is not None


def done(family: Family, rest: str, group: str, index: Index) -> bool:
    """Did a call do it that succeeded, or does a result say that it was done?"""
    traces = re.compile(rf"(?:^|[^a-z])(?:{family.traces})|_(?:{family.traces})")
    tales = [
        folded(f"{each.tool}\n{each.action}\n{each.did}")
        for each in index.evidence.deeds
        if each.ok
    ]
    met = [each for each in tales if traces.search(each)]
    if not met:
        met = [
            each
            for each, deed in zip(tales, good(index.evidence.deeds), strict=True)
            if opaque(deed)
        ]
    if met:
        return same_thing(rest, met, index)
    if family.name == "run" and (index.evidence.results or index.evidence.deeds):
        # A command that failed was run all the same, and its output is a result like any other.
        return True
    if index.evidence.deeds and all(not each.ok for each in index.evidence.deeds):
        return False
    if group in {"passive", "short"} and any(
        re.search(rf"\b(?:{family.done})\b", each) for each in index.results
    ):
        return True
    return told_by_results(traces, index)


def good(deeds: Sequence[Deed]) -> list[Deed]:
    return [each for each in deeds if each.ok]


def opaque(deed: Deed) -> bool:
    """Nothing tells what kind of deed it was: it may be any."""
    told = folded(f"{deed.tool} {deed.action} {deed.did}")
    if READING.search(folded(deed.tool)) or READING.search(folded(deed.did)[:24]):
        return False
    return not any(re.search(rf"(?:^|[^a-z])(?:{each.traces})", told) for each in FAMILIES)


def same_thing(rest: str, met: Sequence[str], index: Index) -> bool:
    """Where the sentence names a file and the deeds name files, it must be one of theirs."""
    named = [folded(each[0]) for each in FILE.finditer(rest)]
    if not named:
        return True
    theirs = " ".join(
        [*met, *(each for each in map(reporting, index.results) if ANY_DEED.search(each))]
    )
    return not FILE.search(theirs) or any(each in theirs for each in named)


FAILURE = re.compile(
    r"\b(?:error|failed|failure|not found|denied|cannot|could not|unable|refused"
    r"|not allowed|no such|timed? ?out"
    r"|not configured|does not|doesn't|invalid|forbidden|cancell?ed by"
    r"|exit code [1-9]|not done|nothing)\b"
    r"|\"ok\": ?false|\"success\": ?false"
)

SUCCESS = re.compile(
    r"^\W*(?:ok|done|success\w*|true|erledigt)\W*$"
    r"|\"(?:ok|success|done)\": ?true"
    r"|\"(?:status|result|state)\": ?\"(?:ok|success|succeeded|done|accepted|confirmed)\""
)


def told_by_results(traces: re.Pattern[str], index: Index) -> bool:
    """Does a result, or the history, report a deed of this kind rather than list what there is?"""
    for text in (*index.results, *map(folded, index.evidence.history)):
        report = reporting(text)
        if not report or FAILURE.search(report):
            continue
        if SUCCESS.search(report) and not index.evidence.deeds:
            # Where the calls are known, it tells of one of them and of nothing else.
            return True
        if any(traces.search(each[0]) for each in ANY_DEED.finditer(report.replace("_", " "))):
            return True
    return False


def reporting(text: str) -> str:
    """A short result that is no list; of a longer one its last line."""
    plain = text.strip()
    listing = (
        plain.startswith("[")
        or re.search(r":\s*\[\s*(?:\{|\"[^\"]*\",)", plain)
        or plain.count("\n") > 3
    )
    if listing:
        last = plain.rpartition("\n")[2]
        return last if plain[0] not in "[{" and len(last) < 200 else ""
    return plain if len(plain) < 600 else ""
