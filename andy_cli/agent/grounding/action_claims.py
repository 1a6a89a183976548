"""Sentences that say that something was done, and whether it was. Pure.

`I have deleted the file`: the calls of the turn are facts. How people speak of them is data:
`text/verbs`.
"""

import itertools
import re
from collections.abc import Iterator, Sequence, Set
from functools import partial
from typing import NamedTuple

from andy_cli.agent.grounding.evidence import (
    FILE,
    NAME,
    ActionRecord,
    Claim,
    EvidenceIndex,
    find_names,
    list_file_readings,
    tells_of_action,
)
from andy_cli.agent.grounding.text.languages import (
    FINAL,
    Language,
    compile_traces,
    detect_languages,
    reports_action,
)
from andy_cli.agent.grounding.text.segmentation import (
    Sentence,
    find_letter,
    fold_text,
    locate_clause,
    split_words,
)
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Effect, Status

LOCAL_LOOKS = (Effect.READ, Effect.PROTOCOL)
ITEM_NUMBER = re.compile(r"^\W*\d{1,3}[.)](?=\s)")
CHANGES = frozenset([Effect.WRITE, Effect.DESTROY, Effect.RUN, Effect.ACT])
EFFECTS = {
    **dict.fromkeys("create change tidy delete move copy rename save schedule".split(), CHANGES),
    **dict.fromkeys("cancel remember upload open".split(), CHANGES),
    **dict.fromkeys("send share".split(), frozenset([Effect.ACT, Effect.RUN])),
    "download": CHANGES | {Effect.NETWORK, Effect.READ},
    **dict.fromkeys("play stop queue".split(), frozenset([Effect.PLAY, Effect.RUN])),
    **dict.fromkeys("run install".split(), frozenset([Effect.RUN, Effect.ACT])),
}
"""By action: the effects of the calls that may do it."""
SEARCH = "search"
"""An action that any call may have been, and that is a report of one's own alone."""
NET = Expression(r"\b(?:web|internet|online|google|netz|интернет\w*)\b|网|ウェブ|ネット", re.I)
"""A place that is searched by calls alone; a rhyme may be searched for without one."""
KINDRED = {
    "create": {"change", "save", "copy", "schedule", "send", "share", "remember", "upload"}
    | {"draft"},
    "change": {"create", "save", "rename", "move", "cancel", "schedule", "tidy", "draft"},
    "tidy": {"change", "delete", "move", "rename", "create", "save", "cancel", "schedule"},
    "save": {"create", "change", "copy", "download", "remember", "upload", "draft"},
    "rename": {"change", "move"}, "move": {"rename", "change", "copy", "schedule", "delete"},
    "copy": {"save", "create", "upload", "download"},
    "delete": {"cancel", "change", "move", "tidy"},
    "send": {"share", "create", "upload"}, "share": {"send", "create", "upload", "change"},
    "schedule": {"create", "change", "move"}, "cancel": {"delete", "change"},
    "remember": {"create", "save", "change"}, "upload": {"send", "share", "create", "save", "copy"},
    "download": {"save", "create", "copy"}, "queue": {"play"}, "play": {"queue"},
}  # fmt: skip
"""Actions whose calls have names that tell of each other."""
BEGINNINGS = frozenset(["run", "play", "queue", "open", "schedule", "remember"])
"""Actions that are done as soon as a command in the background has begun with them."""
MERE_CALLS = ("run", "download")
"""Actions that change nothing."""
OWN_TEXT = frozenset(["create", "change", "tidy", "save", "delete", "move", "copy", "rename"])
"""Actions that may as well be done to the words of the answer."""


class Report(NamedTuple):
    """A place of a sentence at which an action is reported as done."""

    action: str
    own: bool
    """The speaker says that it was his own doing."""
    match: re.Match[str]


def find_action_claims(
    spoken: Sequence[Sentence], index: EvidenceIndex, answer: str
) -> Iterator[Claim]:
    """Find what the answer says was done, and no call did.

    `answer` is the whole one without its code.
    """
    if not is_action_tried(index):
        spoken = drop_letter(spoken, answer)
    languages = detect_languages(answer)
    word = find_finished_word(answer) if spoken else ""
    if word and is_nothing_done(index) and not is_own_text(spoken[0], answer):
        start = answer.index(word)
        yield Claim(word, start, start + len(word), "deed")
    for sentence in filter(states_something, spoken):
        claims = (find_false_report(sentence, language, index, answer) for language in languages)
        yield from itertools.islice(filter(None, claims), 1)


