"""`I have deleted the file`: sentences that say that something was done, and whether it was. Pure.

The deeds are facts: the calls of the turn. How people speak of them is data, `verbs.toml`.
"""

import re
from collections.abc import Iterator, Sequence

from andy_cli.agent.grounding.claims import ActionRecord, Claim
from andy_cli.agent.grounding.evidence import NAME, EvidenceIndex, tells_of_action
from andy_cli.agent.grounding.text.languages import (
    FINAL,
    Language,
    compile_traces,
    detect_languages,
)
from andy_cli.agent.grounding.text.layout import Sentence, locate_clause
from andy_cli.messages import Effect

CHANGES = frozenset([Effect.WRITE, Effect.DESTROY, Effect.RUN, Effect.ACT])
OUTSIDE = frozenset([Effect.ACT, Effect.RUN, Effect.DESTROY, Effect.WRITE])
EFFECTS = {
    **dict.fromkeys("create change delete move copy rename save".split(), CHANGES),
    **dict.fromkeys("send share schedule cancel remember upload open".split(), OUTSIDE),
    "download": OUTSIDE | {Effect.NETWORK, Effect.READ},
    **dict.fromkeys("play stop queue".split(), frozenset([Effect.PLAY, Effect.RUN])),
    **dict.fromkeys("run install".split(), frozenset([Effect.RUN, Effect.ACT])),
}
"""By action: the effects of the calls that may do it."""
KINDRED = {
    "create": {"change", "save", "schedule", "send", "share", "remember", "upload"},
    "change": {"create", "save", "rename", "move", "cancel", "schedule"},
    "save": {"create", "change", "copy", "download", "remember", "upload"},
    "rename": {"change", "move"}, "move": {"rename", "change", "copy", "schedule"},
    "copy": {"save", "create", "upload", "download"}, "delete": {"cancel", "change", "move"},
    "send": {"share", "create", "upload"}, "share": {"send", "create", "upload", "change"},
    "schedule": {"create", "change", "move"}, "cancel": {"delete", "change"},
    "remember": {"create", "save", "change"}, "upload": {"send", "share", "create", "save", "copy"},
    "download": {"save", "create", "copy"}, "queue": {"play"}, "play": {"queue"},
}  # fmt: skip
"""Actions whose calls have names that tell of each other."""
OWN_TEXT = frozenset(["create", "change", "save", "delete", "move", "copy", "rename"])
"""Actions that may as well be done to the words of the answer."""


def find_action_claims(
    spoken: Sequence[Sentence], index: EvidenceIndex, answer: str
) -> Iterator[Claim]:
    """What the answer says was done, and no call did."""
    languages = detect_languages(answer)
    if (
        (done := find_finished_word(answer))
        and is_nothing_done(index)
        and not is_own_text(spoken[0], answer)
    ):
        yield Claim(done, answer.index(done), answer.index(done) + len(done), "deed")
    for sentence in spoken:
        if sentence.question or LETTER.search(sentence.text) is None:
            continue
        for language in languages:
            found = find_false_report(sentence, language, index, answer)
            if found is not None:
                yield found
                break


LETTER = re.compile(r"[^\W\d_]")


def find_finished_word(answer: str) -> str:
    """The word by which an answer begins that says that it is done, or nothing."""
    found = FINISHED.match(answer)
    return found["word"] if found else ""


def is_nothing_done(index: EvidenceIndex) -> bool:
    """Whether something was tried in this turn, and nothing of it succeeded: where nothing was
    tried, such a word may answer a thank-you."""
    now = [each for each in index.evidence.actions or () if not each.earlier]
    return bool(now) and not any(each.ok for each in now)


def find_false_report(
    sentence: Sentence, language: Language, index: EvidenceIndex, answer: str
) -> Claim | None:
    """The first claim of the sentence that nothing did; what may be several actions is one of
    those that were done."""
    reported: dict[int, list[tuple[str, bool, re.Match[str]]]] = {}
    actions = language.find_actions(sentence.text)
    text = mask_quotations(sentence.text) if actions else ""
    for action in actions:
        for match, own in find_reports(sentence, text, language, action, is_action_tried(index)):
            reported.setdefault(match.end("done"), []).append((action, own, match))
    for _, meanings in sorted(reported.items()):
        if any(is_done(action, own, sentence.text, index) for action, own, _ in meanings):
            continue
        if all(action in OWN_TEXT for action, _, _ in meanings) and is_own_text(sentence, answer):
            continue
        start = min(match.start() for _, _, match in meanings)
        lead = sentence.text[start:]
        start += sentence.start + len(lead) - len(lead.lstrip(" *_#>|-"))
        end = sentence.start + len(sentence.text.rstrip(" .!…*_|"))
        return Claim(answer[start:end], start, end, "deed")
    return None


