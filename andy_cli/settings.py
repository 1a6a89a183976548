"""Layered configuration; every value knows where it came from.

    defaults < user file < environment < flags, and what a trusted project tightens

The user file is `config.toml` in the configuration folder. A project's `.andy/config.toml` is not
read at all before its folder is trusted (`andy trust`); then it may forbid, ask and limit there
and in all folders below, and nothing else: it never loosens a rule, names a server or a key.
"""

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from andy_cli.errors import UsageError


class Setting(NamedTuple):
    """A setting: its key, its default (whose type it must have) and what it is for.

    A `*` in a key stands for a name that the user gives: `custom.*.command`.
    """

    key: str
    default: str | int | float | bool | tuple[str, ...]
    about: str
    """Its purpose; of a number the unit comes first."""
    environment: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    """The only values there are, where there are few."""
    fixed: str = ""
    """Why it stays at its default, where it does."""
    may_be_number: bool = False
    """It is a number, or empty."""
    least: int = 0
    """The smallest number that it can be."""

    @property
    def unit(self) -> str:
        """The unit of a number, such as `seconds`; nothing of other values."""
        is_number = isinstance(self.default, int | float) and not isinstance(self.default, bool)
        return self.about.split()[0] if is_number else ""


ORIGINS = ("", "/", "$", "--")
"""Signs that origins begin with, the weakest first."""


class Value(NamedTuple):
    value: str | int | float | bool | tuple[str, ...]
    origin: str
    """`default`, `/path/config.toml`, `$NAME`, `--flag`, `/command`."""
    overridden: "Value | None" = None
    """The value of a weaker origin that it stands in place of."""

    @property
    def strength(self) -> int:
        """The place of its origin in the order in which they override each other, from 0 on."""
        return max(rank for rank, sign in enumerate(ORIGINS) if self.origin.startswith(sign))