def drop_letter(spoken: Sequence[Sentence], answer: str) -> list[Sentence]:
    """Leave out the sentences of a letter: its `I` is whoever sends it."""
    start, end = find_letter(answer)
    return [sentence for sentence in spoken if not start <= sentence.start < end]


def states_something(sentence: Sentence) -> bool:
    return not sentence.question and LETTER.search(sentence.text) is not None


LETTER = Expression(r"[^\W\d_]")


def find_finished_word(answer: str) -> str:
    """Find the word by which an answer begins that says that it is done, or nothing."""
    match = FINISHED.match(answer)
    return match["word"] if match else ""


def is_nothing_done(index: EvidenceIndex) -> bool:
    """Tell whether nothing stands behind such a word: what was tried in this turn did not succeed,
    or nothing was tried, nor done before to what the user names now: a thank-you names nothing."""
    actions = index.evidence.actions
    if actions is None:
        return False
    current_actions = [action for action in actions if not action.earlier]
    tried = list(filter(may_be_wish, current_actions))
    named = find_names(index.evidence.user)
    earlier = [act for act in list_tried(index) if not named or named & find_names(act.text)]
    return not any(map(has_succeeded, tried or current_actions or earlier))


def may_be_wish(action: ActionRecord) -> bool:
    """Tell whether a call may be what was to be done: no look, and no command that failed, as that
    has run."""
    return action.effect not in (*LOCAL_LOOKS, Effect.NETWORK) and not action.exit_code


def has_succeeded(action: ActionRecord) -> bool:
    """Tell whether a call succeeded; a command that only looks may end with any code."""
    return action.ok and not (action.exit_code and action.effect not in LOCAL_LOOKS)


def find_false_report(
    sentence: Sentence, language: Language, index: EvidenceIndex, answer: str
) -> Claim | None:
    """Find the first claim of the sentence that nothing did; what may be several actions is one of
    those that were done."""
    for _, reports in sorted(group_reports(sentence, language, index).items()):
        if any(is_done(report, sentence, index) for report in reports):
            continue
        changes_text = OWN_TEXT.issuperset(report.action for report in reports)
        if changes_text and is_own_text(sentence, answer):
            continue
        start = min(report.match.start() for report in reports)
        reported_text = sentence.text[start:]
        start += sentence.start + len(reported_text) - len(reported_text.lstrip(" *_#>|-"))
        end = sentence.start + len(sentence.text.rstrip(" .!…*_|"))
        return Claim(answer[start:end], start, end, "deed")
    return None


def group_reports(
    sentence: Sentence, language: Language, index: EvidenceIndex
) -> dict[int, list[Report]]:
    """Group the reports of a sentence by the place at which their verb ends. An item with a number
    is one where something was tried, else one of a plan."""
    groups: dict[int, list[Report]] = {}
    actions = language.find_actions(sentence.text)
    if not actions:
        return groups
    text = mask_quotations(sentence.text)
    if is_action_tried(index):
        text = ITEM_NUMBER.sub(lambda match: " " * len(match[0]), text)
    takes_weak = counts_weak(sentence, language, index)
    for action in actions:
        for report in find_reports(sentence, text, language, action, takes_weak):
            groups.setdefault(report.match.end("done"), []).append(report)
    return groups


def find_reports(
    sentence: Sentence, text: str, language: Language, action: str, takes_weak: bool
) -> Iterator[Report]:
    """Find each place that reports an action.

    `text` is the sentence without what it quotes. `takes_weak`: what may be a report is one.
    """
    for report_form in list_ways(text, language, action, takes_weak):
        is_own = report_form == "own"
        for pattern in language.find_report_patterns(action, report_form):
            for match in pattern.finditer(text):
                if not is_own and is_heading(match, text):
                    continue
                if not is_denied(match, sentence, language):
                    yield Report(action, is_own, match)


