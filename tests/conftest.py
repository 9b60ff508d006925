"""What all tests share: how to run reprocheck as a user does, and where the interpreters are."""

from __future__ import annotations

import atexit
import compileall
import functools
import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any, TextIO
from unittest import mock

import pytest
from hypothesis import HealthCheck, settings as hypothesis_settings

from benchmarks.drawn import same_elsewhere
from reprocheck.cli import main
from tests.command_server import CommandServer

ROOT = Path(__file__).parent.parent
CHILD = ROOT / "reprocheck" / "child"
CHROMIUM = Path("/usr/bin/chromium")
UNCOMPILED = os.pathsep.join(
    filter(None, [str(ROOT / "tests" / "fakes" / "uncompiled"), os.environ.get("PYTHONPATH")])
)
"""`PYTHONPATH` of scripts that use PyTorch, and compile nothing."""
_FORKED = "tests/e2e/"
"""Folder of the tests whose commands run in forks: they look at what a command says, and other tests
at how it starts.
"""

# What an example costs depends on what else the machine does: nothing here is a test of speed.
hypothesis_settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
hypothesis_settings.load_profile("any machine")

# threads that spin would take the processors from the other tests: OpenBLAS, which numpy brings,
# lets each of its threads spin for 2 to this power cycles, and 4 is the least
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")

# a shell started pytest in its background; what tests start must hear Ctrl-C
if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


_WRITES_NO_BYTECODE = sys.dont_write_bytecode


def pytest_configure(config: pytest.Config) -> None:
    """Tests start `reprocheck` hundreds of times: where PYTHONDONTWRITEBYTECODE is set, each start
    would compile the package again, and each worker all of the tests.
    """
    sys.dont_write_bytecode = False
    if not hasattr(config, "workerinput"):  # one process for all workers of xdist
        compileall.compile_dir(ROOT / "reprocheck", quiet=2)


def pytest_collection_finish() -> None:
    sys.dont_write_bytecode = _WRITES_NO_BYTECODE


_SIGNALS = {
    number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
}


def _signals_as_before() -> None:
    """The command line ends by ignoring signals, so that what it says last is said. What calls it
    in this process must not leave that behind: processes started later would be deaf to Ctrl-C.
    """
    for number, handler in _SIGNALS.items():
        signal.signal(number, handler)


@pytest.hookimpl(wrapper=True)
def pytest_fixture_setup() -> Iterator[object]:
    """Fixtures of a module call the command line, too: they come before what a fixture of one test
    could keep.
    """
    try:
        return (yield)
    finally:
        _signals_as_before()


@pytest.fixture(autouse=True)
def signals_as_before() -> Iterator[None]:
    yield
    _signals_as_before()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Chromium of the system, headless. One for all folders of tests: Playwright refuses a second
    one in the same process.
    """
    if not CHROMIUM.exists():
        pytest.skip("Chromium is not installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        made = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox", "--disable-gpu"]
        )
        yield made
        made.close()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Tests that share what is made once for their file run in one process, where `--dist
    loadgroup` distributes them. What may differ for the reason that its mark gives is tried again:
    the summary has a line RERUN for each time.
    """
    for item in items:
        mark = item.get_closest_marker("may_differ")
        if mark is not None:
            assert mark.args, f"{item.nodeid}: the mark says why it may differ"
            item.add_marker(pytest.mark.flaky(reruns=2, only_rerun="."))
        fixtures = getattr(item, "_fixtureinfo", None)
        shared = fixtures is not None and any(
            found[-1].scope == "module" for found in fixtures.name2fixturedefs.values()
        )
        if shared and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.location[0]))


class AgreedByChance(AssertionError):  # noqa: N818
    """A test failed in which two random draws of a script lay within the tolerance of each other:
    it is run again.
    """


agreed_narrowly: list[str] = []
"""Reports of the test that runs now whose runs differ in their bits and agree in the forward
check.
"""


