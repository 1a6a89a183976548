"""Sentences that say that something was done, or how a file is now, and whether it is so. Pure.

`I have deleted the file`, `notes.txt now contains eggs`: the calls of the turn are facts. How
people speak of them is data: `text/verbs`.
"""

import re
from collections.abc import Iterable, Iterator, Sequence, Set
from fnmatch import fnmatchcase
from typing import NamedTuple

from andy_cli.agent.grounding.evidence import (
    FILE,
    NAME,
    ActionRecord,
    Claim,
    EvidenceIndex,
    find_key_words,
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
    ITEM,
    Sentence,
    find_fences,
    find_letter,
    fold_text,
    has_word,
    locate_clause,
    split_words,
    strip_line,
)
from andy_cli.agent.grounding.text.vocabulary import STOP
from andy_cli.compiler.expression import Expression
from andy_cli.messages import Effect, Status

PATTERN = Expression(r"[\w.?-]{0,80}\*[\w.?*-]{0,80}")
BETWEEN_ITEMS = Expression(r", |、|،")
LOCAL_LOOKS = (Effect.READ, Effect.PROTOCOL)
FILE_FIRST = re.compile(
    rf"\W*(?P<name>{FILE.pattern})[`*_\"”»’']*(?P<rest>(?!\s*[:：–—=|(-]).+)", re.S
)
PLACE = re.compile(rf"https?://[^\s<>\"'`()\[\]]*[^\s<>\"'`()\[\].,;:!?*_]|{FILE.pattern}")
ITEM_NUMBER = re.compile(r"^\W*\d{1,3}[.)](?=\s)")
ROW_NAME = re.compile(
    rf"\W*(?:\d{{1,3}}[.)]\s)?\W*{FILE.pattern}\W*?(?:[|:：–—→]|\s->?\s|[`*]\s)\W*"
)
"""The file that a row or an item is about, and what stands between it and the rest."""
LONG_STATE = 3
"""Words: fewer say of a file what has become of it, and no more (`a.txt: deleted`)."""


def find_state_claim(
    sentence: Sentence, languages: Sequence[Language], index: EvidenceIndex
) -> Claim | None:
    """Find a state that is told of a file and that nothing is known to have brought about."""
    if any(language.unreal.search(sentence.text) for language in languages):
        return None
    match = FILE_FIRST.match(sentence.text)
    if match and says_more(match["rest"]) and is_unread(match["name"], index):
        start = match.start("name")
    elif tells_wish_as_fact(sentence.text, languages, index) or tells_figure_of_unread(
        sentence, index
    ):
        start = 0
    else:
        return None
    # Asked last: the user's words may be megabytes.
    if any(reports_action(language, index.evidence.user) for language in languages):
        return None
    text = sentence.text.rstrip(" .!…*_|")[start:]
    start += sentence.start
    return Claim(text, start, start + len(text), "state")


def tells_figure_of_unread(sentence: Sentence, index: EvidenceIndex) -> bool:
    """Tell whether what is said of a file or page that nobody has looked at, up to the next one,
    has a figure that nobody knows: `north.txt has 40 boxes, while south.txt has 65`."""
    files = [*PLACE.finditer(sentence.text)]
    ends = [*(match.start() for match in files[1:]), len(sentence.text)]
    for match, end in zip(files, ends, strict=False):
        # A page is the same with a place in it and with a stroke at its end.
        if not is_unread(match[0].partition("#")[0].rstrip("/"), index):
            continue
        _, start = locate_clause(sentence, sentence.start + match.start())
        told = PLACE.sub(" ", fold_text(sentence.text[start - sentence.start : end]))
        figures = find_figures(told)
        if figures and figures.isdisjoint(index.words):
            return True
    return False


def shows_changed_file(answer: str, index: EvidenceIndex) -> bool:
    """Tell whether code or a list of the answer is what was read, with other lines in it, where the
    user wanted something done about a file and nothing but looks succeeded: it looks as if it had
    been done. A draft, a translation and an excerpt have no such mixture of lines."""
    actions, user = index.evidence.actions, index.evidence.user
    if actions is None or index.is_asked or FILE.search(fold_text(user)) is None:
        return False
    new_successes = [action for action in actions if action.is_new_success]
    if any(action.effect not in LOCAL_LOOKS for action in new_successes):
        return False
    shown_lines = list(filter(has_word, list_shown_lines(answer)))
    known_count = sum(line in index.given_lines for line in shown_lines)
    return len(shown_lines) / 2 <= known_count < len(shown_lines)