def is_heading(match: re.Match[str], text: str) -> bool:
    """Tell whether the verb is a heading with a colon, and no file of which it is told stands
    before it."""
    has_colon = text[match.end("done") :].lstrip().startswith((":", "："))
    return has_colon and FILE.search(text[: match.start("done")]) is None


def list_ways(text: str, language: Language, action: str, takes_weak: bool) -> Sequence[str]:
    """List the ways to report that count: where others may have done it, only one's own."""
    if action in ("remember", SEARCH) or YEAR.search(text) or language.others.search(text):
        return ("own",)
    return ("own", "told", "weak") if takes_weak else ("own", "told")


def is_denied(match: re.Match[str], sentence: Sentence, language: Language) -> bool:
    """Tell whether the clause makes it no report - not, if, can, will - or what follows does:
    `I changed nothing`."""
    following_text = sentence.text[match.end("done") :].lstrip()
    if language.unreal.match(following_text):
        return True
    clause, start = locate_clause(sentence, sentence.start + match.start("done"))
    if language.name not in FINAL:
        clause = clause[: sentence.start + match.end() - start]
    return language.unreal.search(clause) is not None


STEM, RUN_ALL_THE_SAME = 4, ("test", "exec")
"""Letters by which a verb and a command are the same, and those of what failing does not undo."""
YEAR = Expression(r"(?<!\d)(?:1[0-9]|20)\d\d(?!\d|[-/.]\d)")
QUOTATION = Expression(
    r"`[^`\n]*`|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|「[^」\n]*」|\"[^\"\n]*\""
    r"|(?<!\S)[\"“„«「](?=\s?\w)[^\"“”»」\n]*\Z"
)


def mask_quotations(text: str) -> str:
    """Put one letter throughout in what is quoted; the text is as long as before."""
    return QUOTATION.sub(lambda match: f'"{"x" * (len(match[0]) - 2)}"', text)


def is_own_text(sentence: Sentence, answer: str) -> bool:
    """Tell whether what was written or changed is the text of the answer: it follows, or stands
    before as code, and no file is named."""
    if NAME.search(sentence.text):
        return False
    following_text = answer[sentence.end :]
    ends_open = sentence.text.rstrip(" *_").endswith((":", "："))
    is_followed = ":\n" in following_text or len(following_text.strip()) > PASSAGE
    return ends_open or "\0" in answer or is_followed


PASSAGE = 60
"""Characters after such a sentence that are the text itself."""

FINISHED = Expression(
    r"\W*(?P<word>(?:(?:it|that|this|everything)(?:['’]s| is) )?(?:all )?done|all set"
    r"|(?:(?:das|es|alles) ist )?(?:erledigt|fertig)|hecho|listo|c['’]est fait|fait|feito|pronto"
    r"|prontinho|fatto|готово|сделано|完了しました|完了です|完了|完成了|搞定|好了"
    r"|हो गया|تم|selesai|beres|সম্পন্ন|ہو گیا)(?=\s*(?:[!.,:–—！。，،।✅🎉-]|$))",
    re.IGNORECASE,
)


def counts_weak(sentence: Sentence, language: Language, index: EvidenceIndex) -> bool:
    """Tell whether `a.txt was deleted` is a report, and no tale of the past: something was tried,
    or nothing was called, and the user or an earlier call is about a.txt; the user did not say that
    of it."""
    actions, user = index.evidence.actions, index.evidence.user
    if is_action_tried(index) or actions is None:
        return actions is not None
    # An identifier may have been added or removed by somebody else long ago.
    meant = find_names("\n".join([user, *(action.text for action in list_tried(index))]))
    named = {name for name in find_names(sentence.text) & meant if "." in name}
    is_untouched = bool(named) and all(action.earlier for action in actions)
    return is_untouched and not reports_action(language, user)


def is_action_tried(index: EvidenceIndex) -> bool:
    """Tell whether anything but a look was tried in this turn."""
    return any(not action.earlier for action in list_tried(index))


def list_tried(index: EvidenceIndex) -> list[ActionRecord]:
    """List the calls of this turn and of earlier ones that were to do more than look."""
    return [action for action in index.evidence.actions or () if action.effect not in LOCAL_LOOKS]


