"""Reports of actions in many languages: `verbs/*.toml`, read when needed.

Each table has, by action, its forms as a participle under `done` (`booked` for `schedule`) and as
`I did` in one word under `own_forms` (`reservei`), and the patterns around them: `own` for `I have
booked`, `told` for `has been booked`, `weak` for `was booked`, which is a report only where
something was tried. Another verb is one more expression after its action; examples are in
tests/corpora/grounding.

Compiled is only what a sentence needs: the forms of one action, and the patterns around them.
"""

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, cached_property, lru_cache
from pathlib import Path

from andy_cli.compiler.expression import Expression

FOLDER = Path(__file__).parent / "verbs"
SCRIPTS = {
    "zh": "\u4e00-\u9fff", "ja": "\u3040-\u30ff", "hi": "\u0900-\u097f", "bn": "\u0980-\u09ff",
    "ar": "\u0600-\u06ff", "ur": "\u0600-\u06ff", "ru": "\u0400-\u04ff",
}  # fmt: skip
"""The letters of those that are not written in Latin ones."""
COMMON_WORDS = {
    "en": "the and is of to in you i it with for i've are was that this",
    "es": "el los las que una y en de está hay con para he se lo por",
    "fr": "le les des est et une dans vous j'ai pour du la il que sur",
    "pt": "o os uma e em não para com está você do foi na que",
    "de": "der die das und ist ich nicht mit ein zu den wurde habe auf",
    "id": "yang dan di ini itu dengan untuk sudah telah saya ke",
    "it": "il gli una e di che è ho con per nel la sono stato",
    "nl": "het een de van ik niet met voor zijn heb dat naar je bestand",
    "sv": "och att jag som är för på inte har av till det ett filen",
    "pl": "nie się i do jest został została zostały plik dla że oraz już pliku mam",
}  # fmt: skip
"""The words that tell one Latin language from the other."""
TRACES = {
    "create": "creat mak made writ wrote add insert generat append touch mkdir put new",
    "draft": "draft",
    "change": "edit chang updat modif replac patch set fix convert sort renam",
    "tidy": "tidy clean",
    "delete": "delet remov eras trash unlink rm rmdir clear empt drop purg uninstall",
    "move": "mov mv archiv transfer relocat", "copy": "cop cp duplicat clon backup rsync",
    "rename": "renam mv", "save": "sav writ wrote stor export put",
    "send": "send sent forward repl post deliver submit", "share": "shar invit publish grant",
    "schedule": "schedul book reserv event appointment remind order",
    "cancel": "cancel declin accept confirm complet clos mark done read resolv",
    "play": "play start resum", "stop": "stop paus mut skip next volume", "queue": "queue enqueu",
    "remember": "remember memor note stor fact", "install": "install upgrad enabl disabl",
    "run": "run exec start restart build test commit push launch", "open": "open launch brows",
    "search": "search", "download": "download fetch pull", "upload": "upload put",
}  # fmt: skip
"""Beginnings of the English words by which names of tools and results tell of an action."""
MARKS = r"\w\u0900-\u0963\u0966-\u097f\u0980-\u09ff"
"""Letters, and the signs that belong to letters in Indian scripts."""
FINAL = ("de", "nl", "hi", "bn", "ur", "ja", "zh")
"""The verb stands last: what denies it may stand anywhere in the clause, else before it."""
LITERAL = Expression(r"[\u064b-\u0652]*(?:[^\W\d_][\u0900-\u0dff\u064b-\u0652]*|[ '’-])+")
WORD = Expression(r"[^\W\d_]+(?:['’]\w+)?")
NAME = Expression(r"(?<!\S)\S*\w[./_=@]\w\S*")
"""A file, a path, an address: `server.ini` is not the Indonesian `ini`."""
LATIN = Expression("[a-z]{3}")
LOOKAROUND = Expression(r"\(\?<?[=!][^()]*(?:\([^()]*\)[^()]*)*\)")
SET = Expression(r"\[(?P<letters>[^\W\d_]+)\](?P<optional>\??)(?P<rest>.*)", re.S)
"""One of several letters, or none, and what follows."""

SHORT, REMEMBERED = 200, 2_000
"""Characters of a sentence whose actions are remembered, and how many sentences."""


