"""Write the reply of the small model, whose steps are chosen for it: a command with its values, a
question, or fixed sentences.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from andy_cli.actions import fill_action
from andy_cli.messages import Choice, Constraint, NotDone, Wire
from andy_cli.models.inside.encoder import Encoder
from andy_cli.models.inside.planning.answered_question import (
    AnsweredQuestion,
    find_answered,
    list_readings,
)
from andy_cli.models.inside.planning.choosing import Scorer, name_things
from andy_cli.models.inside.planning.command_kinds import needs_value, takes_file
from andy_cli.models.inside.planning.list_fitting import holds_list
from andy_cli.models.inside.planning.mentions import (
    find_best_lines,
    find_called,
    may_abbreviate_day,
    name_plainly,
    spell_out_question,
    takes_name,
)
from andy_cli.models.inside.planning.part_reading import is_asking
from andy_cli.models.inside.planning.planned_request import Plan, PlannedRequest, Step, summarize
from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.planning.replies.conclusion import (
    ToldResult,
    conclude_all,
    describe_record,
)
from andy_cli.models.inside.planning.replies.dialogue import (
    Exchange,
    Turn,
    name_command,
    read_turn,
)
from andy_cli.models.inside.planning.replies.questions import (
    AnswerReader,
    ask_about,
    repeat_question,
)
from andy_cli.models.inside.planning.request_plan import RequestPlan
from andy_cli.models.inside.values.clock_times import names_time
from andy_cli.models.inside.values.entries import ListedEntry, find_entries
from andy_cli.models.inside.values.filling import FilledArguments, Filler, Known
from andy_cli.models.inside.values.parameters import Parameter
from andy_cli.models.inside.values.spans import drop_excluded, quote_names
from andy_cli.models.inside.values.superlatives import find_superlative, points_at_entry
from andy_cli.models.inside.values.templates import list_spoken_words
from andy_cli.models.inside.values.words import (
    LINKS,
    find_plain_words,
    find_things,
    is_negated,
    is_question,
)

MAX_KEPT_PLANS = 32
"""Later steps of a turn ask for the same plan again."""
MIN_LEAD = 0.002
"""With a smaller lead over the next command, what plays or acts is confirmed by the user first."""
CONFIRMATION = "Shall I "
MIN_LINES, MAX_LINE = 4, 300
"""Lines of a text of which the one that answers is shown first, and its characters."""
MAX_ANSWERS = 3


MAX_OFFERED = 8
"""Files that are listed where one of them may be meant."""


class Utterance(NamedTuple):
    text: str
    is_command: bool = False
    not_done: Sequence[NotDone] = ()
    """The wishes that cannot be fulfilled, or are asked about first."""


class Planner:
    def __init__(
        self,
        name: str,
        encoder: Encoder,
        scorer: Scorer,
        filler: Filler,
        writes_texts: bool = False,
    ) -> None:
        """`name` is the model's, as users are told it; `writes_texts`: it can write a poem."""
        self._name = name
        self._writes_texts = writes_texts
        self._encoder = encoder
        self._scorer = scorer
        self._filler = filler
        self._answers = AnswerReader(encoder, scorer, filler)
        self._plans: dict[tuple[object, ...], Plan] = {}

    def write_reply(self, messages: Sequence[Wire], constraint: Constraint) -> Utterance | None:
        """Write the whole reply to the messages, of which the last one is answered.

        None for a text that the model is to write: a poem, a translation.
        """
        turn, choices = read_turn(messages), constraint.choices
        turn = quote_turn(turn, constraint.context.names)
        turn = spell_out_turn(turn, constraint)
        if turn.lacks_value:
            question = repeat_question(turn.results[-1], choices)
            return Utterance(question, not_done=[NotDone(summarize(turn.request), question)])
        confirmed = turn.asked.startswith(CONFIRMATION) and self._agrees(turn.request)
        if confirmed:
            turn = replace(turn, request=turn.before)
        turn = self._resume_request(turn, constraint)
        plan = self._recall_plan(turn, constraint)
        if step := self._find_next(plan.steps, turn, constraint):
            return self._write_step(step, turn, constraint, confirmed)
        if not constraint.context.results and plan.remarks:
            said = "\n".join(plan.remarks)
            return Utterance(said, not_done=[NotDone(summarize(turn.request), said)])
        if not constraint.context.results:
            return self._answer_small_talk(turn, constraint)
        return self._finish_with_results(turn, constraint)

    def _resume_request(self, turn: Turn, constraint: Constraint) -> Turn:
        """`Play it again`: put the request in its place that led to what is wanted once more; not
        for `never again`, and of what the commands of others do nothing.
        """
        is_known = any(choice.examples for choice in constraint.choices)
        if not (turn.exchanges and is_known):
            return turn
        scores = self._scorer.compare(turn.request, constraint.choices, constraint.context.names)
        is_clear = scores.kind == small_talk.AGAIN and scores.talk > max(scores.commands)
        is_whole = (
            is_question(turn.request)
            or is_negated(turn.request)
            or self._names_file(turn.request, scores.best, constraint)
        )
        is_meant = is_clear and not is_whole
        place = find_repeatable(turn.exchanges, constraint.choices) if is_meant else None
        if place is None:
            return turn
        before = turn.exchanges[place]
        return replace(turn, request=before.request, exchanges=turn.exchanges[:place])

    def _names_file(self, text: str, at: int, constraint: Constraint) -> bool:
        """Tell whether a command finds a file in a text: `play the georgia one once more`."""
        choice, known = constraint.choices[at], Known((), constraint.context.names)
        return takes_file(choice) and bool(self._filler.rough.fill(choice, text, known).values)

    def plan(self, turn: Turn, constraint: Constraint) -> Plan:
        """Plan the commands that the request needs, in order; none where it is talk."""
        choices = constraint.choices
        if not turn.request or not choices:
            return Plan([])
        answered = self._answers.find_asking(turn, choices)
        if answered and not self._is_asked_again(answered, turn, constraint):
            return Plan([answered])
        request_plan = self._make_request_plan(constraint, turn)
        planned = request_plan.find_follow_up(turn)
        planned = planned or request_plan.plan(turn.request, is_first=not turn.earlier)
        if planned.steps:
            return planned
        if answered and not turn.was_asked_twice:
            return Plan([answered])
        if constraint.free_text:
            return planned
        return Plan([request_plan.find_best_step(turn.request)])

    def _is_asked_again(self, answered: Step, turn: Turn, constraint: Constraint) -> bool:
        """Tell whether a command of andy's own, of which there is one question, still lacks what
        was asked for."""
        choice, known = constraint.choices[answered.at], Known((), constraint.context.names)
        return bool(choice.examples and self._filler.fill(choice, answered.text, known).missing)

    def _make_request_plan(self, constraint: Constraint, turn: Turn) -> RequestPlan:
        filler = self._filler.rough
        return RequestPlan(
            PlannedRequest(self._encoder, self._scorer, filler, constraint, turn.exchanges)
        )

    def _recall_plan(self, turn: Turn, constraint: Constraint) -> Plan:
        commands = tuple(choice.text for choice in constraint.choices)
        listed = tuple(map(holds_list, constraint.context.results))
        key = (
            turn.request,
            turn.exchanges,
            bool(turn.earlier),
            constraint.free_text,
            commands,
            listed,
        )
        if key not in self._plans:
            if len(self._plans) >= MAX_KEPT_PLANS:
                self._plans.clear()
            self._plans[key] = self.plan(turn, constraint)
        return self._plans[key]

    def _write_step(
        self, step: Step, turn: Turn, constraint: Constraint, confirmed: bool
    ) -> Utterance:
        choice = constraint.choices[step.at]
        if choice.beyond:
            answer = small_talk.explain_too_small(self._name, choice, constraint.choices, turn.said)
            reason = small_talk.MODEL_IS_TOO_SMALL.format(model=self._name, beyond=choice.beyond)
            return self._append_to_results(step, answer, reason, turn, constraint)
        found = self._fill(choice, step, turn, constraint)
        if found.missing:
            question = ask_about(found.missing[0])
            offered = list_offered(found.missing[0], choice, constraint.context.names)
            text = "\n".join(filter(None, (offered, question)))
            return self._append_to_results(step, text, question, turn, constraint)
        only_looks = choice.only_looks and not step.rival
        if not (confirmed or only_looks or is_sure(step, choice, constraint.context.names)):
            action = fill_action(choice.action, found.values) or choice.about
            question = f"{CONFIRMATION}{action}?"
            return self._append_to_results(step, question, question, turn, constraint)
        command = write_command(choice, found)
        if command in turn.calls:
            return self._finish_with_results(turn, constraint)  # two parts led to one command
        return Utterance(command, is_command=True)

    def _fill(
        self, choice: Choice, step: Step, turn: Turn, constraint: Constraint
    ) -> FilledArguments:
        known = Known(
            (*constraint.context.earlier, *constraint.context.results),
            constraint.context.names,
            (turn.before,),
        )
        found = self._filler.fill_by_meaning(choice, step.text, known)
        # What andy's own commands need is of a form that an answer has too.
        return found if choice.examples else self._answers.take(found, choice, turn)

    def _find_next(self, steps: Sequence[Step], turn: Turn, constraint: Constraint) -> Step | None:
        """Find the step after the calls that were made; none where the last one was refused, or
        failed and the next one needs its result.
        """
        if turn.not_allowed or len(turn.calls) >= len(steps):
            return None
        step = steps[len(turn.calls)]
        choice, known = constraint.choices[step.at], Known((), constraint.context.names)
        is_missing = bool(self._filler.rough.fill(choice, step.text, known).missing)
        needs_found = is_missing or points_at_entry(step.text)
        return None if turn.failed and needs_found else step

    def _append_to_results(
        self, step: Step, text: str, reason: str, turn: Turn, constraint: Constraint
    ) -> Utterance:
        """Write why a step is not done, or a question about it, after what was found so far."""
        plan = self._recall_plan(turn, constraint)
        told = [self._render_results(turn, constraint)] if constraint.context.results else []
        declined = NotDone(summarize(step.text), reason)
        said = "\n\n".join([*told, *plan.remarks, text])
        return Utterance(said, not_done=[declined, *plan.declined])

    def _finish_with_results(self, turn: Turn, constraint: Constraint) -> Utterance:
        """Write what was found, and what of the request is not answered or done."""
        plan, told = self._recall_plan(turn, constraint), self._render_results(turn, constraint)
        said = ("\n\n" if "\n" in told else "\n").join([told, *plan.remarks])
        return Utterance(said, not_done=plan.declined)

    def _render_results(self, turn: Turn, constraint: Constraint) -> str:
        steps = self._recall_plan(turn, constraint).steps
        told = list_told_results(turn, constraint, steps)
        questions = [() if step.is_guess else step.questions for step in steps]
        answered = find_answered(turn.exchanges, constraint.choices)
        replies = [exchange.reply for exchange in turn.exchanges]
        return conclude_all(self._add_all_answers(told, questions, answered), replies)

    def _add_all_answers(
        self,
        told: Sequence[ToldResult],
        questions: Sequence[Sequence[str]],
        answered: AnsweredQuestion | None,
    ) -> list[ToldResult]:
        """Add the lines that answer questions best to each text that was read for them; a question
        may lean on the one before: `who mends the hose, and what is his number?`
        """
        found = []
        for place, result in enumerate(told):
            asked = questions[place] if place < len(questions) else ()
            with_answers = self._add_answers(result, asked, answered)
            found.append(with_answers)
            answers = with_answers.answers
            if not answers and result.result.count("\n") < MIN_LINES:
                answers = [result.result]  # so short that all of it answers
            if asked and result.done and answers:
                answered = AnsweredQuestion(asked[-1], name_read(result), answers[-1])
        return found

    def _add_answers(
        self, told: ToldResult, questions: Sequence[str], answered: AnsweredQuestion | None
    ) -> ToldResult:
        """Add the lines that answer questions best to a text that was read for them, or the entry
        of a list that is asked about.
        """
        if not (questions and told.done):
            return told
        if entry := find_asked_entry(questions[0], told.result):
            return told._replace(answers=[describe_record(entry.record)])
        lines = told.result.split("\n")
        if sum(bool(line.strip()) for line in lines) < MIN_LINES:
            return told
        name = name_read(told)
        answers: list[str] = []
        for question in questions:
            best = find_best_lines(self._encoder, list_readings(question, answered), name, lines)
            if len(best) <= MAX_ANSWERS and sum(map(len, best)) <= MAX_LINE:
                answers += best
            answered = AnsweredQuestion(question, name, "")
        return told._replace(answers=list(dict.fromkeys(answers)))

    def _agrees(self, text: str) -> bool:
        return max(self._encoder.closeness(text, small_talk.YES)) > MIN_SAME_NEARNESS

    def _answer_small_talk(self, turn: Turn, constraint: Constraint) -> Utterance | None:
        text, choices = turn.request, constraint.choices
        scores = self._scorer.compare(text, choices)
        if self._writes_texts and (scores.kind == "create" or scores.text_lead > MIN_TEXT_LEAD):
            return None
        answer = small_talk.answer_talk(text, scores.kind, scores.nearness, choices, turn.said)
        if beyond := constraint.context.absent.get(scores.kind):
            choice = Choice("", beyond=beyond)
            answer = small_talk.explain_too_small(self._name, choice, choices, turn.said)
        is_refused = small_talk.is_refused(scores.kind)
        reason = answer.partition(". ")[0].rstrip(".") + "."
        return Utterance(answer, not_done=[NotDone(summarize(text), reason)] if is_refused else [])