def is_done(report: Report, sentence: Sentence, index: EvidenceIndex) -> bool:
    """Tell whether a call did it that succeeded, or, if it is not said of the speaker, whether a
    result tells of it."""
    action = report.action
    if action == SEARCH:
        return may_have_searched(sentence, index)
    actions = index.evidence.actions
    if actions is None:
        return is_done_in_results(action, index)
    new_actions = [record for record in actions if not record.earlier]
    if is_target_known(report, sentence, list_doers(report, new_actions), index):
        return True
    if not report.own and is_told(report, sentence, new_actions, index):
        return True
    return is_done_before(action, sentence.text, index)


def list_doers(report: Report, new_actions: Sequence[ActionRecord]) -> list[ActionRecord]:
    """List the calls that may have done what is reported."""
    action, verb = report.action, report.match["done"]
    return [record for record in new_actions if record.ok and has_done(action, record, verb)]


def is_target_known(
    report: Report, sentence: Sentence, doers: Sequence[ActionRecord], index: EvidenceIndex
) -> bool:
    """Tell whether there are doers, and the files that the clause names are known from a call or a
    result: of one that the user alone named it is not known that anything was done to it. A command
    may do it to any file, and so may a pattern."""
    if not doers:
        return False
    if any(record.effect is Effect.RUN or "*" in record.arguments for record in doers):
        return True
    clause, _ = locate_clause(sentence, sentence.start + report.match.start("done"))
    calls = [fold_text(record.text) for record in index.evidence.actions or () if record.ok]
    known = "\n".join([index.given, *calls])
    names = map(list_file_readings, FILE.findall(fold_text(clause)))
    return all(any(reading in known for reading in readings) for readings in names)


def is_told(
    report: Report, sentence: Sentence, new_actions: Sequence[ActionRecord], index: EvidenceIndex
) -> bool:
    """Tell whether a result tells that it was done, or that it is so. What a call says that tried
    it in vain is no such thing: `Nothing was changed`."""
    tries = [record for record in new_actions if record.effect in EFFECTS[report.action]]
    if any(report.action in find_named_actions(record.text) for record in tries):
        return False
    if tells_row(sentence.text, new_actions, index):
        return True
    if not index.tells_of(report.action):
        return False
    doers = list(filter(has_succeeded, new_actions))
    return not doers or is_target_known(report, sentence, doers, index)


def tells_row(text: str, new_actions: Sequence[ActionRecord], index: EvidenceIndex) -> bool:
    """Tell whether a sentence answers a question with figures that stand in one line of what was
    looked up (`The bike is booked for 6 May, 10:15, and is paid`), or has none but those of one
    line behind a command: `39 of 42 tests passed, 1 was skipped`."""
    is_lookup = all(record.effect in LOCAL_LOOKS for record in new_actions)
    figures = find_figures(fold_text(text))
    shared = max((len(figures & find_figures(line)) for line in index.given_lines), default=0)
    if any(record.effect is Effect.RUN for record in new_actions):
        return shared == len(figures) > 1
    return shared > 1 and index.is_asked and is_lookup


def find_figures(text: str) -> set[str]:
    return {word for word in split_words(text) if any(map(str.isdigit, word))}


HINDERED = frozenset([Status.DENIED, Status.TIMED_OUT, Status.CANCELLED])
ENDINGS = frozenset(["cancel", "stop"])


def is_no_deed(action: str, sentence: str, index: EvidenceIndex) -> bool:
    """Tell whether what was done is said by the user, or was done to a call."""
    if action in ENDINGS and any(map(was_hindered, index.evidence.actions or ())):
        return True
    return is_told_by_user(action, sentence, index)


def was_hindered(record: ActionRecord) -> bool:
    """Tell whether a call was refused or stopped, which many languages say in the words for a
    meeting that is (`Das wurde abgelehnt`), and was not itself to end or delete such a thing."""
    if record.status not in HINDERED:
        return False
    is_of_files = record.effect is Effect.WRITE
    return is_of_files or find_named_actions(record.text).isdisjoint({"delete", *ENDINGS})


def is_told_by_user(action: str, sentence: str, index: EvidenceIndex) -> bool:
    """Tell whether a text that the user gives reports it, of the same things, and nothing was
    called: then the answer says it for him, as in a translation."""
    if any(not record.earlier for record in index.evidence.actions or ()):
        return False
    names, kindred = find_names(sentence), list_kindred(action)
    return any(
        names <= told_names and not kindred.isdisjoint(actions)
        for told_names, actions in index.given_reports
    )