class Language:
    """One language: its finished forms by action, and what stands around them in a report."""

    def __init__(self, name: str) -> None:
        text = (FOLDER / f"{name}.toml").read_text(encoding="utf-8")
        table = tomllib.loads(text)
        self.name = name
        self._own: list[str] = table["own"]
        self._told: list[str] = table["told"]
        self._weak: list[str] = table.get("weak", [])
        self._done: Mapping[str, list[str]] = table["done"]
        self._own_forms: Mapping[str, list[str]] = table.get("own_forms", {})
        self._intends: list[str] = table.get("intends", [])
        self._words: Mapping[str, list[str]] = {key: table[key] for key in ("unreal", "others")}
        self._finished_forms: dict[str, re.Pattern[str]] = {}
        self._patterns: dict[tuple[str, str], Sequence[re.Pattern[str]]] = {}
        self._named: dict[str, Sequence[str]] = {}
        """Short texts that were looked at, and the actions they may name."""
        self._beginnings = {action: self._list_beginnings(action) for action in self._done}
        all_beginnings = frozenset().union(*self._beginnings.values())
        self._any_beginning = re.compile("|".join(map(re.escape, sorted(all_beginnings))))

    def _list_beginnings(self, action: str) -> frozenset[str]:
        beginnings: set[str] = set()
        for verb_form in self.list_forms(action):
            beginnings.update(find_beginnings(verb_form) or [""])  # it may begin anyhow
        return frozenset(beginnings)

    @property
    def known_actions(self) -> Sequence[str]:
        return (*self._done,)

    @cached_property
    def unreal(self) -> re.Pattern[str]:
        """Words that make a clause no report: not, if, can, will."""
        return self._compile_words(self._words["unreal"])

    @cached_property
    def others(self) -> re.Pattern[str]:
        """Words that say that somebody else did it."""
        return self._compile_words(self._words["others"])

    @cached_property
    def intends(self) -> re.Pattern[str]:
        """Words by which the speaker says what he is going to do."""
        return compile_choice(self._intends)

    def find_actions(self, text: str) -> Sequence[str]:
        """Find the actions that a text may name."""
        lower = text.lower()
        known_actions = self._named.get(lower)
        if known_actions is not None:
            return known_actions
        actions = tuple(self._search_actions(lower))
        # What is very long says the same again and again.
        if len(lower) < SHORT and len(self._named) < REMEMBERED:
            self._named[lower] = actions
        return actions

    def _search_actions(self, lower: str) -> Iterator[str]:
        if not self._any_beginning.search(lower):
            return
        for action, beginnings in self._beginnings.items():
            # Few sentences get past the first test; the second compiles what it looks for.
            if not any(start in lower for start in beginnings):
                continue
            if self._compile_forms(action).search(lower):
                yield action

    def _compile_forms(self, action: str) -> re.Pattern[str]:
        """Compile whatever finished form of the action, wherever it stands."""
        if action not in self._finished_forms:
            self._finished_forms[action] = compile_choice(self.list_forms(action))
        return self._finished_forms[action]

    def tells_of(self, action: str, text: str) -> bool:
        """Tell whether a finished form of the action stands in a folded text."""
        beginnings = self._beginnings.get(action, frozenset())
        if not any(len(start) > 2 and start in text for start in beginnings):
            return False
        return self._compile_forms(action).search(text) is not None

    def find_report_patterns(self, action: str, report_form: str) -> Sequence[re.Pattern[str]]:
        """Compile what says that it was done: `own` by the speaker, `told` by somebody, `weak`
        perhaps."""
        key = action, report_form
        if key not in self._patterns:
            done_group = f"(?P<done>{'|'.join(self._done[action])})"
            templates = {"own": self._own, "told": self._told, "weak": self._weak}[report_form]
            sources = [template.replace("{done}", done_group) for template in templates]
            if report_form == "own" and (forms := self._own_forms.get(action)):
                sources.append(f"(?<![{MARKS}])(?P<done>{'|'.join(forms)})(?![{MARKS}])")
            self._patterns[key] = [compile_choice([source]) for source in sources]
        return self._patterns[key]

    def list_forms(self, action: str) -> list[str]:
        """List the regular expressions of the finished forms of an action."""
        return [*self._done[action], *self._own_forms.get(action, ())]

    def _compile_words(self, words: Sequence[str]) -> re.Pattern[str]:
        expressions = []
        for word in sorted(words, key=len, reverse=True):
            expression = re.escape(word)
            if self.name not in ("zh", "ja"):
                is_ending = word.startswith(("'", "’", "n'", "n’"))  # as of `I'll` and `didn't`
                boundary = "" if is_ending else f"(?<![{MARKS}])"
                expression = f"{boundary}{expression}(?![{MARKS}])"
            expressions.append(expression)
        return compile_choice(expressions)