SETTINGS = (
    Setting("model", "", "the model: NAME or PROVIDER:NAME", ("ANDY_MODEL",)),
    Setting("base_url", "", "address of an OpenAI-compatible server", ("ANDY_BASE_URL",)),
    Setting("api_key_env", "", "environment variable that holds the key"),
    Setting("dialect", "auto", "how the model writes tool requests", ("ANDY_DIALECT",)),
    Setting("dialect_strict", False, "take nothing but the letter of a protocol"),
    Setting(
        "constraints",
        "auto",
        "let servers hold a model to what it may write: auto, unless it does better without; "
        "on, off",
        choices=("auto", "on", "off"),
    ),
    Setting(
        "client",
        "direct",
        "model client: direct, or openai for the openai package's",
        choices=("direct", "openai"),
    ),
    Setting("max_tokens", 0, "tokens in a reply at most; 0 leaves it to the server"),
    Setting(
        "temperature",
        "",
        "how freely words are drawn: 0, always the likeliest, to 2; empty leaves it to the server",
        may_be_number=True,
    ),
    Setting("network.connect_timeout", 10.0, "seconds to wait for a connection"),
    Setting("network.idle_timeout", 120.0, "seconds of silence; on loopback five times as long"),
    Setting("network.total_timeout", 3600.0, "seconds a reply may take in all"),
    Setting("network.first_backoff", 0.5, "seconds that the first retry waits at most"),
    Setting("network.tries", 4, "times that a request is sent at most, the first one included"),
    Setting("network.scan", True, "look for model servers on this machine"),
    Setting(
        "limits.rounds",
        20,
        "rounds of one turn at most: requests to the model (also --max-turns)",
        least=1,
    ),
    Setting("limits.calls_per_reply", 20, "calls of tools in one reply at most"),
    Setting("limits.context", 0, "tokens of the context window; 0: as the model's server says"),
    Setting("limits.calls", 50, "calls of tools in one turn at most"),
    Setting(
        "guard.mode",
        "ask",
        "what needs a yes: ask, plan (nothing is changed), edits (files inside are free), auto",
        ("ANDY_MODE",),
        choices=("ask", "plan", "edits", "auto"),
    ),
    Setting("guard.allow", (), "rules for what needs no yes, such as Bash(git status *)"),
    Setting("guard.ask", (), "rules for what always needs a yes"),
    Setting("guard.deny", (), "rules for what is never done"),
    Setting("mcp.wait", 10.0, "seconds to wait for an MCP server that the task names"),
    Setting("tools.disabled", (), "tools that are not there, by name or pattern"),
    Setting(
        "tools.offered",
        "auto",
        "the tools that a model is offered: auto, those that it was measured to get right; all",
        choices=("auto", "all"),
    ),
    Setting("trust.folders", (), "folders whose .andy and AGENTS.md are read"),
    Setting("instructions.limit", 32, "kilobytes of AGENTS.md that a model is told; 0: none"),
    Setting("google.gmail_url", "https://gmail.googleapis.com", "address of the Gmail API"),
    Setting("google.drive_url", "https://www.googleapis.com", "address of the Drive API"),
    Setting("google.calendar_url", "https://www.googleapis.com", "address of the Calendar API"),
    Setting("google.docs_url", "https://docs.googleapis.com", "address of the Docs API"),
    Setting("google.sheets_url", "https://sheets.googleapis.com", "address of the Sheets API"),
    Setting("google.tasks_url", "https://tasks.googleapis.com", "address of the Tasks API"),
    Setting(
        "google.auth_url",
        "https://accounts.google.com/o/oauth2/v2/auth",
        "the page that asks you whether andy may use your account",
    ),
    Setting(
        "google.token_url",
        "https://oauth2.googleapis.com/token",
        "address at which logins are renewed",
    ),
    Setting(
        "google.revoke_url",
        "https://oauth2.googleapis.com/revoke",
        "address at which logins are revoked",
    ),
    Setting("google.timeout", 60.0, "seconds one step in Google may take"),
    Setting("google.login_timeout", 300.0, "seconds to say yes in the browser"),
    Setting("music.folders", ("~/Music", "~/mp3"), "folders that count as yours for listening"),
    Setting("web.trusted", "", "hosts of your own network to be fetched from: HOST[:PORT], ..."),
    Setting(
        "web.proxy",
        "",
        "HTTP proxy of the web tools, which looks up host names too; HTTP_PROXY is not read",
    ),
    Setting("web.idle_timeout", 30.0, "seconds a web server may say nothing"),
    Setting("web.total_timeout", 120.0, "seconds a page may take in all"),
    Setting("web.file_timeout", 3600.0, "seconds a file may take in all, there or back"),
    Setting("web.largest_page", 10, "megabytes of an answer that is read, unpacked"),
    Setting("web.largest_file", 4000, "megabytes of an answer that is kept as a file"),
    Setting(
        "search.engine",
        "auto",
        "web search: auto, searxng, brave, tavily or duckduckgo",
        choices=("auto", "searxng", "brave", "tavily", "duckduckgo"),
    ),
    Setting("search.url", "", "address of a SearXNG server of yours"),
    Setting("search.brave_url", "https://api.search.brave.com", "address of Brave's API"),
    Setting("search.tavily_url", "https://api.tavily.com", "address of Tavily's API"),
    Setting("documents.largest_file", 50, "megabytes of a file that is indexed"),
    Setting(
        "guard.sandbox",
        "auto",
        "run commands in a sandbox (bubblewrap), without network and home: "
        "auto, those that nobody is asked about; on, all; off, none",
        choices=("auto", "on", "off"),
    ),
    Setting(
        "guard.autoexec",
        False,
        "run by itself what was written, fetched or ingested",
        fixed="nothing that was written, fetched or ingested is ever run by itself",
    ),
    Setting("custom.*.command", "", "a command of your own, as `convert {file} out.png`"),
    Setting("custom.*.about", "", "what it is for, for the model to read"),
    Setting(
        "debug.raw",
        "",
        "write requests and raw replies there; 1: state folder",
        ("ANDY_DEBUG_RAW",),
    ),
    Setting("ui.plain", False, "no colour, no redrawing: for screen readers and logs"),
)
BY_KEY = {setting.key: setting for setting in SETTINGS}
DEFAULTS = {
    key: Value(setting.default, "default") for key, setting in BY_KEY.items() if "*" not in key
}


def setting_of(key: str) -> Setting | None:
    """The setting of that key; names that the user gives may hold dots."""
    first, _, rest = key.partition(".")
    name, _, last = rest.rpartition(".")
    if "*" in key:
        return None
    return BY_KEY.get(f"{first}.*.{last}") if name else BY_KEY.get(key)


