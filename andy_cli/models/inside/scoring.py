"""Choose what a small model says where only a few things may be said.

A command is chosen in two steps. Words alone shortlist a few tools (features.py). For each of
those the model says how likely the user's very words are after the tool's description, compared
with how likely they are when the user only wants to chat: small models are far better at that
than at naming a tool. Both opinions are added up with weights fitted to example requests.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from andy_cli.messages import Choice, Wire
from andy_cli.models.inside.dialogue import REFUSAL, Turn, clauses, ordered, read_turn
from andy_cli.models.inside.features import POINTING, Profile, asked, features, lacks, profile
from andy_cli.models.inside.small_talk import QUESTION, talk_features

Likelihoods = Callable[[Sequence[str], str], Sequence[float]]
"""(prompts, text) -> how likely the model goes on with the text after each (natural log)."""

WEIGHTS = {
    "cover": 1.16,
    "sum": 1.04,
    "verb": 0.78,
    "first": 0.81,
    "hint": 0.37,
    "thing": 0.91,
    "name": 0.34,
    "clash": -0.62,
    "stray": -0.71,
    "missed": -0.79,
    "asks": 0.73,
    "lacks": -2.5,
    "state": 2.0,
    "sole": 1.5,
    "model": 1.74,
    "t_bias": 0.68,
    "t_things": -0.25,
    "t_general": 0.84,
    "t_noverb": 0.83,
    "t_knowledge": 2.74,
    "t_notopic": 1.28,
    "t_greet": 0.75,
}
"""Of the figures of features.py and of the model's opinion, fitted by logistic regression to one
half of the requests in tests/corpora/requests. `lacks`, `state` and `sole` are seldom met there:
they were set by hand, and the suites became no worse."""

DECISIVE = 2.6
"""A lead by words alone that the model need not confirm: it never lost on the requests there."""
SHORTLIST = 4
HOPELESS = 4.0
"""So far behind by words alone the model is not asked."""
UNLIKELY = -2.0
"""The model's opinion of a tool it was not asked about."""
SCALE = 5.0

PROMPT = (
    "A user asks a computer to do something. "
    "Each line gives the action that the computer takes and what the user said.\n"
    'Action: {action}. The user said: "'
)
TALK = "Just chat with the user"
TALKING = Choice("")
NEVER = 100.0
"""More than all figures together."""
LONGEST = 160
"""Characters of a request that the model is asked about; the rest seldom matters."""

CONTEXT_SHARE = 0.3
"""How much the whole request counts beside the clause at hand."""
REMEMBERED = 32


class Step(NamedTuple):
    """One command of a plan: its place among the choices, and whether nothing fits its needs."""

    at: int
    lacks: bool = False