@lru_cache(maxsize=64)
def find_reported_actions(language: Language, text: str) -> frozenset[str]:
    """Find the actions that a text reports as done: `a.txt was deleted, why?` It is asked of the
    user's words for each sentence."""
    reported_actions = set()
    for action in language.find_actions(text):
        for report_form in ("own", "told", "weak"):
            patterns = language.find_report_patterns(action, report_form)
            if any(pattern.search(text) for pattern in patterns):
                reported_actions.add(action)
    return frozenset(reported_actions)


def reports_action(language: Language, text: str) -> bool:
    return bool(find_reported_actions(language, text))


def compile_choice(expressions: Iterable[str]) -> re.Pattern[str]:
    """Compile what matches any of the expressions, in whatever case; none match nothing."""
    return re.compile("|".join(expressions) or r"(?!)", re.IGNORECASE)


def find_beginnings(expression: str) -> list[str]:
    """Find the letters with which the texts begin that a regular expression may match."""
    plain = LOOKAROUND.sub("", expression)
    if plain.startswith("(?:"):
        return find_group_beginnings(plain)
    if letter_set := SET.match(plain):
        following = find_beginnings(letter_set["rest"])
        letters = [""] if letter_set["optional"] else letter_set["letters"]
        return [letter + text for letter in letters for text in following]
    literal = LITERAL.match(plain)
    if literal is None:
        return []
    text = literal[0]
    if plain[literal.end() : literal.end() + 1] in ("?", "*", "{"):
        text = text[:-1]  # the last letter may be missing
    return [text.lower()]


def find_group_beginnings(expression: str) -> list[str]:
    """Find them of an expression that begins with a group, which may be empty or left out."""
    alternatives, rest = split_group(expression)
    beginnings = [text for part in alternatives for text in find_beginnings(part) or [""]]
    if "" in beginnings or rest[:1] in ("?", "*"):
        beginnings += find_beginnings(rest.lstrip("?*"))
    return list(filter(None, beginnings))


def split_group(expression: str) -> tuple[list[str], str]:
    """Split the group that an expression begins with into its alternatives, and what follows."""
    depth, start = 0, len("(?:")
    alternatives: list[str] = []
    for position, letter in enumerate(expression):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 or (depth == 1 and letter == "|"):
            alternatives.append(expression[start:position])
            start = position + 1
        if depth == 0:
            break
    return alternatives, expression[start:]


@cache
def load_language(name: str) -> Language:
    """Raises FileNotFoundError for a language that there is no table of."""
    return Language(name)


def detect_languages(text: str) -> list[Language]:
    """Detect the languages that a text may be written in: by its letters, and by its commonest
    words."""
    names = [name for name, letters in SCRIPTS.items() if re.search(f"[{letters}]", text)]
    if "ja" in names and "zh" in names:
        names.remove("zh")
    if LATIN.search(text):
        names += detect_latin_languages(text)
    return [load_language(name) for name in names]


def detect_latin_languages(text: str) -> list[str]:
    spoken = NAME.sub(" ", text.lower().replace("’", "'"))
    words = WORD.compiled.findall(spoken)
    common = _split_common_words()
    scores: dict[str, int] = {}
    for name, common_words in common.items():
        scores[name] = sum(word in common_words for word in words)
    best_score = max(scores.values())
    return [name for name, score in scores.items() if score >= best_score * 0.5]


@cache
def _split_common_words() -> Mapping[str, frozenset[str]]:
    return {name: frozenset(words.split()) for name, words in COMMON_WORDS.items()}


@cache
def compile_traces() -> Mapping[str, re.Pattern[str]]:
    """Compile, by action, what tells of it in the names of tools, in command lines and results."""
    return {
        action: compile_choice(f"(?<![a-z]){word}" for word in words.split())
        for action, words in TRACES.items()
    }