def check_key(key: str, where: str = "") -> Setting:
    """The setting of that key. Raises UsageError, with `where` in front, that names the nearest."""
    setting = setting_of(key)
    if setting is None:
        there = "there" if where else "There"
        raise UsageError(f"{where}{there} is no setting {key!r}.{_nearest(key)}")
    return setting


class Settings:
    """The values in force. Ask by the type you need; the key must be one of `SETTINGS`."""

    def __init__(self, values: Mapping[str, Value], notes: Sequence[str] = ()) -> None:
        self._values = values
        self.notes = notes
        """Notes for the user on how they came about."""

    def __getitem__(self, key: str) -> Value:
        return self._values[key]

    def items(self) -> list[tuple[str, Value]]:
        """Every setting in force, the user's own names included."""
        return list(self._values.items())

    def text(self, key: str) -> str:
        return str(self._values[key].value)

    def number(self, key: str) -> float:
        value = self._values[key].value
        assert isinstance(value, int | float)
        return float(value)

    def whole(self, key: str) -> int:
        value = self._values[key].value
        assert isinstance(value, int)
        return value

    def flag(self, key: str) -> bool:
        return bool(self._values[key].value)

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._values[key].value
        assert isinstance(value, tuple)
        return value

    def read_custom(self) -> dict[str, dict[str, str]]:
        """Read the tables `[custom.NAME]`: `read_custom()["NAME"]["command"]`."""
        found: dict[str, dict[str, str]] = {}
        for key, set_value in self._values.items():
            first, _, rest = key.partition(".")
            name, _, last = rest.rpartition(".")
            if first == "custom" and name:
                found.setdefault(name, {})[last] = str(set_value.value)
        return found


def load(
    overrides: Sequence[str] = (),
    flags: Mapping[str, str] | None = None,
    environment: Mapping[str, str] = os.environ,
    origins: Mapping[str, str] | None = None,
) -> Settings:
    """All layers, the strongest last.

    `overrides` are `KEY=VALUE` as given to `--set`, `flags` values of flags with a setting of
    their own (empty ones were not given), `origins` what set one of these in place of its flag.
    Raises `UsageError` that names the key and the place.
    """
    settings, faults = load_what_fits(overrides, flags, environment, origins)
    if faults:
        raise faults[0]
    return settings


def load_what_fits(
    overrides: Sequence[str] = (),
    flags: Mapping[str, str] | None = None,
    environment: Mapping[str, str] = os.environ,
    origins: Mapping[str, str] | None = None,
) -> tuple[Settings, list[UsageError]]:
    """The settings without what is wrong in any layer, and all that is wrong, for whoever mends."""
    values = dict(DEFAULTS)
    faults: list[UsageError] = []
    layers: Layer = []
    # One layer that cannot be read takes none of the others along.
    readers: tuple[Callable[[], Layer], ...] = (
        partial(_from_file, config_folder(environment) / "config.toml"),
        partial(_list_environment, environment),
        partial(_list_overrides, overrides),
        partial(_list_flags, flags or {}, origins or {}),
    )
    for read_layer in readers:
        try:
            layers += read_layer()
        except UsageError as error:
            faults.append(error)
    for key, value, origin in layers:
        try:
            values[key] = Value(_fit(key, value, f"{origin}: "), origin, values.get(key))
        except UsageError as error:
            faults.append(error)
    notes: list[str] = []
    if environment is os.environ:
        try:
            notes = _tighten(values, Path.cwd())
        except UsageError as error:
            faults.append(error)
    return Settings(values, notes), faults


ADDED = ("guard.deny", "guard.ask", "tools.disabled")
STRICTEST = (("guard.mode", "plan"), ("guard.sandbox", "on"))
LESS = ("limits.rounds", "limits.calls_per_reply", "limits.calls")


def _tighten(values: dict[str, Value], folder: Path) -> list[str]:
    """Let the trusted projects that hold for a folder tighten; returns what they were not let do,
    in words."""
    projects = list_trusted_folders(Settings(values), folder)
    own_file = folder / ".andy" / "config.toml"
    notes = []
    if own_file.is_file() and folder.resolve() not in projects:
        notes.append(
            f"{own_file} is not read: `andy trust` lets this folder tighten what is allowed."
        )
    for project in projects:
        notes += _tighten_by_file(values, project / ".andy" / "config.toml")
    return notes