def may_have_searched(sentence: Sentence, index: EvidenceIndex) -> bool:
    """Tell whether anything was called that may have been a search, or none was needed."""
    actions = index.evidence.actions
    if NET.search(sentence.text) is None:
        return True
    return bool(index.results) if actions is None else any(record.ok for record in actions)


def is_done_in_results(action: str, index: EvidenceIndex) -> bool:
    """Judge by results and history alone, where it is not known which calls were made."""
    actions = list_kindred(action)
    for text in index.evidence.not_done:
        if any(tells_of_action(other, text) for other in actions):
            return False
    if action == "run" and index.results:
        return True
    return index.reports_success(actions) or index.tells_of(action, history=True)


def is_done_before(action: str, sentence: str, index: EvidenceIndex) -> bool:
    """Tell whether an earlier turn did it, and the user asks for it or the sentence names the same
    thing; or whether the user says so, or it was a call that was refused."""
    if is_no_deed(action, sentence, index):
        return True
    tried = [record for record in list_tried(index) if record.earlier]
    # What was tried says what was done; a wish of then is no proof of it.
    if index.is_asked and not tried:
        return index.tells_of(action, history=True)
    names = None if index.is_asked else find_names(sentence)
    return any(map(partial(has_done_to, action, names), tried))


def has_done_to(action: str, names: Set[str] | None, record: ActionRecord) -> bool:
    """Tell whether a call did such a thing, to one of the names if they matter."""
    is_meant = names is None or not names.isdisjoint(find_names(record.text))
    return is_meant and record.ok and has_done(action, record, "")


def has_done(action: str, record: ActionRecord, verb: str) -> bool:
    """Tell whether a call that succeeded may have done such a thing, which the `verb` says. A line
    that failed was run, but what its command is called was not done: `I committed it`. Nor was what
    one in the background is still to do."""
    is_empty = record.changed_nothing and action not in MERE_CALLS
    if is_empty or not fits_action(action, record):
        return False
    has_ended = not record.runs_on or action in BEGINNINGS
    if not record.exit_code and has_ended:
        return True
    if action == "run":
        stem = verb.lower()[:STEM]
        return len(stem) < STEM or stem in RUN_ALL_THE_SAME or stem not in record.arguments.lower()
    return not find_named_actions(record.completed_commands).isdisjoint(list_kindred(action))


def fits_action(action: str, record: ActionRecord) -> bool:
    """Tell whether a call is of the kind that does such a thing."""
    if record.effect not in EFFECTS[action]:
        return False
    if record.effect is Effect.RUN and action == "run":
        return True
    named_actions = list_told_actions(record)
    # That something is tidy says nothing of what else was done.
    named_actions -= {"tidy"}
    return not named_actions or not named_actions.isdisjoint(list_kindred(action))


def list_told_actions(record: ActionRecord) -> set[str]:
    """List the actions that a call tells of; none where it may have been any."""
    named_actions = find_named_actions(record.tool)
    if "draft" in named_actions:
        return named_actions - {"create"}  # else it would be sent
    if record.effect is Effect.RUN:
        # That it is run says the tool; what else is run may do anything. Of a server's tool the
        # name tells too, beside the names of its values: `start` is when an event begins.
        told = find_named_actions(NAME.sub(" ", record.arguments)) - {"run"}
        return told | named_actions if told else told
    if record.effect is Effect.ACT:
        return named_actions  # a request may ask for anything
    # Its name is more exact than what it says to people: `put old.log into the trash`.
    named_actions = named_actions or find_named_actions(record.text)
    counts = COUNTS.search(record.did)
    return named_actions | find_named_actions(counts[0]) if counts else named_actions


COUNTS = re.compile(r"\(\d[^()]*\)$")
"""The count behind what a call did: `replaced a.txt, 4 bytes (1 line removed)`."""


def find_named_actions(text: str) -> set[str]:
    spaced_text = text.replace("_", " ")
    return {name for name, trace in compile_traces().items() if trace.search(spaced_text)}


def list_kindred(action: str) -> set[str]:
    return {action, *KINDRED.get(action, ())}
