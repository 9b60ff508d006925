"""Real checks of scripts that do what they like to the files of their folder, killed with SIGKILL at
random moments: the user finds his files as they were.

`REPROCHECK_TEST_KILLED_CHECKS` says how many are tried.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from hypothesis import HealthCheck, Phase, given, settings, strategies as st

from reprocheck.launch.workdir import interrupted_checks
from tests.launch.actions import Action, contents, fill
from tests.launch.conftest import ROOT, driver, wait_until
from tests.launch.test_histories import actions
from tests.launch.test_left_behind import descendants

CHECKS = int(os.environ.get("REPROCHECK_TEST_KILLED_CHECKS", "6"))
SCRIPT = """
import os, signal, sys
from pathlib import Path
sys.path.insert(0, {root!r})
from tests.launch.actions import Action, perform
guard = os.getppid()
ours = int(Path(f"/proc/{{guard}}/stat").read_text().rpartition(")")[2].split()[1])
run = int(Path(os.environ["REPROCHECK_CHILD"]).parent.name.partition("-")[2])
report = Path(os.environ["REPROCHECK_CHILD"]).parents[1]
for number, action in enumerate({actions!r}):
    if (run, number) == {when!r}:
        Path({ready!r}).touch()
        if {who!r} == "reprocheck":
            os.kill(ours, signal.SIGKILL)
        signal.pause()
    perform(action, Path.cwd(), f"{{run}}, {{number}}", report)
if (run, "end") == {when!r}:
    Path({ready!r}).touch()
    os.kill(ours, signal.SIGKILL)  # in the moment in which the run ends
"""
Who = Literal["reprocheck", "all"]


@settings(
    max_examples=CHECKS,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    phases=set(Phase) - {Phase.explain, Phase.shrink},
)
@given(
    todo=st.lists(actions, min_size=1, max_size=6),
    run=st.integers(1, 2),
    moment=st.integers(0, 5) | st.just("end"),
    who=st.sampled_from(["reprocheck", "all"]),
)
def test_the_files_of_a_killed_check_are_as_they_were(
    todo: Sequence[Action], run: int, moment: int | str, who: Who
) -> None:
    folder = Path(tempfile.mkdtemp()).resolve()
    root = folder / "work"
    root.mkdir()
    fill(root)
    try:
        _check_and_kill(root, todo, (run, moment if moment == "end" else moment % len(todo)), who)
        mine, outside = contents(root), contents(folder / "else")
        shutil.rmtree(root)
        shutil.rmtree(folder / "else")
        fill(root)
        expected = contents(root)
        assert {path: mine.get(path) for path in expected} == expected
        assert outside == contents(folder / "else")
    finally:
        shutil.rmtree(folder)


def _check_and_kill(root: Path, todo: Sequence[Action], when: tuple[object, ...], who: Who) -> None:
    """Returns once the files are put back: by the guard, or by the next command in the folder."""
    ready = root.parent / "ready"
    words = {"root": str(ROOT), "actions": list(todo), "when": when, "who": who}
    (root / "train.py").write_text(SCRIPT.format(ready=str(ready), **words))
    process = subprocess.Popen(
        driver("train.py"), cwd=root, env={**os.environ, "TMPDIR": str(root.parent)}
    )
    wait_until(lambda: ready.exists() or process.poll() is not None)
    if who == "all" and when[1] != "end":
        every = descendants(process.pid)
        for pid in every:
            os.kill(pid, signal.SIGSTOP)
        for pid in reversed(every):
            os.kill(pid, signal.SIGKILL)
    process.wait(60)
    assert process.returncode == -signal.SIGKILL
    if who == "reprocheck" or when[1] == "end":
        wait_until(lambda: not list(root.parent.glob("reprocheck-*")))
    (root / "train.py").unlink()
    for found, _ in interrupted_checks.put_back(root / "reports", root):
        assert found.is_dir()