def list_shown_lines(answer: str) -> list[str]:
    """List the lines of fences, else the items of lists, else what stands in a row behind the last
    colon, folded."""
    lines: list[str] = []
    for start, end, _ in find_fences(answer):
        lines += answer[start:end].split("\n")[1:-1]
    if not lines:
        lines = [match["rest"] for match in ITEM.finditer(answer)]
    if not lines:
        row = answer.rpartition(":")[2].strip(" .!\n")
        lines = BETWEEN_ITEMS.compiled.split(row)
    return [strip_line(line) for line in lines]


def says_more(rest: str) -> bool:
    """Tell whether more than one word follows; some writings have no blanks between them."""
    return len(rest.split()) > 1 or not rest.isascii()


def is_unread(name: str, index: EvidenceIndex) -> bool:
    """Tell whether the user alone names a file: no call, no result and nothing said before."""
    actions = index.evidence.actions
    if actions is None or fold_text(name) not in fold_text(index.evidence.user):
        return False
    if any(action.ok and may_be_about(name, action) for action in actions):
        return False
    known_texts = [*index.evidence.history, *(action.text for action in actions)]
    return not any(fold_text(name) in text for text in (index.given, *map(fold_text, known_texts)))


def may_be_about(name: str, action: ActionRecord) -> bool:
    """Tell whether a call may have been about a file that it does not name: by a pattern, or as a
    command of this turn that does more than look (`ruff check --fix .`)."""
    is_command = action.effect is Effect.RUN and not action.earlier
    return is_command or matches_pattern(name, action.arguments)


def matches_pattern(name: str, arguments: str) -> bool:
    """Tell whether a pattern among the arguments of a call means the file too: `cat *.ini`."""
    patterns = PATTERN.compiled.findall(fold_text(arguments))
    return any(fnmatchcase(fold_text(name), pattern) for pattern in patterns)


def tells_wish_as_fact(text: str, languages: Sequence[Language], index: EvidenceIndex) -> bool:
    """Tell whether it says that a file is now as the user wished, where the file was but looked at:
    `The list is sorted now`. What else it says is in no result: else it tells what was found.
    """
    actions = index.evidence.actions
    files = FILE.findall(text)
    is_untouched = bool(files) and all(is_unread(name, index) for name in files)
    if not actions or (is_action_tried(index) and not is_untouched):
        return False
    rest = told = fold_text(text)
    for language in languages:
        rest = language.now.sub(" ", rest)
    return rest != told and is_wished_alone(rest, actions, index)


def is_wished_alone(text: str, actions: Sequence[ActionRecord], index: EvidenceIndex) -> bool:
    """Tell whether a folded sentence about a file has words of the user's wish that nothing else
    has, and none that stand in a result."""
    words = find_key_words(text)
    looked_at = find_key_words(fold_text("\n".join(action.arguments for action in actions)))
    is_about_file = bool(words & looked_at) or FILE.search(text) is not None
    if not is_about_file or index.is_asked:
        return False
    if words & index.key_words - looked_at:
        return tells_wished_figure(text, index)
    return bool(words & index.user_key_words - index.key_words - index.earlier_key_words)


def tells_wished_figure(text: str, index: EvidenceIndex) -> bool:
    """Tell whether a folded sentence has figures of the wish alone: none that stands in a result,
    beside which a wished one is compared with it."""
    figures = find_figures(FILE.sub(" ", text))
    wished = find_figures(fold_text(index.evidence.user))
    return bool(figures & wished) and figures.isdisjoint(index.given_words)


