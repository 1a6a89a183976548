"""What holds for all tests: which of them run, from which checkout, and small fixtures.

pytest                          the quick ones: every promise by its cheapest test
pytest -m slow                  the others
pytest -m "slow or not slow"    all
pytest tests/test_files.py      all of a file, or of a test that is named
pytest --case TEXT              of tests that loop over cases, those with TEXT in their names
pytest --update                 writes golden files anew
"""

import gc
import os
import signal
import time
from collections.abc import Generator
from pathlib import Path

import pytest

try:
    from hypothesis import HealthCheck, settings
except ModuleNotFoundError as error:
    from tests.needed import NEEDED

    # An ordinary exception would be told as a fault of this file, with a traceback.
    raise SystemExit(f"ERROR: {NEEDED}") from error

import andy_cli
from andy_cli.toolbox import runtime_context
from tests import cases, history_rules, needed

ROOT = Path(__file__).parents[1]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--update", action="store_true", help="write golden files anew")
    parser.addoption("--case", default="", help="look only at cases with this in their names")


def pytest_configure(config: pytest.Config) -> None:
    """Choose what runs, and see to it that it is the code beside these tests."""
    if not config.pluginmanager.has_plugin("timeout"):
        raise pytest.UsageError(needed.NEEDED)  # else pyproject.toml has an `Unknown config option`
    assert Path(andy_cli.__file__).is_relative_to(ROOT), f"{andy_cli.__file__} is tested instead"
    # After `&` a shell lets its children ignore Ctrl-C, which tests send to what they start.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    # Whatever a test starts finds this checkout before an installed one.
    paths = [str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])]
    os.environ["PYTHONPATH"] = os.pathsep.join(paths)
    if not config.option.markexpr and not names_files(config):
        config.option.markexpr = "not slow"
    cases.only = config.getoption("--case")
    cases.quick = config.option.markexpr == "not slow"
    load_hypothesis_profile(os.environ.get("ANDY_DRAWN_CASES", ""), config.option.markexpr)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Load no file for the quick suite that says that all its tests are slow."""
    quick = config.option.markexpr == "not slow"
    if not quick or collection_path.suffix != ".py":
        return None
    lines = collection_path.read_text(encoding="utf-8").splitlines()
    return "pytestmark = pytest.mark.slow" in lines or None


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """Look for no garbage among what is loaded: it all stays, and the looking takes 5 s of 13."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_cmdline_main(config: pytest.Config) -> None:
    """Use the cores of the machine for a suite; a file or a test that is named needs no others.

    Each process goes through neighbouring tests: what a file starts for all of its own is started
    once, not once in each.
    """
    option = config.option
    if "numprocesses" not in option or hasattr(config, "workerinput"):
        return
    alone = option.usepdb or option.capture == "no" or option.collectonly or names_files(config)
    cores = min(8, os.cpu_count() or 1)
    if option.numprocesses is None and cores > 1 and not alone:
        option.numprocesses = cores
    if option.numprocesses and option.dist == "no":
        option.dist = "worksteal"


def names_files(config: pytest.Config) -> bool:
    """Whether the command line names a file or a test; then all of it is wanted."""
    return any(Path(word.partition("::")[0]).is_file() for word in config.args)


def load_hypothesis_profile(drawn: str, marks: str) -> None:
    """Measure no property's time, and draw a tenth of the cases for the quick tests.

    `python -m tests.long guards` draws more of each.
    """
    settings.register_profile("usual", deadline=None, max_examples=50)
    settings.register_profile("quick", deadline=None, max_examples=10)
    settings.load_profile("quick" if marks == "not slow" else "usual")
    if drawn:
        settings.register_profile(
            "long",
            max_examples=int(drawn),
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
        )
        settings.load_profile("long")


@pytest.fixture(autouse=True)
def no_situation() -> Generator[None, None, None]:
    """Where one test let tools work is nothing to the next."""
    yield
    runtime_context.leave_context()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    """A test fails in which a scripted model got a request that some server would refuse."""
    history_rules.FOUND.clear()
    yield
    if history_rules.FOUND:
        pytest.fail("\n".join(history_rules.FOUND), pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that skips because something `needs` installing has failed where CI installs it."""
    report = yield
    if report.skipped and os.environ.get("CI") and "needs " in str(report.longrepr):
        report.outcome = "failed"
    return report


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update"))


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home of its own: no settings, keys or sessions of the machine get in, none get out."""
    for name in list(os.environ):
        if name.endswith("_API_KEY") or name.startswith(("ANDY_", "XDG_", "OPENAI_", "OLLAMA_")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.fixture
def no_keyring(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of a test gets into the keyring of the machine."""
    null = pytest.importorskip("keyring.backends.null", reason="needs keyring")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    monkeypatch.setattr("keyring.core._keyring_backend", null.Keyring())


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Generator[None, None, None]:
    """A machine in a zone with summer time."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()