def find_repeatable(exchanges: Sequence[Exchange], choices: Sequence[Choice]) -> int | None:
    """Find the place of the latest turn that may be wanted once more: one that found something, or
    that did something with a value. The music is not paused once more.
    """
    commands = {choice.text: choice for choice in choices}
    for place in reversed(range(len(exchanges))):
        called = [commands.get(name_command(call)) for call in exchanges[place].calls]
        if any(choice and (choice.only_looks or needs_value(choice)) for choice in called):
            return place
    return None


def is_sure(step: Step, choice: Choice, names: Sequence[str]) -> bool:
    """Tell whether it is clear that what plays or acts is wished for now."""
    # A title may be `Don't Stop Me Now`, or `Nine to Five`, which tells nothing of the wish.
    plain = name_things(step.text, names)
    # Commands of others may take a time of day.
    is_now = not (choice.examples and names_time(plain))
    return step.lead >= MIN_LEAD and is_now and not is_negated(plain)


def find_asked_entry(question: str, result: str) -> ListedEntry | None:
    """Find the entry of a list of records that a question is about, by its name or by what it is
    beside the others."""
    entries = [entry for entry in find_entries(result) if entry.record]
    names = [entry.name for entry in entries]
    superlative = find_superlative(question)
    found = find_called(question, names) or (superlative and superlative.find_extreme(entries))
    return entries[names.index(found)] if found else None