def _tighten_by_file(values: dict[str, Value], file: Path) -> list[str]:
    notes = []
    for key, written, origin in _from_file(file):
        fitted = _fit(key, written, f"{origin}: ")
        now = values[key].value if key in values else ""
        if key in ADDED and isinstance(now, tuple) and isinstance(fitted, tuple):
            origins = f"{values[key].origin} and {origin}" if now else origin
            values[key] = Value((*now, *fitted), origins)
        elif _is_stricter(key, fitted, now):
            values[key] = Value(fitted, origin)
        else:
            notes.append(f"{origin} may not set {key}: a project only tightens.")
    return notes


def _is_stricter(key: str, fitted: object, now: object) -> bool:
    is_less = isinstance(fitted, int) and isinstance(now, int) and fitted <= now
    return (key, fitted) in STRICTEST or (key in LESS and is_less)


def trusts(settings: Settings, folder: Path) -> bool:
    """Tell whether the user trusts exactly this folder."""
    return str(folder.resolve()) in settings.texts("trust.folders")


def list_trusted_folders(settings: Settings, folder: Path) -> list[Path]:
    """List the trusted folders that hold for a folder: itself and those above, the nearest first.

    What a project forbids is forbidden in every folder of it.
    """
    folder = folder.resolve()
    return [project for project in (folder, *folder.parents) if trusts(settings, project)]


Layer = list[tuple[str, object, str]]


def _list_environment(environment: Mapping[str, str]) -> Layer:
    return [
        (setting.key, environment[name], f"${name}")
        for setting in SETTINGS
        for name in setting.environment
        if environment.get(name)
    ]


def _list_overrides(overrides: Sequence[str]) -> Layer:
    found: Layer = []
    for override in overrides:
        key, equals, text = override.partition("=")
        if not equals:
            raise UsageError(f"--set takes KEY=VALUE, not {override!r}.")
        found.append((key.strip(), text.strip(), "--set"))
    return found


def _list_flags(flags: Mapping[str, str], origins: Mapping[str, str]) -> Layer:
    return [(key, text, origins.get(key) or flag_of(key)) for key, text in flags.items() if text]


FLAGS = {"guard.mode": "--permission-mode", "limits.rounds": "--max-turns", "ui.plain": "--plain"}


def flag_of(key: str) -> str:
    """The flag that sets a key, where that has one of its own."""
    return FLAGS.get(key) or f"--{key.replace('_', '-')}"


def _from_file(path: Path) -> Layer:
    if not path.is_file():
        return []
    import tomllib  # 10 ms, and most people have no such file

    try:
        found = _flatten(tomllib.loads(path.read_text(encoding="utf-8-sig")))
        for _, value in found:
            str(value)  # raises for numbers that are too long and lists that are too deep
    except (OSError, ValueError, RecursionError) as error:
        raise explain_unreadable(path, error) from error
    return [(key, value, str(path)) for key, value in found]


def explain_unreadable(path: Path, error: Exception) -> UsageError:
    reason = str(error).rstrip(".")
    return UsageError(f"{path} cannot be read: {reason}. Correct it or move it away.")


def _flatten(tree: Mapping[str, object], prefix: str = "") -> list[tuple[str, object]]:
    flat: list[tuple[str, object]] = []
    for name, value in tree.items():
        if isinstance(value, dict):
            flat += _flatten(value, f"{prefix}{name}.")
        else:
            flat.append((prefix + name, value))
    return flat


MAX_NEAREST = 3
"""Settings that are named where there is none of that name."""
MIN_SIMILARITY = 0.4
"""The part of a name that has to be right for a setting to be named."""
ALL_SETTINGS = "`andy config show` lists all settings."
TRUE, FALSE = {"true", "yes", "on", "1"}, {"false", "no", "off", "0"}


def _fit(key: str, value: object, place: str = "") -> str | int | float | bool | tuple[str, ...]:
    """The value in the type of the key's default; `place` stands before what is wrong."""
    setting = check_key(key, place)
    default = setting.default
    # Several hosts are one text with commas, and may stand in a list.
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value).strip()
    if setting.choices:
        text = text.lower() or str(default)
    _check_text(setting, text, place)
    if isinstance(default, bool):
        if text.lower() not in TRUE | FALSE:
            raise UsageError(f"{place}{key} is true or false, not {text!r}.")
        return text.lower() in TRUE
    if isinstance(default, tuple):
        if isinstance(value, list | tuple):
            return tuple(map(str, value))
        return tuple(split_outside_brackets(text, os.pathsep))
    if isinstance(default, str):
        return text
    return _number(setting, text, place, float if isinstance(default, float) else int)


