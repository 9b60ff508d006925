"""Five nights of a suite as a team has them: stand-ins whose outcome a file decides, started by
`reprocheck suite run`, and all that each night says.
"""

from __future__ import annotations

import io
import json
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass, field, replace
from functools import cached_property
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

from markdown_it import MarkdownIt

from reprocheck.cli import main
from reprocheck.suite.history import History, open_history
from reprocheck.suite.model import TargetState
from reprocheck.suite.targets import Suite, load

TRAINING = """\
import json, sys, time
from pathlib import Path
import reprocheck

name = sys.argv[1]
place = Path(__file__).parents[2] / "outcomes"
outcome = json.loads((place / "outcomes.json").read_text()).get(name, "good")
starts = place / f"{name}.starts"
number = int(starts.read_text()) + 1 if starts.exists() else 1
starts.write_text(str(number))
while outcome == "stuck":
    time.sleep(0.05)
losses = [1.0, 0.75, 0.5]
if outcome == "differs" or (outcome == "differs once" and number == 2):
    losses[1] = float(number)
if outcome == "one ulp":
    losses[2] += 2**-53
for loss in losses:
    reprocheck.log_loss(loss)
"""
NAMES = ("steady", "regresses", "flaky", "upgraded", "drifts", "dropped")
PATIENCE = 120.0
"""Seconds after which what should have come about has not."""


@dataclass(frozen=True, kw_only=True)
class SeenNight:
    """What a night said: its states, and what stands in its files and on the terminal.

    page, summary  the rows of their tables, by the first cell; of a cell its text
    cases          of the JUnit file, by name
    terminal       as one line
    """

    name: str
    states: Mapping[str, TargetState]
    page: Mapping[str, Sequence[str]]
    summary: Mapping[str, Sequence[str]]
    cases: Mapping[str, ElementTree.Element]
    terminal: str = ""
    exit_code: int | None = None


@dataclass
class FiveNights:
    """A suite in a folder. Each target has a folder of its own, so that checks run side by side.

    words    of each `suite run`: where its checks run
    history  its URL; "" for the file in the folder of the suite
    """

    project: Path
    words: Sequence[str]
    history: str = ""
    targets: list[str] = field(default_factory=lambda: list(NAMES))
    threads: int = 2

    def __post_init__(self) -> None:
        self.project.mkdir()
        self._outcomes.mkdir()
        for name in NAMES:
            (self.project / name).mkdir()
            (self.project / name / "train.py").write_text(TRAINING)

    @property
    def suite(self) -> Suite:
        """As its file has it now."""
        return load(self.project)

    @cached_property
    def nights(self) -> list[SeenNight]:
        """All five, lived when they are asked for first; the first is accepted as the baseline."""
        nights = [self._night({})]
        self._command("baseline", "accept", "--why", "the first night")
        moved = {"regresses": "differs", "drifts": "one ulp", "upgraded": "one ulp"}
        self.targets.remove("dropped")
        self.threads = 3
        nights.append(self._night({**moved, "flaky": "differs once"}, "--retries", "1"))
        self._killed_midway({**moved, "steady": "stuck"})
        nights.append(self._night(moved, "--resume", "last"))
        nights.append(self._night({}, "regresses", "drifts"))
        nights.append(self._night({}, "steady", "flaky"))
        return nights

    @property
    def _outcomes(self) -> Path:
        """Outside of the working directory, which each run finds as the first one did."""
        return self.project.with_name("outcomes")

    def _night(self, outcomes: Mapping[str, str], *words: str) -> SeenNight:
        """One night to its end."""
        self._prepare(outcomes)
        exit_code, terminal = self._command("run", "--no-record", *self.words, *words)
        with open_history(self.suite.history) as history:
            night = history.nights()[-1].id
            states = history.states(night=night)
        seen = _seen(self.suite, night, states)
        return replace(seen, exit_code=exit_code, terminal=" ".join(terminal.split()))

    def _command(self, *words: str) -> tuple[int, str]:
        """`reprocheck suite` as one types it; its exit code, and what it prints."""
        said = io.StringIO()
        with chdir(self.project), redirect_stdout(said), redirect_stderr(said):
            exit_code = main(["suite", *words])
        assert exit_code in (0, 1), said.getvalue()
        return exit_code, said.getvalue()

    def _killed_midway(self, outcomes: Mapping[str, str]) -> None:
        """A night whose orchestrator is killed while one target is under way and the others are in
        the history.
        """
        self._prepare(outcomes)
        words = ("suite", "run", "--no-record", *self.words, "steady", "regresses", "drifts")
        process = subprocess.Popen(
            [sys.executable, "-m", "reprocheck", *words, "upgraded"],
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        end = time.monotonic() + PATIENCE
        with open_history(self.suite.history) as history:
            while not self._all_but_one_are_checked(history):
                assert process.poll() is None, process.communicate()[0]
                assert time.monotonic() < end, "the other targets were not checked"
                time.sleep(0.05)
        process.kill()
        process.communicate()

    def _all_but_one_are_checked(self, history: History) -> bool:
        night = history.nights()[-1]
        stuck = (self._outcomes / "steady.starts").exists()
        return stuck and len(history.final(night.id)) == len(night.selected) - 1

    def _prepare(self, outcomes: Mapping[str, str]) -> None:
        """The settings and the outcomes of a night. Starts are counted anew."""
        (self._outcomes / "outcomes.json").write_text(json.dumps(dict(outcomes)))
        for starts in self._outcomes.glob("*.starts"):
            starts.unlink()
        history = f'history = "{self.history}"\n' if self.history else ""
        tables = [self._table(name) for name in self.targets]
        (self.project / "reprocheck.toml").write_text(
            f'[suite]\nfolder = "nightly"\n{history}{"".join(tables)}'
        )

    def _table(self, name: str) -> str:
        keys = [f'name = "{name}"', f'folder = "{name}"', f'run = "train.py {name}"']
        if name == "upgraded":
            keys.append(f'environment = {{ OMP_NUM_THREADS = "{self.threads}" }}')
        return "\n".join(("[[target]]", *keys, "draw = false", "explain = false", ""))


def _seen(suite: Suite, night: str, states: Sequence[TargetState]) -> SeenNight:
    """What the files of a night say."""
    folder = suite.folder / "nights" / night
    page = (suite.folder / "site" / "nights" / f"{night}.html").read_text()
    summary = MarkdownIt().enable("table").render((folder / "summary.md").read_text())
    cases = ElementTree.parse(folder / "junit.xml").iter("testcase")
    return SeenNight(
        name=night,
        states={state.target: state for state in states},
        page=Tables.rows(page),
        summary=Tables.rows(summary),
        cases={case.get("name", ""): case for case in cases},
    )


class Tables(HTMLParser):
    """The rows of the tables of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[list[str]] = []
        self._in_cell = False

    @classmethod
    def rows(cls, page: str) -> dict[str, list[str]]:
        """The text of all cells of each row behind the first one, by that."""
        tables = cls()
        tables.feed(page)
        return {first: cells for first, *cells in tables.found}

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag == "tr":
            self.found.append([])
        if tag in ("td", "th"):
            self.found[-1].append("")
            self._in_cell = True

    def handle_endtag(self, tag: str) -> None:
        if tag in ("td", "th"):
            self._in_cell = False

    def handle_data(self, data: str) -> None:
        if self._in_cell:
            self.found[-1][-1] += data