def find_figures(text: str) -> set[str]:
    return {word for word in split_words(text) if any(map(str.isdigit, word))}


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
    spoken: Sequence[Sentence], index: EvidenceIndex, answer: str, whole_answer: str
) -> Iterator[Claim]:
    """Find what the answer says was done, and no call did.

    `answer` is the whole one without its code.
    """
    start, end = (0, 0) if is_action_tried(index) else find_letter(answer)
    # Its `I` is whoever sends it.
    spoken = [sentence for sentence in spoken if not start <= sentence.start < end]
    languages = detect_languages(answer)
    shows_file = shows_changed_file(whole_answer, index)
    word = find_finished_word(answer) if spoken else ""
    if word:
        start = answer.index(word)
        end = start + len(word)
        is_label = answer[end:].lstrip().startswith((":", "："))
        if is_word_empty(spoken[0], index, answer, shows_file and not is_label):
            yield Claim(word, start, end, "deed")
    for sentence in spoken:
        claim = find_sentence_claim(sentence, languages, index, answer, shows_file)
        if claim is not None:
            yield claim
    yield from find_undone_items(answer, index)


def find_undone_items(answer: str, index: EvidenceIndex) -> Iterator[Claim]:
    """Find the items of a list that name files which the user alone names, in the words of an item
    before it whose files a call changed: `1. a.jpg → a1.jpg`, `2. b.jpg → b1.jpg`."""
    done_forms: set[str] = set()
    last_end = 0
    for item in ITEM.finditer(answer):
        if answer[last_end : item.start()].strip():
            done_forms.clear()  # another list, perhaps of what is left
        last_end = item.end()
        form, files = FILE.sub("", item["rest"]), FILE.findall(fold_text(item["rest"]))
        if are_changed(files, index):
            done_forms.add(form)
        elif form in done_forms and all(is_unread(name, index) for name in files):
            yield Claim(item["rest"], item.start("rest"), item.end("rest"), "deed")


def are_changed(files: Sequence[str], index: EvidenceIndex) -> bool:
    """Tell whether one call of this turn changed all these files, and there are some."""
    for record in index.evidence.actions or ():
        if record.effect is Effect.WRITE and record.is_new_success and files:
            text = fold_text(record.text)
            if all(name in text for name in files):
                return True
    return False


def find_sentence_claim(
    sentence: Sentence,
    languages: Sequence[Language],
    index: EvidenceIndex,
    answer: str,
    shows_file: bool,
) -> Claim | None:
    """Find the first action or state that the sentence claims falsely, in whichever language."""
    if sentence.question or LETTER.search(sentence.text) is None:
        return None
    claims = (
        find_false_report(sentence, language, index, answer, shows_file) for language in languages
    )
    return next(filter(None, claims), None) or find_state_claim(sentence, languages, index)


LETTER = Expression(r"[^\W\d_]")


def find_finished_word(answer: str) -> str:
    """Find the word by which an answer begins that says that it is done, or nothing."""
    match = FINISHED.match(answer)
    return match["word"] if match else ""


def is_word_empty(sentence: Sentence, index: EvidenceIndex, answer: str, shows_file: bool) -> bool:
    """Tell whether nothing stands behind the word for done with which the answer begins."""
    return shows_file or (is_nothing_done(index) and not is_own_text(sentence, answer))


def is_nothing_done(index: EvidenceIndex) -> bool:
    """Tell whether nothing stands after such a word: what was tried in this turn did not succeed,
    or nothing was tried and no earlier action is spoken of, as where it answers a thank-you."""
    actions = index.evidence.actions
    if actions is None:
        return False
    current_actions = [action for action in actions if not action.earlier]
    if current_actions:
        tried = list(filter(may_be_wish, current_actions))
        return not any(map(has_succeeded, tried or current_actions))
    return not is_earlier_meant(actions, find_names(index.evidence.user))


def is_earlier_meant(actions: Sequence[ActionRecord], wished_names: frozenset[str]) -> bool:
    """Tell whether the user may speak of a change that succeeded: of one of what is named, or of
    any where nothing is."""
    changes = [action for action in actions if action.effect not in LOCAL_LOOKS]
    for change in filter(has_succeeded, changes):
        if not wished_names or wished_names & find_names(change.text):
            return True
    return False


def may_be_wish(action: ActionRecord) -> bool:
    """Tell whether a call may be what was to be done: no look, and no command that failed, as that
    has run."""
    return action.effect not in (*LOCAL_LOOKS, Effect.NETWORK) and not action.exit_code


def has_succeeded(action: ActionRecord) -> bool:
    """Tell whether a call succeeded; a command that only looks may end with any code."""
    return action.ok and not (action.exit_code and action.effect not in LOCAL_LOOKS)