def name_read(told: ToldResult) -> str:
    """Name the file that was read."""
    return told.done.removeprefix("read ").partition(",")[0]


def list_offered(missing: Parameter, choice: Choice, names: Sequence[str]) -> str:
    """List the files of which one may be meant; nothing where none is known."""
    if missing.kind != "file":
        return ""
    fitting = [name_plainly(name) for name in names if takes_name(choice, name)]
    if len(fitting) < 2:
        return ""
    more = f" and {len(fitting) - MAX_OFFERED} more" if len(fitting) > MAX_OFFERED else ""
    return f"There are {', '.join(fitting[:MAX_OFFERED])}{more}."


def list_told_results(
    turn: Turn, constraint: Constraint, steps: Sequence[Step]
) -> list[ToldResult]:
    """Pair each result with its command, the part of the request that asked for it and what was
    done.
    """
    results = constraint.context.results
    commands = {choice.text: choice for choice in constraint.choices}
    called = [commands.get(name_command(call)) for call in turn.calls]
    # Where the messages are too long the first calls are missing among them.
    missing = max(0, len(results) - len(called))
    deeds = constraint.context.done
    told = []
    for place, result in enumerate(results):
        deed = deeds[place] if place < len(deeds) else ""
        choice = called[place - missing] if place >= missing else None
        wish = steps[place].text if place < len(steps) else ""
        told.append(ToldResult(result, deed, choice, wish))
    return told


