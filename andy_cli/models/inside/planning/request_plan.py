"""Plan one request: which commands it needs, in which order, from which of its words."""

from collections.abc import Callable, Sequence
from itertools import pairwise

from andy_cli.messages import Choice, NotDone
from andy_cli.models.inside.planning.choosing import (
    FILE_NAMES,
    OTHER_FILE,
    find_command_name,
    find_kind_name,
)
from andy_cli.models.inside.planning.command_kinds import (
    finds_files,
    is_lister,
    plays_file,
    reads_file,
    reads_one,
    takes_file,
)
from andy_cli.models.inside.planning.cutting import ADVERBS, BEGINNING, split_at_joints
from andy_cli.models.inside.planning.entry_openers import find_taker
from andy_cli.models.inside.planning.follow_up import (
    ADDITION,
    MAX_WORDS,
    Fragment,
    drop_denial,
    find_follow_up,
    read_fragment,
    split_repair,
)
from andy_cli.models.inside.planning.list_fitting import ListFitter
from andy_cli.models.inside.planning.mentions import (
    OTHER_LEAD,
    Mentions,
    is_file,
)
from andy_cli.models.inside.planning.part_reading import (
    CERTAIN_LEAD,
    CLOSE_COMMANDS,
    Part,
    PartReader,
    is_asking,
    is_clear_wish,
)
from andy_cli.models.inside.planning.planned_request import Plan, PlannedRequest, Step, summarize
from andy_cli.models.inside.planning.replies import small_talk
from andy_cli.models.inside.planning.replies.dialogue import Turn
from andy_cli.models.inside.values.entries import is_readable
from andy_cli.models.inside.values.numbers import find_ordinal
from andy_cli.models.inside.values.superlatives import points_at_entry, says_which
from andy_cli.models.inside.values.words import (
    LINKS,
    find_plain_words,
    find_things,
    find_words,
    holds_question,
    is_negated,
    is_question,
)

WHOLE_WISH = 1.0
"""Nearness to a command of what is a wish by itself, although it begins with `and`."""
CLEAR_LEAD = 0.118
"""Lead over talk of a whole question: `what song is playing?`, and not `when is it?`"""
ASKING_LEAD = 0.035
"""Lead over talk from which a command that plays asks what to play, where nothing is named."""
READ_LEAD = 0.005
"""By so much less clear may a file be of which it is said that it is to be read."""
UNCLEAR = Plan([], [small_talk.UNCLEAR.format(able="").strip()])