def find_false_report(
    sentence: Sentence, language: Language, index: EvidenceIndex, answer: str, shows_file: bool
) -> Claim | None:
    """Find the first claim of the sentence that nothing did; what may be several actions is one of
    those that were done. `shows_file`: a text of the answer is a file of the user's, changed."""
    takes_weak = shows_file or counts_weak(sentence, language, index)
    for _, readings in sorted(group_reports(sentence, language, takes_weak, index).items()):
        reports = prefer_own(readings)
        if any(is_done(report, sentence, language, index) for report in reports):
            continue
        changes_text = OWN_TEXT.issuperset(report.action for report in reports)
        if changes_text and not shows_file and is_own_text(sentence, answer):
            continue
        start = min(report.match.start() for report in reports)
        reported_text = sentence.text[start:]
        start += sentence.start + len(reported_text) - len(reported_text.lstrip(" *_#>|-"))
        end = sentence.start + len(sentence.text.rstrip(" .!…*_|"))
        return Claim(answer[start:end], start, end, "deed")
    return None


def prefer_own(reports: Sequence[Report]) -> Sequence[Report]:
    """Drop the readings that do not say whose doing it was, where one says that it was the
    speaker's: `Ho eseguito` has `eseguito` in it, which a result may tell of somebody else."""
    return [report for report in reports if report.own] or reports


def group_reports(
    sentence: Sentence, language: Language, takes_weak: bool, index: EvidenceIndex
) -> dict[int, list[Report]]:
    """Group the reports of a sentence by the place at which their verb ends. Where no more than a
    look was tried, what is told at length of a file may be what was found in it."""
    groups: dict[int, list[Report]] = {}
    actions = language.find_actions(sentence.text)
    if not actions:
        return groups
    text = mask_quotations(sentence.text)
    if may_number_deed(sentence, index):
        text = ITEM_NUMBER.sub(lambda match: " " * len(match[0]), text)
    name = ROW_NAME.match(sentence.text) if takes_weak else None
    if name:
        told = text[name.end() :]
        if is_action_tried(index) or len(told.split()) < LONG_STATE:
            text = "\0" * name.end() + told
    for action in actions:
        for report in find_reports(sentence, text, language, action, takes_weak):
            groups.setdefault(report.match.end("done"), []).append(report)
    return groups