PLANNED_REQUEST = 600
"""Characters of a request that is planned: what it costs grows with the square of them."""


def shorten_request(text: str) -> str:
    """Cut a long request after a word; its beginning says what is wanted."""
    if len(text) <= PLANNED_REQUEST:
        return text
    return text[:PLANNED_REQUEST].rsplit(maxsplit=1)[0]


MIN_SAME_NEARNESS = 0.93
"""Nearness of two short answers that mean the same."""
MIN_TEXT_LEAD = -0.01
"""So near to the nearest talk is what asks for a text: what is to be translated or corrected is
often talk itself."""


def write_command(choice: Choice, found: FilledArguments) -> str:
    """The command with its values, one a line."""
    lines = [f"{name}: {' '.join(value.split())}" for name, value in found.values.items()]
    return "\n".join([choice.text, *lines])


def spell_out_turn(turn: Turn, constraint: Constraint) -> Turn:
    """Write out the days that a question abbreviates and a text here has; not in what names a file,
    an address or a text.
    """
    request = turn.request
    if not is_asking(request) or find_things(request) or not may_abbreviate_day(request):
        return turn
    named = find_plain_words(" ".join(constraint.context.names))
    texts = constraint.context.read_lines().values()
    return replace(turn, request=spell_out_question(request, texts, set(named)))


def quote_turn(turn: Turn, names: Sequence[str]) -> Turn:
    """Put what is there and is called by its name in backticks, wherever the user says it, and drop
    what is left out of a wish.
    """

    def quote(text: str) -> str:
        wanted = drop_excluded(shorten_request(text), names)
        return quote_names(wanted, names, list_spoken_words() | LINKS)

    exchanges = tuple(item._replace(request=quote(item.request)) for item in turn.exchanges)
    return replace(turn, request=quote(turn.request), exchanges=exchanges)