def _check_text(setting: Setting, text: str, place: str) -> None:
    """Check what holds for a value of whatever type. Raises UsageError."""
    key = setting.key
    if setting.choices and text not in setting.choices:
        raise UsageError(f"{place}{key} is {_either(setting.choices)}, not {text!r}.")
    if setting.fixed and text.lower() not in FALSE:
        raise UsageError(f"{place}{key} stays false: {setting.fixed}.")
    if setting.may_be_number and text:
        _number(setting, text, place, float)


def _either(choices: Sequence[str]) -> str:
    return f"{', '.join(choices[:-1])} or {choices[-1]}"


def _number(
    setting: Setting, text: str, place: str, kind: Callable[[str], int | float]
) -> int | float:
    try:
        number = kind(text)
    except ValueError:
        number = -1
    if not setting.least <= number < 1e9:
        what = f"{'a whole number' if kind is int else 'a number'} from {setting.least} up"
        raise UsageError(f"{place}{setting.key} is {what}, not {text!r}.")
    return number


def split_outside_brackets(text: str, separators: str) -> list[str]:
    """Split a text at separators that stand in no brackets: `Bash(git log:*)` is one part."""
    parts = [""]
    for character, depth in measure_depths(text):
        if depth <= 0 and character in separators:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def is_balanced(text: str) -> bool:
    """Tell whether every bracket in a text is one of a pair."""
    depths = [0, *(depth for _, depth in measure_depths(text))]
    return min(depths) == depths[-1] == 0


def measure_depths(text: str) -> Iterator[tuple[str, int]]:
    """The characters of a text, each with the number of brackets that are open behind it.

    `[(]` and `[)]` of a pattern are one character, and no bracket.
    """
    depth = 0
    for character in re.findall(r"\[[()]\]|.", text, re.DOTALL):
        depth += (character == "(") - (character == ")")
        yield character, depth


def _nearest(key: str) -> str:
    """Name the setting that is meant, or those that are nearest, and the list of all."""
    import difflib  # only when somebody mistyped

    if close := difflib.get_close_matches(key, BY_KEY, n=1):
        return f" Did you mean {close[0]}? {ALL_SETTINGS}"
    # `timeout` is nearer to the last word of a key than to the whole of it.
    words: dict[str, list[str]] = {}
    for known_key in BY_KEY:
        for word in (known_key, known_key.rpartition(".")[2]):
            words.setdefault(word, []).append(known_key)
    near_words = difflib.get_close_matches(key, words, n=MAX_NEAREST, cutoff=MIN_SIMILARITY)
    near = list(dict.fromkeys(near_key for word in near_words for near_key in words[word]))
    nearest_note = f" Nearest: {', '.join(near[:MAX_NEAREST])}." if near else ""
    return f"{nearest_note} {ALL_SETTINGS}"


def config_folder(environment: Mapping[str, str] = os.environ) -> Path:
    if folder := environment.get("ANDY_CONFIG_DIR"):
        return Path(folder).expanduser()
    return _xdg("XDG_CONFIG_HOME", ".config", environment)


def data_folder() -> Path:
    """Weights and what else is fetched once and kept."""
    return _xdg("XDG_DATA_HOME", ".local/share", os.environ)


def state_folder() -> Path:
    """Sessions, captures and input history."""
    return _xdg("XDG_STATE_HOME", ".local/state", os.environ)


def _xdg(name: str, default: str, environment: Mapping[str, str]) -> Path:
    """An XDG folder of ours; elsewhere than on Unix the platform's own, by platformdirs."""
    folder = Path(environment.get(name, "")).expanduser()
    if folder.is_absolute():  # the others count as not set, for this standard too
        return folder / "andy"
    if sys.platform == "win32":
        import platformdirs  # where XDG means nothing

        return Path(platformdirs.user_data_path("andy", appauthor=False)) / name[4:-5].lower()
    return Path.home() / default / "andy"


ChangeList = Callable[[Sequence[str]], Sequence[str]]


def save(key: str, value: str | Sequence[str] | ChangeList) -> Path:
    """Keep a value in the user file, its comments untouched; returns the file.

    The value may be a function of the list that stands there. The file is replaced in one step:
    whatever happens, the old or the new one is there.
    """
    path = config_folder() / "config.toml"
    with hold_folder(path.parent):
        _save_in(path, key, value)
    return path