class RequestPlan:
    """Plans one request."""

    def __init__(self, request: PlannedRequest) -> None:
        self._request = request
        self._mentions = Mentions(request)
        self._lists = ListFitter(request, self._mentions)
        self._reader = PartReader(request, self._mentions, self._lists)

    def plan(self, text: str, is_first: bool) -> Plan:
        """Plan the commands that the request needs, in order; none where it is talk.

        `is_first`: nothing was found in the turns before, that it could point at.
        """
        if repaired := self._plan_repaired(text, is_first):
            return repaired
        text = self._drop_denial(text)
        asked = self._read_parts(text)
        parts, steps = self._choose_steps(asked, text)
        arranged = self._ask_last(self._arrange_steps(steps, text, is_first))
        doubtful = [step for step in arranged if self._is_hardly_wished(step)]
        steps = [step for step in arranged if step not in doubtful]
        if not steps:
            return Plan([])
        steps, beyond = self._set_beyond_aside(self._note_questions(steps, asked))
        left = list_left(parts, [*steps, *beyond, *doubtful])
        unanswered = list_guesses(steps)
        unanswered += [say_unanswered(part.text) for part in left if asks_in_vain(part)]
        unanswered += [say_unanswered(step.text) for step in doubtful]
        declined = list(map(self._decline, beyond))
        return Plan(steps, unanswered, declined + list_refused(left))

    def _choose_steps(self, parts: Sequence[Part], text: str) -> tuple[Sequence[Part], list[Step]]:
        """Find the commands of the parts, else what to do for the whole; the parts with them."""
        steps = self._find_steps(parts, text)
        if not steps:
            steps = self._find_whole(text)
            parts = [Part(text, "command", step) for step in steps] or parts
        if not steps and len(parts) > 1:  # a question may stand beside a greeting and a reason
            parts = [self._answer(part) if is_asking(part.text) else part for part in parts]
            steps = self._find_steps(parts, text)
        return parts, steps

    def _drop_denial(self, text: str) -> str:
        """Drop the `no` before what is clearly a wish."""
        rest = drop_denial(text) if self._request.has_examples else text
        if rest == text or is_negated(rest):
            return text
        scores = self._request.compare(rest)
        return rest if max(scores.commands) - scores.talk > CERTAIN_LEAD else text

    def _is_hardly_wished(self, step: Step) -> bool:
        """Tell whether talk is nearly as likely as a command that plays what is not named: `who
        directed psycho` asks for no song, and is not asked which one.
        """
        is_played = plays_file(self._request.choices[step.at]) and self._request.has_examples
        if not is_played or points_at_entry(step.text) or not self._lacks_value(step):
            return False
        scores = self._request.compare(step.text)
        return scores.commands[step.at] - scores.talk < ASKING_LEAD

    def _note_questions(self, steps: Sequence[Step], parts: Sequence[Part]) -> list[Step]:
        """Note beside the only file that is read all questions which it answers."""
        read = [step for step in steps if reads_file(self._request.choices[step.at])]
        asked = tuple(part.text for part in parts if is_answered(part, read))
        if len(read) != 1 or read[0].is_guess or not asked:
            return list(steps)
        return [step._replace(questions=asked) if step in read else step for step in steps]

    def _set_beyond_aside(self, steps: Sequence[Step]) -> tuple[list[Step], list[Step]]:
        """Set aside what the model is not trusted with, so that it keeps nothing else waiting; of
        such wishes alone the first one is answered, with all that can be done in place of it.
        """
        beyond = [step for step in steps if self._request.choices[step.at].beyond]
        others = [step for step in steps if step not in beyond]
        clear = [step for step in beyond if is_clear_wish(self._request.compare(step.text))]
        return (others, clear) if others else (beyond[:1], clear[1:])

    def _decline(self, step: Step) -> NotDone:
        beyond = self._request.choices[step.at].beyond
        return NotDone(summarize(step.text), small_talk.I_AM_TOO_SMALL.format(beyond=beyond))

    def find_follow_up(self, turn: Turn) -> Plan | None:
        """Plan what is no request by itself, and goes on with the turn before; None of others."""
        if not (turn.before and self._request.has_examples):
            return None
        fragment = read_fragment(turn.request)
        if fragment is None:
            return self._plan_leaning(turn)
        planned = None if fragment.denies else self.plan(turn.request, is_first=not turn.earlier)
        is_whole = planned is not None and self._is_whole_wish(planned, fragment)
        if is_whole and not self._may_lean(planned):
            return planned
        step = find_follow_up(fragment, self._request, self._mentions)
        if step:
            return Plan([step])
        return planned if is_whole else self._doubt_fragment(planned, fragment)

    def _plan_leaning(self, turn: Turn) -> Plan | None:
        """Plan what may go on with what a file answered: a question that is not understood by
        itself, `who is it for again`, and a short one that says nothing of what it asks about, and
        is near to one of the time or the music for that alone: `where is that?`
        """
        answered, at = self._request.answered, self._request.find_last_command()
        is_asked = is_asking(turn.request) or self._request.compare(turn.request).kind == "own"
        if answered is None or at is None or not is_asked:
            return None
        step = Step(at, f"`{answered.file}`", 1.0, questions=(turn.request,))
        planned = self.plan(turn.request, is_first=not turn.earlier)
        if not planned.steps:
            return Plan([step]) if self._is_unclear(turn.request) else planned
        is_short = len(find_words(turn.request)) <= MAX_WORDS
        is_clear = not self._may_lean(planned) or planned.steps[0].lead > CLEAR_LEAD
        return Plan([step]) if is_short and not is_clear else planned

    def _is_unclear(self, text: str) -> bool:
        """Tell whether nobody could say what a text means that asks for no command."""
        scores = self._request.compare(text)
        return small_talk.is_unclear(text, scores.kind, scores.nearness)

    def _doubt_fragment(self, planned: Plan | None, fragment: Fragment) -> Plan | None:
        """Plan what neither goes on with the turn before nor is a whole wish."""
        return self._plan_denied(fragment) if planned is None else self._doubt_idle(planned)

    def _doubt_idle(self, planned: Plan) -> Plan:
        """Take a text for unclear of which nothing is taken by what was planned."""
        is_clear = not planned.steps or any(map(self._list_values, planned.steps))
        return planned if is_clear else UNCLEAR

    def _is_whole_wish(self, planned: Plan, fragment: Fragment) -> bool:
        """Tell whether what was planned needs nothing of the turn before."""
        nearness = max(self._request.compare(fragment.text).commands)
        return len(planned.steps) > 1 or (bool(planned.steps) and nearness > WHOLE_WISH)

    def _may_lean(self, planned: Plan | None) -> bool:
        """Tell whether what looks at one thing without a value may go on with what a file answered:
        `and on wednesday?`, which is near to a question of the date.
        """
        if planned is None or self._request.answered is None:
            return False
        return len(planned.steps) == 1 and not self._list_values(planned.steps[0])

    def _plan_repaired(self, text: str, is_first: bool) -> Plan | None:
        """`Play Azzurro, no wait, Volare`: plan what is meant, and not what was taken back."""
        split = split_repair(text) if self._request.has_examples else None
        planned = self.plan(split[0], is_first) if split else Plan([])
        if split is None or not planned.steps:
            return None
        step = planned.steps[-1]._replace(text=split[1])
        filled = self._request.fill(step)
        if filled.values and not filled.missing:
            return planned._replace(steps=[*planned.steps[:-1], step])
        meant = self.plan(split[1], is_first)
        return meant if meant.steps else None

    def _plan_denied(self, fragment: Fragment) -> Plan | None:
        """Plan what is wanted in place of what was done, if that is a request: of `no, the second`
        nobody knows of what where nothing was listed.
        """
        if points_at_entry(fragment.text) and not self._lists.points_back([]):
            return UNCLEAR
        planned = self.plan(fragment.text, is_first=False)
        if planned.steps:
            return planned
        return UNCLEAR if self._is_unclear(fragment.text) else None

    def _read_parts(self, text: str) -> Sequence[Part]:
        """Read the parts of a text. Questions alone are answered apart where two files answer them:
        else the whole tells best which file is meant.
        """
        parts = self._join_values(self._reader.read(text), text)
        answered = self._answer_questions(parts)
        are_apart = any(part.step for part in parts) or len(self._list_read(answered)) > 1
        return answered if are_apart else parts

    def _join_values(self, parts: Sequence[Part], text: str) -> Sequence[Part]:
        """`Look up how long eggs take`: join a command that lacks a value, and can take it from the
        part after it, with that; `zeig mir, was hier liegt` asks for that part alone.
        """
        for place, (part, behind) in enumerate(pairwise(parts)):
            joint = self._join(part, behind, text) or self._skip_lead(part, behind, text)
            if joint is None and (question := self._join_question(part, behind, text)):
                return [*parts[:place], question, *parts[place + 2 :]]
            if joint is not None:
                return [*parts[:place], Part(joint.text, "command", joint), *parts[place + 2 :]]
        return parts

    def _join(self, part: Part, behind: Part, text: str) -> Step | None:
        """Join a command that is empty alone with what stands after it, and is no other one."""
        is_other = behind.label == "command" and behind.step and not self._is_empty(behind.step)
        if part.label != "command" or part.step is None or is_other:
            return None
        _, found, rest = text.partition(part.text)
        between, follows, _ = rest.partition(behind.text)
        joint = part.step._replace(text=f"{part.text}{between}{behind.text}")
        is_whole = found and follows and self._is_empty(part.step)
        return joint if is_whole and not self._is_empty(joint) else None

    def _skip_lead(self, part: Part, behind: Part, text: str) -> Step | None:
        """Skip a command that lacks a value where a question that is one follows at once."""
        step = part.step if part.label == "command" else None
        if step is None or behind.step is None or not is_question(behind.text):
            return None
        between = text.partition(part.text)[2].partition(behind.text)[0]
        is_lead = "," in between and not ADDITION.search(between) and not says_which(part.text)
        return behind.step if is_lead and self._lacks_value(step) else None

    def _join_question(self, part: Part, behind: Part, text: str) -> Part | None:
        """`Tell me what time we let people in`: join two parts of which neither does anything with
        a value, and that stand beside each other, where a file surely answers what they ask
        together. Beside a comma one of them is a remark: `thurs night shift - whos on`.
        """
        joint = join_parts(part, behind, text)
        asks = joint is not None and (holds_question(joint) or is_asking(joint))
        do_nothing = self._does_nothing(part) and self._does_nothing(behind)
        if joint is None or not (asks and do_nothing):
            return None
        answer = self._reader.find_answer(joint)
        return Part(joint, "reading", answer) if answer and not answer.is_guess else None

    def _does_nothing(self, part: Part) -> bool:
        """Tell whether a part is no command, one without a value, or beyond the model."""
        step = part.step
        return (
            step is None
            or bool(self._request.choices[step.at].beyond)
            or not self._list_values(step)
        )

    def _is_empty(self, step: Step) -> bool:
        """Tell whether a command lacks a value, or looks for words that people ask with."""
        return self._lacks_value(step) or self._reader.searches_idly(step, "file", "url")

    def _ask_last(self, steps: list[Step]) -> list[Step]:
        """Put a first step that has to be asked about after the others, which need not wait."""
        is_open = len(steps) > 1 and not self._request.choices[steps[0].at].beyond
        return [*steps[1:], steps[0]] if is_open and self._lacks_value(steps[0]) else steps

    def _answer_questions(self, parts: Sequence[Part]) -> Sequence[Part]:
        """Let each question beside a command read the file that answers it. Where a file is read
        anyway that is it, unless another one answers it clearly better; what another command lacks
        may stand in the question.
        """
        if not self._list_read(parts):
            lacking = {part.step for part in parts if part.step and self._lacks_value(part.step)}
            parts = [self._answer(part) if lacking <= {part.step} else part for part in parts]
        if read := self._list_read(parts):
            return [self._answer_beside(part, read) for part in parts]
        return parts

    def _list_read(self, parts: Sequence[Part]) -> Sequence[Step]:
        """List the steps of parts that read a file or a page."""
        steps = filter(None, (part.step for part in parts))
        return [step for step in steps if reads_one(self._request.choices[step.at])]

    def _answer_beside(self, part: Part, read: Sequence[Step]) -> Part:
        """Answer a question beside what is read."""
        if part.step in read:
            return part
        names = [name for step in read for name in self._list_values(step)]
        answer = self._find_answer(part)
        found = self._list_values(answer) if answer else []
        if found and self._mentions.answers_better(part.text, found[0], names):
            return Part(part.text, "reading", answer)
        is_answered_there = part.step is None and bool(found)
        return part._replace(label="answered") if is_open(part) or is_answered_there else part

    def _list_values(self, step: Step) -> Sequence[str]:
        return list(self._request.fill_by_meaning(step).values.values())

    def _lacks_value(self, step: Step) -> bool:
        return bool(self._request.fill_by_meaning(step).missing)

    def _answer(self, part: Part) -> Part:
        answer = self._find_answer(part)
        return Part(part.text, "reading", answer) if answer else part

    def _find_answer(self, part: Part) -> Step | None:
        """Find what answers a question, or a command that may be one."""
        if part.label == "command":
            return self._reader.find_clearer_answer(part.text)
        return None if part.step else self._reader.find_answer(part.text)

    def _arrange_steps(self, steps: list[Step], text: str, is_first: bool) -> list[Step]:
        """Give each step the values, the command and the list that it needs beside the others."""
        if len(steps) == 1:
            steps = [self._fill_from_beside(steps[0], text)]
        steps = [repeated for step in steps for repeated in self._repeat_for_names(step)]
        if len(steps) > 1:  # alone, `then Volare` is said of what is playing
            steps = self._follow_up_all(steps)
        if is_first and not any(finds_files(self._request.choices[step.at]) for step in steps):
            steps = list(map(self._name_file, steps))
        steps = list(map(self._point_back, steps))
        if self._lists.points_back(steps) and not any(map(self._means_songs, steps)):
            steps = list(map(self._read_entry, steps))
        else:
            steps = self._lists.fit(steps)
        steps = list(map(self._search_written, steps))
        return self._drop_repeated(list(map(self._fit_to_kind, steps)))

    def _drop_repeated(self, steps: Sequence[Step]) -> list[Step]:
        """Drop what looks at the same again: two questions may be answered by one file."""
        if len(steps) == 1:
            return list(steps)  # its values would be found once more
        kept: list[Step] = []
        looked: list[tuple[int, Sequence[str]]] = []
        for step in steps:
            values = self._list_values(step)
            if not values or (step.at, values) not in looked:
                kept.append(step)
            if self._request.choices[step.at].only_looks:
                looked.append((step.at, values))
        return kept

    def _point_back(self, step: Step) -> Step:
        """`Open it`: of what is to be read and is not named take the page that was found last, or
        the file that was read last.
        """
        if not self._request.has_examples or points_at_entry(step.text):
            return step
        finder = self._request.find_last_command()
        is_read = reads_file(self._request.choices[step.at])
        if finder is None or not (is_read and self._lacks_value(step)):
            return step
        if answered := self._request.answered:
            return step._replace(text=f"{step.text}: `{answered.file}`")
        opener = find_taker(self._request, finder)
        opened = step if opener is None else step._replace(at=opener)
        return step if self._lacks_value(opened) else opened

    def _search_written(self, step: Step) -> Step:
        """`Which file has the late pick-up charge in it`: look for the most of the words that
        stands in a line together.
        """
        searched = " ".join(self._reader.list_searched(step, "file"))
        run = self._mentions.find_written_run(searched)
        return step if run in (None, searched) else step._replace(text=f'{step.text}: "{run}"')

    def _name_file(self, step: Step) -> Step:
        """`Ouvre la recette des gaufres`: of texts whose names do not tell, take the one with the
        lines that are about what is wanted.
        """
        is_told = says_which(step.text) and not points_at_entry(step.text)
        is_read = is_told and reads_file(self._request.choices[step.at])
        if not is_read or not self._lacks_value(step):
            return step
        found = self._mentions.find_answering_file(step.text, -READ_LEAD)
        if found is None:
            return step
        return step._replace(text=f"{step.text}: `{found.name}`", is_guess=not found.is_sure)

    def find_best_step(self, text: str) -> Step:
        """Find the command that is likeliest, whether or not one is meant."""
        return self._reader.find_best_step(text)

    def _read_entry(self, step: Step) -> Step:
        """`And the first one`, after a list of texts: what nothing of it can be played is read;
        where nothing is said but which one, it is one of the newest list.
        """
        reading = self._reader.find_reading_command(step.text)
        is_played = plays_file(self._request.choices[step.at])
        if reading is None or not is_played or find_ordinal(step.text) is None:
            return step
        is_bare = names_nothing(step.text)
        is_read = self._lacks_value(step) or (is_bare and self._lists.holds_texts())
        return step._replace(at=reading) if is_read else step

    def _means_songs(self, step: Step) -> bool:
        """`Play the first song`, after a list of texts: tell whether a song is clearly meant."""
        reading = self._reader.find_reading_command(step.text)
        is_played = plays_file(self._request.choices[step.at])
        if reading is None or not is_played or not self._lists.holds_texts():
            return False
        scores = self._request.compare(step.text).commands
        is_clear = scores[step.at] - scores[reading] >= OTHER_LEAD
        return is_clear and not names_nothing(step.text)

    def _find_steps(self, parts: Sequence[Part], text: str) -> list[Step]:
        """Find the commands of the parts of a text."""
        steps: list[Step] = []
        for part in parts:
            if part.label == "value":
                self._add_value(steps, part.text)
            elif part.label == "command" and part.step:
                step = part.step if part.step.questions else self._take_values(part.step, text)
                self._add_step(steps, step, text)
            elif part.step and part.step not in steps:
                steps.append(part.step)
        return steps

    def _fit_to_kind(self, step: Step) -> Step:
        """Of the commands that read a file take the one for texts, or for documents, as the file
        is; of those that list, the one for songs where the folder holds nothing else.
        """
        choice = self._request.choices[step.at]
        if reads_file(choice):
            values = list(self._request.fill_by_meaning(step).values.values())[:1]
            kinds = [find_kind_name("file", value) for value in values]
            is_read = any(kind in (FILE_NAMES["text"], OTHER_FILE) for kind in kinds)
            return self._take_likeliest(step, reads_file, kinds[0]) if is_read else step
        if is_lister(choice) and choice.examples and self._names_music_folder(step):
            return self._take_likeliest(step, is_lister, FILE_NAMES["audio"])
        return step

    def _take_likeliest(self, step: Step, is_kind: Callable[[Choice], bool], named: str) -> Step:
        """Take of the commands of a kind the one that is likeliest for files that are `named`."""
        likeliest = self._reader.find_best_of(named, is_kind)
        return step._replace(at=likeliest.at) if likeliest else step

    def _names_music_folder(self, step: Step) -> bool:
        """Tell whether a folder is named that holds recordings alone."""
        folders = [f"{value}/" for value in self._request.fill(step).values.values()]
        held = [name for name in self._request.names if name.startswith(tuple(folders))]
        files = [name for name in held if is_file(name)]
        return bool(files) and not any(map(is_readable, files))

    def _fill_from_beside(self, step: Step, text: str) -> Step:
        """`Are the trains running? Check online`: take what the only command lacks from the whole
        request.
        """
        whole = step._replace(text=text)
        is_open = self._lacks_value(step) or not self._request.has_examples
        return whole if is_open and not self._lacks_value(whole) else step

    def _add_value(self, steps: list[Step], part: str) -> None:
        """Add a call with one more value; the first value is that of the step before."""
        last = steps[-1]
        if self._lacks_value(last):
            steps[-1] = last._replace(text=f"{last.text}, {part}")
        else:
            steps.append(last._replace(text=part))

    def _take_values(self, step: Step, text: str) -> Step:
        """`Volare now, and then Azzurro`: a part whose command takes no value, and that holds one
        of what the whole asks for, asks for that.
        """
        likeliest = self._request.compare(text).best
        taken = self._mentions.find_value(step.text, self._request.choices[likeliest])
        is_meant = taken is not None and not self._request.fill(step).values
        return step._replace(at=likeliest) if is_meant else step

    def _repeat_for_names(self, step: Step) -> list[Step]:
        """`The January and March reports`: a command that takes one file or folder, or one of the
        values that it knows, is meant for each.
        """
        choice = self._request.choices[step.at]
        if not (takes_file(choice) or is_lister(choice) or choice.members):
            return [step]
        named = {self._find_named(piece, choice): piece for piece in split_at_joints(step.text)}
        named.pop(None, None)
        if len(named) < 2:
            named = self._find_written_files(step)
        return [step._replace(text=piece) for piece in named.values()] if len(named) > 1 else [step]

    def _find_written_files(self, step: Step) -> dict[str | None, str]:
        """Find the files of `show me january.csv february.csv`, where none is left out."""
        if not takes_file(self._request.choices[step.at]) or is_negated(step.text):
            return {}
        files = (thing for thing in find_things(step.text) if thing.kind == "file")
        return {file.text: file.text for file in files}

    def _find_named(self, text: str, choice: Choice) -> str | None:
        """Find the folder that is called by its name where the command lists, else the value."""
        if is_lister(choice):
            return self._mentions.find_folder(text)
        return self._mentions.find_value(text, choice)

    def _find_whole(self, text: str) -> list[Step]:
        """Find what to do for a request none of whose parts asks for a command."""
        step = self._reader.find_only_step(text) or self._reader.find_answer(text)
        return [step] if step else []

    def _add_step(self, steps: list[Step], step: Step, text: str) -> None:
        if steps and self._is_same_wish(steps[-1], step, text):
            steps[-1] = steps[-1]._replace(text=f"{steps[-1].text}, {step.text}")
        elif not (steps and self._is_afterthought(step, steps[-1], text)):
            steps.append(step)

    def _follow_up_all(self, steps: Sequence[Step]) -> list[Step]:
        followed = list(steps)
        for place in range(len(followed)):
            followed[place] = self._follow_up(followed, place)
        return followed

    def _follow_up(self, steps: Sequence[Step], place: int) -> Step:
        """`Play this, then that`: what is asked for a second time, with another value, is what the
        command's tool says it then is; the first of several of those is the command itself.
        """
        step, names = steps[place], [find_command_name(choice) for choice in self._request.choices]
        repeated = [choice.repeated_as for choice in self._request.choices]
        if names[step.at] in repeated:
            return self._find_first_call(step, repeated.index(names[step.at]), steps[:place])
        meant = self._request.choices[step.at].repeated_as
        others = [other for other in steps[:place] if other.at == step.at]
        if not (meant in names and others):
            return step
        values = self._request.fill(step).values
        if any(self._request.fill(other).values == values for other in others):
            return step
        return step._replace(at=names.index(meant))

    def _find_first_call(self, step: Step, first: int, before: Sequence[Step]) -> Step:
        """Find the command itself where a call of it stands after none, and may be meant."""
        said = BEGINNING.sub("", step.text, count=1).split()
        plain = " ".join(word for word in said if word.lower() not in ADVERBS)
        scores = self._request.compare(plain).commands
        is_close = scores[first] > scores[step.at] - CLOSE_COMMANDS
        is_second = any(other.at in (first, step.at) for other in before)
        return step._replace(at=first) if is_close and not is_second else step

    def _is_same_wish(self, step: Step, other: Step, text: str) -> bool:
        """Tell whether two parts ask for one call: the same command, of which one part has no
        value, or which stand beside each other with a comma alone between them.
        """
        if step.at != other.at:
            return False
        one, another = self._mentions.find_file_of(step), self._mentions.find_file_of(other)
        if one and another and one != another:
            return False
        if self._mentions.names_value(step) and self._mentions.names_value(other):
            return False
        return is_behind_comma(other, text) or not self._asks_for_another(step, other)

    def _asks_for_another(self, step: Step, other: Step) -> bool:
        """Tell whether both have a value; after a place `here` is another one that has none."""
        if not self._request.fill(step).values:
            return False
        takes_place = self._request.choices[step.at].members
        return bool(self._request.fill(other).values or takes_place)

    def _is_afterthought(self, step: Step, before: Step, text: str) -> bool:
        """Tell whether a part is no wish of its own: its command lacks what it needs, and it stands
        after a comma, as `s'il te plait`, or asks to see what is read anyway: `open example.org
        and show what's on it`.
        """
        if points_at_entry(step.text) or not self._lacks_value(step):
            return False
        are_readers = all(reads_one(self._request.choices[other.at]) for other in (step, before))
        is_seen = are_readers and not self._mentions.means_file(step.text)
        return is_seen or is_behind_comma(step, text)