@pytest.hookimpl(wrapper=True)
def pytest_runtest_setup(item: pytest.Item) -> Iterator[None]:
    agreed_narrowly.clear()
    if getattr(item, "execution_count", 1) > 1:
        _forget_what_is_shared(item)
    try:
        yield
    except (AssertionError, LookupError) as error:  # also a cause that is not there
        _raise_if_by_chance(error)
        raise


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    try:
        yield
    except (AssertionError, LookupError) as error:  # also a cause that is not there
        _raise_if_by_chance(error)
        raise


def _forget_what_is_shared(item: pytest.Item) -> None:
    """A test that is tried again has what its file made once made again: a run that came out
    otherwise by chance would fail every try.
    """
    for fixtures in item.session._fixturemanager._arg2fixturedefs.values():
        for fixture in fixtures:
            if fixture.scope == "module" and fixture.cached_result is not None:
                fixture.finish(item._request)  # type: ignore[attr-defined]


def _raise_if_by_chance(error: AssertionError | LookupError) -> None:
    """A loss of a wide distribution agrees with another one once in fifty to once in a thousand
    times.
    """
    if agreed_narrowly:
        raise AgreedByChance(
            f"the runs differ, and agree by chance, in {', '.join(agreed_narrowly)}: {error}"
        ) from error


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What a user gets from `reprocheck run`: exit code, streams, the report folder and
    report.json.
    """

    exit_code: int
    stdout: str
    stderr: str
    folder: Path | None
    report: dict[str, Any]

    @property
    def title(self) -> str:
        """The verdict in the words of the documentation."""
        words = self.report["verdict"].replace("_", " ").upper()
        return (
            f"{words} ({self.report['failed_check']})"
            if self.report["verdict"] == "not_reproducible"
            else words
        )

    def losses(self, run: int = 1, rank: int = 0) -> list[list[float | None]]:
        """The losses of each iteration."""
        ranks = self.report["runs"][run - 1]["ranks"]
        return [
            [loss["value"] for loss in iteration["losses"]]
            for iteration in ranks[rank]["iterations"]
        ]

    def log(self, stream: str = "stdout", run: int = 1) -> str:
        """A log of a run."""
        assert self.folder is not None
        return (self.folder / f"run-{run}" / f"{stream}.log").read_text(
            encoding="utf-8", errors="replace"
        )


def clean_environment(**more: str) -> dict[str, str]:
    """The tests' environment without settings of reprocheck, and with the commands of this
    environment first on PATH.
    """
    environment = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("REPROCHECK_", "PYTEST_"))
    }
    environment["PATH"] = os.pathsep.join(
        [str(Path(sys.executable).parent), environment.get("PATH", "")]
    )
    return {**environment, **more}


def _in_end_to_end_test() -> bool:
    return os.environ.get("PYTEST_CURRENT_TEST", "").startswith(_FORKED)


@functools.cache
def _command_server() -> CommandServer:
    """The server of this process of pytest."""
    server = CommandServer(clean_environment(), harmless_path=UNCOMPILED)
    atexit.register(server.close)
    return server


def reprocheck(
    *arguments: str | Path, cwd: Path, timeout: float = 300, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`reprocheck ARGUMENTS` as a process of its own; in tests/e2e it is a fork of one that has
    imported all of reprocheck, where the environment allows it.
    """
    given = clean_environment(**environment)
    words = list(map(str, arguments))
    if _in_end_to_end_test():
        server = _command_server()
        if server.fits(given):
            return server.run(words, cwd=cwd, environment=given, timeout=timeout)
    return subprocess.run(
        [sys.executable, "-m", "reprocheck", *words],
        cwd=cwd,
        env=given,
        capture_output=True,
        text=True,
        errors="replace",
        stdin=subprocess.DEVNULL,
        timeout=timeout,
    )