def find_reports(
    sentence: Sentence, text: str, language: Language, action: str, tried: bool
) -> Iterator[tuple[re.Match[str], bool]]:
    """Each place that reports a deed, and whether the speaker says that it was his own.

    `text` is the sentence without what it quotes. `tried`: in this turn something was.
    """
    others = action == "remember" or YEAR.search(text) or language.others.search(text)
    ways = ("own", "told", "weak") if tried else ("own", "told")
    for way in ways[:1] if others else ways:
        for pattern in language.find_report_patterns(action, way):
            for match in pattern.finditer(text):
                said, at = locate_clause(sentence, sentence.start + match.start("done"))
                if language.name not in FINAL:
                    said = said[: sentence.start + match.end() - at]
                label = way != "own" and text[match.end("done") :][:1] in (":", "：")
                if not label and not language.unreal.search(said):
                    yield match, way == "own"


YEAR = re.compile(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d|[-/.]\d)")
QUOTATION = re.compile(r"`[^`\n]*`|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|\"[^\"\n]*\"")


def mask_quotations(text: str) -> str:
    """The text, as long as before, with one letter throughout in what is quoted."""
    return QUOTATION.sub(lambda match: f'"{"x" * (len(match[0]) - 2)}"', text)


def is_own_text(sentence: Sentence, answer: str) -> bool:
    """Whether what was written or changed is the text of the answer: it follows, and no file is
    named."""
    if NAME.search(sentence.text):
        return False
    behind = answer[sentence.end :]
    ends = sentence.text.rstrip(" *_").endswith((":", "："))
    return ends or "\0" in behind or len(behind.strip()) > PASSAGE


PASSAGE = 60
"""Characters behind such a sentence that are the text itself."""


FINISHED = re.compile(
    r"\W*(?P<word>done|all done|all set|erledigt|fertig|hecho|listo|c['’]est fait|fait|feito|pronto"
    r"|prontinho|fatto|готово|сделано|完了しました|完了です|完了|完成了|搞定|好了"
    r"|हो गया|تم|selesai|beres|সম্পন্ন|ہو گیا)(?=\s*(?:[!.,:–—！。，،।✅🎉-]|$))",
    re.IGNORECASE,
)


def is_action_tried(index: EvidenceIndex) -> bool:
    """Whether anything but a look was tried in this turn."""
    looks = (Effect.READ, Effect.PROTOCOL)
    return any(
        not each.earlier and each.effect not in looks for each in index.evidence.actions or ()
    )


def is_done(action: str, own: bool, said: str, index: EvidenceIndex) -> bool:
    """Did a call do it that succeeded; if it is not said of the speaker, does a result tell it?"""
    deeds = index.evidence.actions
    if deeds is None:
        if any(
            tells_of_action(each, text)
            for text in index.evidence.not_done
            for each in list_kindred(action)
        ):
            return False
        if action == "run" and index.results:
            return True
        known = index.reports_success(list_kindred(action))
        return known or index.tells_of(action, history=True)
    now = [each for each in deeds if each.ok and not each.earlier]
    if any(fits_action(action, each) for each in now):
        return True
    if not own and (index.tells_of(action) or any(each.effect is Effect.RUN for each in now)):
        return True
    asked = bool(re.search(r"[?？؟]", index.evidence.user))
    before = [each for each in deeds if each.ok and each.earlier and fits_action(action, each)]
    if asked and not before and index.tells_of(action, history=True):
        return True
    return any(asked or index.share_name(said, each.text) for each in before)


def fits_action(action: str, deed: ActionRecord) -> bool:
    """Whether a call may have done such a thing."""
    if deed.effect not in EFFECTS[action]:
        return False
    if deed.effect is Effect.RUN and action == "run":
        return True
    told = deed.text.replace("_", " ")
    known = {name for name, each in compile_traces().items() if each.search(told)}
    return not known or not known.isdisjoint(list_kindred(action))


def list_kindred(action: str) -> set[str]:
    return {action, *KINDRED.get(action, ())}