def is_open(part: Part) -> bool:
    """Tell whether a part is a question of which nobody knows yet what answers it."""
    return part.label == "question"


def names_nothing(text: str) -> bool:
    """Tell whether a text says nothing but which one of several: `and the first one`."""
    return len(set(find_plain_words(text)) - LINKS - ADVERBS) < 2


def join_parts(part: Part, behind: Part, text: str) -> str | None:
    """Join two parts that stand beside each other, with no word between them; one with a remark
    where a sign does.
    """
    between = text.partition(part.text)[2].partition(behind.text)[0]
    joint = f"{part.text}{between}{behind.text}"
    is_apart = any(map(str.isalpha, between)) or not part.text[-1].isalnum()
    may_join = not between.strip() or is_remark(part) != is_remark(behind)
    return joint if may_join and not is_apart and joint in text else None


def is_remark(part: Part) -> bool:
    """Tell whether a part neither asks for anything nor is a question."""
    return part.step is None and not is_open(part)


def is_answered(part: Part, read: Sequence[Step]) -> bool:
    """Tell whether a part is a question that one of the files which are read answers, or may."""
    is_read = part.step is not None and bool(part.step.questions) and len(read) == 1
    return is_open(part) or part.label == "answered" or is_read


def list_left(parts: Sequence[Part], steps: Sequence[Step]) -> list[Part]:
    """List the parts of which no step is made, of several."""
    left = [part for part in parts if not any(part.text in step.text for step in steps)]
    return left if len(parts) > 1 else []


def list_refused(left: Sequence[Part]) -> list[NotDone]:
    """List the wishes among them that cannot be fulfilled."""
    refused = [part for part in left if part.label == "refused"]
    return [NotDone(summarize(part.text), small_talk.CANNOT_DO) for part in refused]


def asks_in_vain(part: Part) -> bool:
    """Tell whether a part asks what nothing answers."""
    return is_open(part) or (part.label == "talk" and is_question(part.text))


def say_unanswered(text: str) -> str:
    return small_talk.CANNOT_ANSWER.format(part=text.rstrip("?!. "))


def list_guesses(steps: Sequence[Step]) -> list[str]:
    """Say of the files that are read for a question, and may not answer it, that this is so."""
    guesses = (step for step in steps if step.is_guess)
    return [small_talk.UNSURE.format(file=step.text.split("`")[-2]) for step in guesses]


def is_behind_comma(step: Step, text: str) -> bool:
    return text[: text.find(step.text)].rstrip().endswith(",")