def reprocheck_here(
    *arguments: str | Path, cwd: Path, draw: bool = False, **environment: str
) -> subprocess.CompletedProcess[str]:
    """`reprocheck ARGUMENTS` in the process of the tests, where nothing depends on how it starts
    and ends: a process of its own takes more than a second to import what is here already.

    The page and the charts only where a test asks for them.
    """
    drawn = {"REPROCHECK_DRAW": str(draw).lower(), **environment}
    out, err = io.BytesIO(), io.BytesIO()
    streams = [io.TextIOWrapper(one, "utf-8", write_through=True) for one in (out, err)]
    code = main_here(arguments, cwd, clean_environment(**drawn), *streams)
    stdout, stderr = (one.getvalue().decode(errors="replace") for one in (out, err))
    return subprocess.CompletedProcess(arguments, code, stdout, stderr)


def main_here(
    words: Sequence[str | Path],
    cwd: Path,
    environment: Mapping[str, str],
    stdout: TextIO,
    stderr: TextIO,
) -> int:
    """The exit code of a command line in a folder and an environment, in this process."""
    with (
        mock.patch.dict(os.environ, environment, clear=True),
        chdir(cwd),
        redirect_stdout(stdout),
        redirect_stderr(stderr),
    ):
        try:
            return main([str(word) for word in words])
        finally:
            _signals_as_before()


def check(
    *arguments: str | Path,
    cwd: Path,
    explain: bool = False,
    draw: bool = False,
    own_process: bool = False,
    **environment: str,
) -> Outcome:
    """`reprocheck run ARGUMENTS` in `cwd`.

    Deeper runs, the page, the charts, and a process of its own for reprocheck only where a test
    asks for them.
    """
    environment = {"REPROCHECK_DRAW": str(draw).lower(), **environment}
    level = (
        ()
        if explain or {"--no-explain", "--explain", "--level"} & set(arguments)
        else ("--no-explain",)
    )
    own_process |= _in_end_to_end_test()
    start: Callable[..., subprocess.CompletedProcess[str]] = (
        reprocheck if own_process else reprocheck_here
    )
    done = start("run", *level, *arguments, cwd=cwd, **environment)
    latest = cwd / "reports" / "latest"
    folder = latest.resolve() if latest.exists() else None
    report = (
        json.loads((folder / "report.json").read_text())
        if folder and (folder / "report.json").exists()
        else {}
    )
    assert_same_elsewhere(folder, report)
    note_narrow_agreement(folder, report)
    return Outcome(
        exit_code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr,
        folder=folder,
        report=report,
    )


def note_narrow_agreement(folder: Path | None, report: dict[str, Any]) -> None:
    """Keeps in mind that the runs of a report are not the same in every bit, and the forward check
    passed.
    """
    differ = (report.get("bitwise") or {}).get("equal") is False
    if differ and report["failed_check"] != "forward":
        agreed_narrowly.append(str(folder))


def assert_same_elsewhere(folder: Path | None, report: dict[str, Any]) -> None:
    """A report that says why runs differ is the same whenever and wherever it is drawn."""
    if folder is not None and (report.get("ladder") or report.get("causes")):
        assert same_elsewhere(folder), f"drawn again elsewhere, {folder}/report.json is another"


def needs(package: str) -> None:
    """Skips the test where a package is not installed: not every Python has a wheel of each."""
    if find_spec(package) is None:
        pytest.skip(f"{package} is not installed")


def mindspore_python() -> str:
    """The interpreter that has MindSpore; skips the test where there is none."""
    python = os.environ.get(
        "REPROCHECK_TEST_MINDSPORE_PYTHON", str(ROOT / ".venv-mindspore" / "bin" / "python")
    )
    if not Path(python).exists():
        pytest.skip("no interpreter with MindSpore: set REPROCHECK_TEST_MINDSPORE_PYTHON")
    return python


@pytest.fixture
def workdir(tmp_path: Path) -> Path:
    """An empty working directory."""
    folder = tmp_path / "work"
    folder.mkdir()
    return folder