def may_number_deed(sentence: Sentence, index: EvidenceIndex) -> bool:
    """Tell whether a numbered item may report an action of this turn, or one on what an earlier
    call named: otherwise it belongs to a plan, a sample or a text that was asked for."""
    if is_action_tried(index):
        return True
    tried_names = find_names("\n".join(action.text for action in list_tried(index)))
    return not tried_names.isdisjoint(find_names(sentence.text))


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
    in an earlier turn with a.txt, or the user spoke of a.txt and did not say that of it."""
    if is_action_tried(index):
        return True
    # An identifier may have been added or removed by somebody else long ago.
    files = {name for name in find_names(sentence.text) if "." in name}
    if index.evidence.actions is None or not files:
        return False
    told = "\n".join([index.evidence.user, *(action.text for action in list_tried(index))])
    if files.isdisjoint(find_names(told)):
        return False
    return not reports_action(language, index.evidence.user)


def is_action_tried(index: EvidenceIndex) -> bool:
    """Tell whether anything but a look was tried in this turn."""
    return any(not action.earlier for action in list_tried(index))


def list_tried(index: EvidenceIndex) -> list[ActionRecord]:
    """List the calls of this turn and of earlier ones that were to do more than look."""
    return [action for action in index.evidence.actions or () if action.effect not in LOCAL_LOOKS]


def is_done(report: Report, sentence: Sentence, language: Language, index: EvidenceIndex) -> bool:
    """Tell whether a call did it that succeeded, or, if it is not said of the speaker, whether a
    result tells of it."""
    action = report.action
    if action == SEARCH:
        return may_have_searched(sentence, index)
    if index.evidence.actions is None:
        return is_done_in_results(action, index)
    doers = list_doers(report, sentence, index.evidence.actions)
    if doers and is_target_known(report, sentence, language, doers, index):
        return True
    if not report.own and is_told(report, sentence, language, index):
        return True
    return is_done_before(action, sentence.text, index)


def list_doers(
    report: Report, sentence: Sentence, actions: Sequence[ActionRecord]
) -> list[ActionRecord]:
    """List the calls of this turn that may have done what is reported."""
    successes = [record for record in actions if record.is_new_success]
    drafts = list(filter(makes_draft, successes))
    if report.action == "send" and drafts:
        drafted = split_telling_words("\n".join(draft.arguments for draft in drafts))
        named = split_telling_words(sentence.text) - drafted
        successes = [record for record in successes if may_have_sent(record, named)]
    verb = report.match["done"]
    return [record for record in successes if has_done(report.action, record, verb)]


def makes_draft(record: ActionRecord) -> bool:
    return "draft" in find_named_actions(record.tool)


def may_have_sent(record: ActionRecord, named: Set[str]) -> bool:
    """Tell whether a call beside that of a draft may have sent something. One that created
    something may be an invitation, if it has a word of the sentence that the draft lacks."""
    if not makes_draft(record) and not named.isdisjoint(split_telling_words(record.arguments)):
        return True
    told = list_told_actions(record) or find_named_actions(record.tool) - {"run"}
    return not told or not told.isdisjoint(list_kindred("send") - {"create"})


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


def is_target_known(
    report: Report,
    sentence: Sentence,
    language: Language,
    doers: Sequence[ActionRecord],
    index: EvidenceIndex,
) -> bool:
    """Tell whether the files that the report names are known from a call or a result: of one that
    the user alone named it is not known that anything was done to it. A command may do it to any
    file, and so may a pattern; what stands after `if` or `before` is not said to be done."""
    if any(map(is_of_many, doers)):
        return True
    clause, _ = locate_clause(sentence, sentence.start + report.match.start("done"))
    told = clause + find_files_behind(sentence, clause)
    supposed = language.unreal.search(told)
    told = told[: supposed.start()] if supposed else told
    if report.action in OWN_TEXT and has_untouched_file(clause, told[len(clause) :], index):
        return False
    texts = [record.text for record in index.evidence.actions or () if record.ok]
    return knows_files(told, texts, index) and not is_of_other(report.action, told, doers, index)


def has_untouched_file(clause: str, row: str, index: EvidenceIndex) -> bool:
    """Tell whether calls changed some files of a list, and others not; the clause before the list
    says how many they are (`in 3 files: a.py, b.py and c.py`)."""
    files = FILE.findall(fold_text(row))
    if str(len(files)) not in split_words(clause):  # one of them may be where it comes from
        return False
    changes = fold_text("\n".join(action.text for action in list_tried(index) if action.ok))
    return len({name in changes for name in files}) > 1


def is_of_other(
    action: str, told: str, doers: Sequence[ActionRecord], index: EvidenceIndex
) -> bool:
    """Tell whether a change is told of the one file of the wish, and was made to others alone."""
    files, user = FILE.findall(fold_text(told)), fold_text(index.evidence.user)
    changed = FILE.findall(fold_text("\n".join(record.text for record in doers)))
    is_change = action in ("change", "delete", "rename") and len(set(files)) == 1 and bool(changed)
    return (
        is_change
        and files[0] in user
        and not any(name in files or name in user for name in changed)
    )


def find_files_behind(sentence: Sentence, clause: str) -> str:
    """Find the row of files with which a sentence ends behind the colon after its clause, with no
    longer word beside them: `I created both: a.txt and b.txt`."""
    rest = sentence.text.partition(clause)[2].lstrip()
    words = split_words(FILE.sub(" ", fold_text(rest)))
    return rest if rest[:1] in (":", "：") and max(map(len, words), default=0) < LONG_WORD else ""


LONG_WORD = 4
"""Letters: `and` has fewer."""


def is_told(report: Report, sentence: Sentence, language: Language, index: EvidenceIndex) -> bool:
    """Tell whether a result tells that it was done, and to what the sentence names. What a call
    says that tried it in vain is no such thing: `Nothing was changed`."""
    action = report.action
    new_actions = [record for record in index.evidence.actions or () if not record.earlier]
    if any(is_try(action, record) for record in new_actions):
        return False
    if tells_row(sentence.text, new_actions, index):
        return True
    is_command = any(is_command_done(action, record) for record in new_actions)
    if not is_command and not index.tells_of(action):
        return False
    successes = list(filter(has_succeeded, new_actions))
    return is_target_known(report, sentence, language, successes, index)


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


def is_command_done(action: str, record: ActionRecord) -> bool:
    """Tell whether a command succeeded that may have changed something; a tool of a server has a
    name that says what: `create_draft` sends nothing."""
    is_ended = has_succeeded(record) and not record.runs_on
    if record.effect is not Effect.RUN or record.changed_nothing or not is_ended:
        return False
    is_of_server = bool(find_named_actions(record.tool) - {"run"})
    return fits_action(action, record) if is_of_server else True


def is_try(action: str, record: ActionRecord) -> bool:
    return record.effect in EFFECTS[action] and action in find_named_actions(record.text)


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
    """Tell whether an earlier turn did it: the user asks for it, or the sentence names the same
    thing; or whether the user says so, or it was a call that was refused."""
    if is_no_deed(action, sentence, index):
        return True
    tried = [record for record in list_tried(index) if record.earlier]
    earlier_actions = [record for record in tried if record.ok and has_done(action, record, "")]
    if not index.is_asked:
        return is_about_earlier(sentence, earlier_actions, index)
    # What was tried says what was done; a wish of then is no proof of it.
    if tried:
        return bool(earlier_actions) and not names_strange_file(sentence, index)
    return index.tells_of(action, history=True)


def names_strange_file(sentence: str, index: EvidenceIndex) -> bool:
    """Tell whether a sentence names a file that stands in no call, no result and nothing said
    before: earlier calls were about others."""
    actions = index.evidence.actions or ()
    if any(map(is_of_many, actions)):
        return False
    texts = [*index.evidence.history, *(record.text for record in actions)]
    return not knows_files(sentence, texts, index)


def knows_files(text: str, texts: Iterable[str], index: EvidenceIndex) -> bool:
    """Tell whether each file that a text names stands in a result or in one of these texts."""
    known = "\n".join([index.given, *map(fold_text, texts)])
    names = map(list_file_readings, FILE.findall(fold_text(text)))
    return all(any(reading in known for reading in readings) for readings in names)


def is_of_many(record: ActionRecord) -> bool:
    """Tell whether a call may have done it to files that it does not name."""
    return record.effect is Effect.RUN or "*" in record.arguments


def is_about_earlier(
    sentence: str, earlier_actions: Sequence[ActionRecord], index: EvidenceIndex
) -> bool:
    """Tell whether a sentence names what earlier calls were made with, and no new wish."""
    made = "\n".join(record.text for record in earlier_actions)
    names_same = bool(find_names(sentence) & find_names(made))
    return names_same and not tells_new_wish(sentence, earlier_actions, index)


def tells_new_wish(
    sentence: str, earlier_actions: Sequence[ActionRecord], index: EvidenceIndex
) -> bool:
    """Tell whether a sentence speaks of what the user wants now: a quotation of it stands in his
    words and in no call that did something, and nothing of what earlier ones did it with. A figure
    may be the number of a ticket."""
    done = [*earlier_actions, *filter(has_succeeded, list_tried(index))]
    known = split_telling_words("\n".join(record.text for record in done))
    used = split_telling_words("\n".join(record.arguments for record in earlier_actions))
    told = split_telling_words(sentence)
    quoted = split_telling_words("\n".join(QUOTATION.compiled.findall(sentence)))
    values = quoted & split_telling_words(index.evidence.user)
    return not values <= known and told.isdisjoint(used)


def split_telling_words(text: str) -> set[str]:
    """Split into words, without the names of files and those that tell nothing."""
    return set(split_words(FILE.sub(" ", fold_text(text)))) - STOP


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
    if named_actions and record.effect is Effect.WRITE:
        named_actions |= find_counted_actions(record.did)
    return named_actions


COUNTS = re.compile(r"\(\d[^()]*\)$")


def find_counted_actions(did: str) -> set[str]:
    """Find the actions of which what a call did has a count: `replaced a.txt (1 line removed)`."""
    counts = COUNTS.search(did)
    return find_named_actions(counts[0]) if counts else set()


def find_named_actions(text: str) -> set[str]:
    spaced_text = text.replace("_", " ")
    return {name for name, trace in compile_traces().items() if trace.search(spaced_text)}


def list_kindred(action: str) -> set[str]:
    return {action, *KINDRED.get(action, ())}