def remove(key: str) -> Path | None:
    """Remove a value from the user file, its comments untouched; returns the file, None where the
    key, be it one of ours or not, does not stand in it."""
    path = config_folder() / "config.toml"
    with hold_folder(path.parent):
        document = _read_document(path)
        table: object = document
        *folders, name = key.split(".")
        for folder in folders:
            table = table.get(folder) if isinstance(table, MutableMapping) else None
        if not isinstance(table, MutableMapping) or isinstance(table.get(name, {}), dict):
            return None  # it is not there, or is a table, which holds many
        del table[name]
        _write_document(path, document)
    return path


def _read_document(path: Path) -> MutableMapping[str, object]:
    import tomlkit  # only to write; reading is the standard library's

    try:
        return tomlkit.parse(path.read_text(encoding="utf-8-sig") if path.is_file() else "")
    except (OSError, ValueError, RecursionError) as error:
        raise explain_unreadable(path, error) from error


def _write_document(path: Path, document: MutableMapping[str, object]) -> None:
    import tomlkit

    try:
        replace_file(path, tomlkit.dumps(document))
    except OSError as error:
        # The name that the system tells is that of a draft.
        raise UsageError(f"{path} cannot be written: {error.strerror or error}.") from error


def _save_in(path: Path, key: str, value: str | Sequence[str] | ChangeList) -> None:
    import tomlkit

    document = _read_document(path)
    try:
        *folders, name = key.split(".")
        table = _find_table(document, folders, tomlkit.table)
        if callable(value):
            known_texts = _fit(key, table.get(name, ()), f"{path}: ")
            assert isinstance(known_texts, tuple)
            value = value(known_texts)
        fitted = _fit(key, value)
        table[name] = list(fitted) if isinstance(fitted, tuple) else fitted
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path} cannot be written: {error}.") from error
    _write_document(path, document)


def _find_table(
    document: MutableMapping[str, object],
    folders: Sequence[str],
    make_table: Callable[[], object],
) -> MutableMapping[str, object]:
    """Find the table that the settings of a name stand in, made where it is missing.

    Raises ValueError where something else stands there.
    """
    table = document
    for folder in folders:
        inner_table = table.setdefault(folder, make_table())
        if not isinstance(inner_table, dict):
            raise ValueError(f"{folder} is no table there")
        table = inner_table
    return table


def replace_file(path: Path, text: str | bytes, durable: bool = True) -> None:
    """Replace a file of ours in one step: whatever happens, the old or the new one is there.

    It is 0600. Unless it is `durable`, a loss of power may take it. Raises OSError.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}.new")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode() if isinstance(text, str) else text)
            if durable:
                file.flush()
                os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    if durable:
        with contextlib.suppress(OSError):  # it is there, if perhaps not after a loss of power
            sync_folder(path.parent)


def sync_folder(folder: Path) -> None:
    """Have the name of a new file on disk; a file without a name is lost with the power."""
    if sys.platform != "win32":  # there a folder cannot be opened
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


MAX_HELD_SECONDS = 5.0
"""Seconds to wait for another process that changes a file of the folder."""


@contextlib.contextmanager
def hold_folder(folder: Path) -> Iterator[None]:
    """Let no other andy change a file of a folder between our reading and our replacing it.

    Where that cannot be had, in time or on this system, it goes on without.
    """
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            descriptor = os.open(folder, os.O_RDONLY)
            stack.callback(os.close, descriptor)
            _wait_for_lock(descriptor)
        yield


def _wait_for_lock(descriptor: int) -> None:
    """Wait until the lock is ours. Raises OSError where it is not, after a while."""
    until = time.monotonic() + MAX_HELD_SECONDS
    while True:
        try:
            return lock_file(descriptor)
        except BlockingIOError:
            if time.monotonic() > until:
                raise
        time.sleep(0.02)


LOCKED_BYTE = 1 << 40
"""On Windows a byte is locked, and cannot be read then: one that no file of ours reaches."""


def lock_file(descriptor: int) -> None:
    """Lock a file until it is closed. Raises OSError where another process has it locked."""
    if sys.platform == "win32":
        import msvcrt  # as fcntl below: each is on some platforms only

        os.lseek(descriptor, LOCKED_BYTE, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