class Chooser:
    """Chooses for one loaded model; remembers its latest plans, which later steps ask for again."""

    def __init__(self, likelihoods: Likelihoods) -> None:
        self._likelihoods = likelihoods
        self._plans: dict[tuple[object, ...], list[Step]] = {}

    def command(self, messages: Sequence[Wire], choices: Sequence[Choice]) -> Choice | None:
        """The next command; None when talk is what is due."""
        step = self._next(read_turn(messages), choices)
        if step is None or (step.lacks and not choices[step.at].beyond):
            return None
        return choices[step.at]

    def lacking(self, messages: Sequence[Wire], choices: Sequence[Choice]) -> str:
        """What the user has to be asked before the next command, as a question; or nothing."""
        turn = read_turn(messages)
        if turn.refused:
            return refused(turn.results[-1], choices)
        step = self._next(turn, choices)
        return questions(choices[step.at])[0] if step and step.lacks else ""

    def _next(self, turn: Turn, choices: Sequence[Choice]) -> Step | None:
        if not turn.request or turn.failed:
            return None
        steps = self._plan(turn, choices)
        done = len(turn.calls)
        return steps[done] if done < len(steps) else None

    def answer(self, messages: Sequence[Wire], choices: Sequence[Choice]) -> Choice:
        """The first that has not been given already to another question of this call.

        Of two parts of a request the answer to the second command is in the second part.
        """
        turn, given = read_turn(messages), answers(messages)
        fresh = [
            choice
            for choice in choices
            if choice.text not in given or len(choice.text) < 4 or choice.about
        ]
        best = (fresh or choices)[0]
        parts = clauses(turn.request)
        at = min(len(turn.calls), len(parts)) - 1
        if len(parts) < 2 or at < 0 or best.text in parts[at] or best.text not in turn.request:
            return best
        return next((choice for choice in fresh if choice.text in parts[at]), best)

    def _plan(self, turn: Turn, choices: Sequence[Choice]) -> list[Step]:
        key = (turn.request, turn.before, turn.said, bool(turn.earlier), tuple(choices))
        if key not in self._plans:
            if len(self._plans) >= REMEMBERED:
                self._plans.clear()
            self._plans[key] = self.plan(turn, choices)
        return self._plans[key]

    def plan(self, turn: Turn, choices: Sequence[Choice]) -> list[Step]:
        """The commands that the request needs, in order."""
        tools = [profile(choice) for choice in choices]
        if (at := self._asked_for(turn, choices, tools)) is not None:
            return [Step(at)]
        chosen = self._chosen(clauses(turn.request), turn.request, choices, tools)
        steps: list[Step] = []
        for step, (at, text) in enumerate(chosen):
            if step + 1 < len(chosen) and tools[at].verbs & LISTING:
                following, words = chosen[step + 1]
                listing = _listing(following, tools) if _points(words, turn) else None
                at = at if listing is None else _closer(at, listing, following, tools)
            listing = _listing(at, tools) if not steps and _points(text, turn) else None
            steps += [] if listing is None else [Step(listing)]
            lacks = len(chosen) == 1 and bool(by_lack(text, tools[at]))
            if tools[at].parameters or Step(at) not in steps:
                steps.append(Step(at, lacks))
        return steps

    def _asked_for(
        self, turn: Turn, choices: Sequence[Choice], tools: Sequence[Profile]
    ) -> int | None:
        """The command whose question the user has just answered, if that is no new order."""
        asking = [at for at, choice in enumerate(choices) if turn.said in questions(choice)]
        if not asking or asked(turn.request).first:
            return None
        figures = self.scores(turn.before, choices, tools)
        return max(asking, key=figures.__getitem__)

    def _chosen(
        self,
        parts: Sequence[str],
        request: str,
        choices: Sequence[Choice],
        tools: Sequence[Profile],
    ) -> list[tuple[int, str]]:
        """For each part of the request that wants one the best command; talk is left out."""
        if len(parts) > 1:
            context = by_words(request, tools)
            chosen = []
            for part in parts:
                own = self.scores(part, choices, tools)
                best = _best([a + CONTEXT_SHARE * b for a, b in zip(own, context, strict=True)])
                chosen += [(best, part)] if best < len(tools) else []
            if chosen:
                return chosen
        figures = self.scores(request, choices, tools)
        best = _best(figures)
        if best == len(tools) and ordered(request) and not QUESTION.search(request):
            # An order for which something has still to be named is asked about, not talked about.
            wanting = [-WEIGHTS["lacks"] * by_lack(request, tool) for tool in tools]
            best = _best([a + b for a, b in zip(figures, [*wanting, 0.0], strict=True)])
        return [(best, request)] if best < len(tools) else []

    def scores(self, text: str, choices: Sequence[Choice], tools: Sequence[Profile]) -> list[float]:
        """A figure for each tool and, last, for plain talk; the highest wins.

        Who asks a question wants nothing changed.
        """
        figures = by_words(text, tools)
        if asked(text).asks:
            figures = [
                figure - NEVER * bool(choice.beyond)
                for figure, choice in zip(figures, (*choices, TALKING), strict=True)
            ]
        first, second = sorted(figures, reverse=True)[:2]
        if first - second >= DECISIVE:
            return figures
        *commands, talk = figures
        opinion = self._opinion(text, choices, commands)
        return [*(a + WEIGHTS["model"] * b for a, b in zip(commands, opinion, strict=True)), talk]

    def _opinion(
        self, text: str, choices: Sequence[Choice], figures: Sequence[float]
    ) -> list[float]:
        """What the model thinks of the shortlist, talk being nought."""
        ranked = sorted(range(len(choices)), key=lambda at: -figures[at])[:SHORTLIST]
        shortlist = [at for at in ranked if figures[at] > figures[ranked[0]] - HOPELESS]
        actions = [TALK, *(described(choices[at]) for at in shortlist)]
        prompts = [PROMPT.format(action=action) for action in actions]
        talk, *found = self._likelihoods(prompts, text[:LONGEST] + '"')
        opinion = [UNLIKELY] * len(choices)
        for at, figure in zip(shortlist, found, strict=True):
            opinion[at] = (figure - talk) / SCALE
        return opinion


