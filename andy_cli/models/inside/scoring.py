"""Choose what a small model says where only a few things may be said.

A command is chosen in two steps. Words alone shortlist a few tools (features.py). For each of
those the model says how likely the user's very words are after the tool's description, compared
with how likely they are when the user only wants to chat: small models are far better at that
than at naming a tool. Both opinions are added up with weights fitted to example requests.
"""

from collections.abc import Callable, Mapping, Sequence

from andy_cli.messages import Choice, Wire
from andy_cli.models.inside.dialogue import Turn, clauses, read_turn
from andy_cli.models.inside.features import POINTING, Profile, asked, features, profile
from andy_cli.models.inside.small_talk import talk_features

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
half of the requests in tests/corpora/requests."""

DECISIVE = 2.6
"""A lead by words alone that the model need not confirm: it never lost on the requests there."""
SHORTLIST = 4
UNLIKELY = -2.0
"""The model's opinion of a tool it was not asked about."""
SCALE = 5.0

PROMPT = (
    "A user asks a computer to do something. "
    "Each line gives the action that the computer takes and what the user said.\n"
    'Action: {action}. The user said: "'
)
TALK = "Just chat with the user"
LONGEST = 160
"""Characters of a request that the model is asked about; the rest seldom matters."""

CONTEXT_SHARE = 0.3
"""How much the whole request counts beside the clause at hand."""
REMEMBERED = 32


class Chooser:
    """Chooses for one loaded model; remembers its latest plans, which later steps ask for again."""

    def __init__(self, likelihoods: Likelihoods) -> None:
        self._likelihoods = likelihoods
        self._plans: dict[tuple[object, ...], list[int]] = {}

    def command(self, messages: Sequence[Wire], choices: Sequence[Choice]) -> Choice | None:
        """The next command; None when talk is what is due."""
        turn = read_turn(messages)
        if not turn.request or turn.failed:
            return None
        steps = self._plan(turn, choices)
        done = len(turn.calls)
        return choices[steps[done]] if done < len(steps) else None

    def answer(self, messages: Sequence[Wire], choices: Sequence[Choice]) -> Choice:
        """The first that has not been given already to another question of this call."""
        given = answers(messages)
        fresh = [choice for choice in choices if choice.text not in given or len(choice.text) < 4]
        return (fresh or choices)[0]

    def _plan(self, turn: Turn, choices: Sequence[Choice]) -> list[int]:
        key = (turn.request, bool(turn.earlier), tuple(choices))
        if key not in self._plans:
            if len(self._plans) >= REMEMBERED:
                self._plans.clear()
            self._plans[key] = self.plan(turn, choices)
        return self._plans[key]

    def plan(self, turn: Turn, choices: Sequence[Choice]) -> list[int]:
        """The commands that the request needs, in order, as places in `choices`."""
        tools = [profile(choice) for choice in choices]
        chosen = self._chosen(clauses(turn.request), turn.request, choices, tools)
        steps: list[int] = []
        for step, (at, text) in enumerate(chosen):
            if step + 1 < len(chosen) and tools[at].verbs & LISTING:
                following, words = chosen[step + 1]
                listing = _listing(following, tools) if _points(words, turn) else None
                at = at if listing is None else _closer(at, listing, following, tools)
            listing = _listing(at, tools) if not steps and _points(text, turn) else None
            steps += [at] if listing is None else [listing, at]
        return steps

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
        best = _best(self.scores(request, choices, tools))
        return [(best, request)] if best < len(tools) else []

    def scores(self, text: str, choices: Sequence[Choice], tools: Sequence[Profile]) -> list[float]:
        """A figure for each tool and, last, for plain talk; the highest wins."""
        figures = by_words(text, tools)
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
        shortlist = sorted(range(len(choices)), key=lambda at: -figures[at])[:SHORTLIST]
        actions = [TALK, *(described(choices[at]) for at in shortlist)]
        prompts = [PROMPT.format(action=action) for action in actions]
        talk, *found = self._likelihoods(prompts, text[:LONGEST] + '"')
        opinion = [UNLIKELY] * len(choices)
        for at, figure in zip(shortlist, found, strict=True):
            opinion[at] = (figure - talk) / SCALE
        return opinion


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
