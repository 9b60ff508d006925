"""Five nights of a suite as a team has them: stand-ins whose outcome a file decides, started by
`reprocheck suite run` as one types it.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

from reprocheck.suite.history import open_history
from reprocheck.suite.model import TargetState
from reprocheck.suite.targets import load
from tests.conftest import clean_environment, reprocheck
from tests.e2e.suite.nights import PATIENCE, kill

TRAINING = """\
import json, os, sys, time
from pathlib import Path
import reprocheck

name = sys.argv[1]
place = Path(os.environ["OUTCOMES"])
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
UPGRADE = 'environment = { OMP_NUM_THREADS = "3" }'


@dataclass(frozen=True, kw_only=True)
class SeenNight:
    """What a night said: its states, and what stands in its files and on the terminal."""

    states: Mapping[str, TargetState]
    exit_code: int
    output: str
    summary: str
    page: str
    junit: ElementTree.Element


@dataclass
class FiveNights:
    """A suite in a folder. Each target has a folder of its own, so that checks run side by side.

    history  its URL; "" for the file in the folder of the suite
    words    of each `suite run`
    """

    project: Path
    history: str = ""
    words: Sequence[str] = ("--jobs", "2")
    targets: list[str] = field(default_factory=lambda: list(NAMES))
    upgraded: bool = False

    def __post_init__(self) -> None:
        self.project.mkdir()
        self.outcomes.mkdir()
        for name in NAMES:
            (self.project / name).mkdir()
            (self.project / name / "train.py").write_text(TRAINING)

    @property
    def outcomes(self) -> Path:
        """Outside of the working directory, which each run finds as the first one did."""
        return self.project.with_name("outcomes")

    def lived(self) -> list[SeenNight]:
        """All five nights, and the baseline that is accepted after the first."""
        nights = [self.night({})]
        self._accept()
        moved = {"regresses": "differs", "drifts": "one ulp", "upgraded": "one ulp"}
        self.targets.remove("dropped")
        self.upgraded = True
        nights.append(self.night({**moved, "flaky": "differs once"}, "--retries", "1"))
        self._killed_midway({**moved, "steady": "stuck"})
        nights.append(self.night(moved, "--resume", "last"))
        nights.append(self.night({"upgraded": "one ulp"}))
        nights.append(self.night({}, "steady", "flaky"))
        return nights

    def night(self, outcomes: Mapping[str, str], *words: str) -> SeenNight:
        """One night to its end."""
        self._prepare(outcomes)
        done = reprocheck(*self._command(words), cwd=self.project, **self._environment)
        return self._seen(done)

    def _killed_midway(self, outcomes: Mapping[str, str]) -> None:
        """A night whose orchestrator is killed while one target is under way and the others are in
        the history.
        """
        self._prepare(outcomes)
        process = subprocess.Popen(
            [sys.executable, "-m", "reprocheck", *self._command(())],
            cwd=self.project,
            env=clean_environment(**self._environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        end = time.monotonic() + PATIENCE
        while not self._all_but_one_are_checked():
            assert process.poll() is None, process.communicate()[0]
            assert time.monotonic() < end, "the other targets were not checked"
            time.sleep(0.05)
        kill(process)

    def _all_but_one_are_checked(self) -> bool:
        with open_history(self._suite_history) as history:
            night = history.nights()[-1].id
            stuck = (self.outcomes / "steady.starts").exists()
            return stuck and len(history.final(night)) == len(self.targets) - 1

    def _prepare(self, outcomes: Mapping[str, str]) -> None:
        """The settings and the outcomes of a night. Starts are counted anew."""
        (self.outcomes / "outcomes.json").write_text(json.dumps(dict(outcomes)))
        for starts in self.outcomes.glob("*.starts"):
            starts.unlink()
        history = f'history = "{self.history}"\n' if self.history else ""
        tables = [self._table(name) for name in self.targets]
        (self.project / "reprocheck.toml").write_text(
            f'[suite]\nfolder = "nightly"\n{history}{"".join(tables)}'
        )

    def _table(self, name: str) -> str:
        more = UPGRADE if name == "upgraded" and self.upgraded else ""
        keys = (f'name = "{name}"', f'folder = "{name}"', f'run = "train.py {name}"')
        return "\n".join(("[[target]]", *keys, "draw = false", "explain = false", more, ""))

    def _command(self, words: Sequence[str]) -> tuple[str, ...]:
        return ("suite", "run", "--no-record", *self.words, *words)

    @property
    def _environment(self) -> dict[str, str]:
        return {"OUTCOMES": str(self.outcomes)}

    @property
    def _suite_history(self) -> str:
        return load(self.project).history

    def _accept(self) -> None:
        done = reprocheck(
            "suite", "baseline", "accept", "--why", "the first night", cwd=self.project
        )
        assert done.returncode == 0, done.stdout + done.stderr

    def _seen(self, done: subprocess.CompletedProcess[str]) -> SeenNight:
        with open_history(self._suite_history) as history:
            night = history.nights()[-1].id
            states = {state.target: state for state in history.states(night=night)}
        folder = self.project / "nightly" / "nights" / night
        page = (self.project / "nightly" / "site" / "nights" / f"{night}.html").read_text()
        return SeenNight(
            states=states,
            exit_code=done.returncode,
            output=done.stdout + done.stderr,
            summary=(folder / "summary.md").read_text(),
            page=re.sub(r"<[^>]+>", " ", page),
            junit=ElementTree.parse(folder / "junit.xml").getroot(),
        )