def by_lack(text: str, tool: Profile) -> bool:
    return lacks(asked(text), tool)


def questions(choice: Choice) -> list[str]:
    """For each parameter that is needed what a person would be asked: `Which song?`"""
    return [question(each.about or each.name) for each in profile(choice).parameters if each.needed]


def question(about: str) -> str:
    """`which song (file name or title)` is `Which song?`, `text to write` is `What is the ...?`"""
    plain = re.sub(r"\s*\([^)]*\)", "", " ".join(about.replace("_", " ").split())).strip(" .?;:,")
    if not re.match(r"(?:which|what|who|where|when|how)\b", plain, re.I):
        plain = f"what is the {re.sub(r'^(?:the|an?) ', '', plain, flags=re.I)}"
    return f"{plain[:1].upper()}{plain[1:]}?"


def refused(result: str, choices: Sequence[Choice]) -> str:
    """The question behind `cannot NAME without PARAMETER`."""
    match = REFUSAL.fullmatch(result.strip())
    if not match:
        return ""
    for choice in choices:
        if choice.text.rpartition(",")[2].strip().upper() == match[1].upper():
            for each in profile(choice).parameters:
                if each.name == match[2]:
                    return question(each.about or each.name)
    return question(match[2])


def by_words(text: str, tools: Sequence[Profile]) -> list[float]:
    """A figure for each tool and for talk, without the model's opinion."""
    request = asked(text)
    figures = features(request, tools)
    return [*map(_weighed, figures), _weighed(talk_features(request, figures))]


def described(choice: Choice) -> str:
    """The tool's description, or its name in words."""
    about = choice.about.partition("\n")[0].strip().rstrip(".")
    return about or choice.text.rpartition(",")[2].strip().lower().replace("_", " ")


def answers(messages: Sequence[Wire]) -> set[str]:
    """What was answered since the last letter."""
    given: set[str] = set()
    for message in messages:
        if message.get("role") == "assistant":
            text = str(message.get("content") or "").strip()
            given = set() if text.upper().startswith("DEAR ANDYBOT") else {*given, text}
    return given


def _points(text: str, turn: Turn) -> bool:
    """`the first one` of something that has not been listed yet."""
    named = asked(text).kinds & {"file", "quote", "url", "mail"}
    return bool(POINTING.search(text)) and not named and not turn.earlier


LISTING = frozenset({"list", "search"})


def _listing(at: int, tools: Sequence[Profile]) -> int | None:
    """The place of the tool that lists what the tool at `at` takes, if there is one."""
    if tools[at].verbs & LISTING or not tools[at].main_topics or not tools[at].hint_words:
        return None
    shared = [
        (len(tool.main_topics & tools[at].main_topics), -place)
        for place, tool in enumerate(tools)
        if tool.verbs & LISTING and place != at
    ]
    best = max(shared, default=(0, 0))
    return -best[1] if best[0] else None


def _closer(one: int, other: int, following: int, tools: Sequence[Profile]) -> int:
    """Of two tools that list the one whose entries the following tool takes."""
    wanted = tools[following].main_topics
    better = len(tools[other].main_topics & wanted) > len(tools[one].main_topics & wanted)
    return other if better else one


def _weighed(figures: Mapping[str, float]) -> float:
    return sum(WEIGHTS[name] * value for name, value in figures.items())


def _best(figures: Sequence[float]) -> int:
    return max(range(len(figures)), key=figures.__getitem__)
