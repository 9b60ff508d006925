"""What run 1 leaves for run 2 is seen, wherever it lies and whatever reads it; what is claimed is
what was recorded.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import textwrap
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from reprocheck.causes.cause import causes_of
from reprocheck.launch import record_deeper
from reprocheck.launch.entry.entry_point import entry_point
from reprocheck.launch.run.further_runs import made_elsewhere
from reprocheck.model import Cause, Check
from reprocheck.report import document, files
from reprocheck.report.next_step import next_command
from reprocheck.settings import Settings
from reprocheck.wording import say, told
from reprocheck.wording.check import OUTSIDE
from reprocheck.workflow import escalation, left_files, replay
from tests.causes.cause_ladders import ladder
from tests.launch.conftest import Place

LOSSES = "import reprocheck, os, subprocess\nfrom pathlib import Path\n"
TRAIN = "\nfor step in range(4): reprocheck.log_loss(1.0 / (step + 1 + offset))\n"


def judged(place: Place, text: str, **settings: object) -> Check:
    """The check of a script that sets `offset` and trains."""
    place.check(LOSSES + text + TRAIN, **settings)
    return told(replay.judged(place.folder))


def judged_as(place: Place, text: str, **settings: object) -> Check:
    """The check of a whole script."""
    place.check(text, **settings)
    return told(replay.judged(place.folder))


def first_cause(check: Check) -> Cause:
    """The best cause of a check, with its sentences."""
    assert check.folder is not None
    return told(replace(check, causes=tuple(causes_of(check, check.folder)))).causes[0]


def visible_caveat(check: Check) -> list[str]:
    return [caveat for caveat in check.caveats if "could see" in caveat]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("offset = 0\nif not os.path.exists('flag'): Path('flag').touch()", "flag"),
        (
            "offset = 0\nsubprocess.run(['cat', 'out.txt'])\nPath('out.txt').write_text('1')",
            "out.txt",
        ),
        ("offset = 0\nsubprocess.run(['sh', '-c', 'echo 1 > flag'])", "flag"),
    ],
)
def test_a_pass_whose_run_2_could_see_what_run_1_wrote_says_so(
    place: Place, text: str, path: str
) -> None:
    check = judged(place, text)
    assert (check.verdict.verdict, check.state_left, check.state_visible) == (
        "reproducible",
        (),
        (path,),
    )
    (said,) = visible_caveat(check)
    assert path in said and "--workdir copy" in said
    again = judged(place, text, workdir="copy")
    assert (again.state_left, again.state_visible, visible_caveat(again)) == ((), (), [])


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (
            "offset = 0\nif Path('old').exists(): Path('old').read_text()\nPath('old').write_text('1')",
            "old",
        ),
        (
            "import sqlite3\nbase = sqlite3.connect('run.db')\nbase.execute('create table if not exists t(x)')\nbase.commit()\noffset = 0",
            "run.db",
        ),
        (
            "if os.path.exists('made.py'):\n    import made\nelse: Path('made.py').write_text('x = 1')\noffset = 0",
            "made.py",
        ),
    ],
)
def test_what_run_2_read_of_run_1_is_named_whatever_read_it(
    place: Place, text: str, path: str
) -> None:
    check = judged(place, text)
    assert check.state_left == (path,)
    assert any(
        caveat.startswith(f"State left by run 1: a later run read {path}")
        for caveat in check.caveats
    )


CACHE = "offset = 0\nif not os.path.exists('cache'): Path('cache').write_text('1')\nPath('cache').read_text()"
READ_BACK = """
start = int(Path('last').read_text()) if os.path.exists('last') else 0
for step in range(start, start + 4): reprocheck.log_loss(1.0 / (step + 1))
if not start: Path('last').write_text('4')
Path('last').read_text()
"""


def test_a_cache_from_which_every_run_starts_alike_asks_for_no_copy(place: Place) -> None:
    check = judged(place, CACHE)
    assert (check.verdict.verdict, check.state_left, check.state_alike) == (
        "reproducible",
        ("cache",),
        ("cache",),
    )
    assert any("Run 1 read the same from there" in caveat for caveat in check.caveats)
    assert "--workdir copy" not in next_command(check)[1]
    assert not [caveat for caveat in judged(place, CACHE).caveats if "earlier check" in caveat], (
        "it is no start from another state"
    )


LIBRARY = """
import os
from pathlib import Path

path = Path(os.environ["HOME"], "library.json")
if path.exists():
    text = path.read_text()
    path.write_text(text + {added!r})
else:
    path.write_text("defaults")
"""


@pytest.mark.parametrize(
    ("folder", "added", "left"),
    [
        ("site-packages", "", []),
        ("site-packages", "x", ["library.json"]),
        (".", "", ["library.json"]),
    ],
)
def test_what_a_library_keeps_for_itself_is_left_by_no_run_unless_it_differs(
    place: Place,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    folder: str,
    added: str,
    left: list[str],
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    packages = place.path / folder
    packages.mkdir(exist_ok=True)
    (packages / "own_library.py").write_text(LIBRARY.format(added=added))
    text = f"offset = 0\nimport sys; sys.path.append({str(packages)!r})\nimport own_library\n"
    check = judged(place, text, runs=3)
    assert [Path(path).name for path in check.state_left] == left
    assert [Path(path).name for path in check.state_visible] == []


def test_a_file_that_run_1_reads_only_after_its_training_is_no_cache(place: Place) -> None:
    place.check(LOSSES + READ_BACK)
    check = told(replay.judged(place.folder))
    assert (check.verdict.verdict, check.state_left, check.state_alike) == (
        "not_reproducible",
        ("last",),
        (),
    )


def test_a_folder_that_the_runs_made_is_removed_whole_and_beside_it_only_files(
    place: Place,
) -> None:
    writes = "Path('last').mkdir(exist_ok=True); Path('last', 'model').touch(); Path('log').touch()"
    place.check(
        f"{LOSSES}offset = len(Path('last', 'model').read_text()) + 1 if Path('last').exists() else 0\n{writes}{TRAIN}"
    )
    check = told(replay.judged(place.folder))
    assert check.state_left == ("last/model",)
    cause = first_cause(replace(check, ladder=ladder("files and arguments", place="last/model")))
    assert "\nrm -f log\nrm -rf last\n" in cause.fix


def test_a_folder_that_holds_what_somebody_else_wrote_is_not_removed(place: Place) -> None:
    writes = "Path('last').mkdir(exist_ok=True); Path('last', 'model').touch()"
    # no event tells that the run did it
    program = "subprocess.run(['sh', '-c', 'echo 1 > last/notes'])"
    place.check(
        f"{LOSSES}offset = len(Path('last', 'model').read_text()) + 1 if Path('last').exists() else 0\n{writes}\n{program}{TRAIN}"
    )
    check = told(replay.judged(place.folder))
    cause = first_cause(replace(check, ladder=ladder("files and arguments", place="last/model")))
    assert "\nrm -f last/model\n" in cause.fix and "rm -rf" not in cause.fix


def test_copies_hold_what_an_earlier_check_left(place: Place) -> None:
    """All runs resume from there, so they agree, and nothing is said of a start of its own."""
    place.check(LOSSES + READ_BACK)
    check = told(replay.judged(place.folder))
    assert not [caveat for caveat in check.caveats if "earlier check" in caveat]
    cause = first_cause(replace(check, ladder=ladder("files and arguments", place="last")))
    assert "\nrm -f last\n" in cause.fix
    assert cause.fix.startswith("# in the script: ") and "--resume" in cause.fix.partition("\n")[0]
    copied = judged_as(place, LOSSES + READ_BACK, workdir="copy")
    (said,) = [caveat for caveat in copied.caveats if "earlier check" in caveat]
    assert copied.verdict.verdict == "reproducible"
    assert said.startswith("Each run reads last, which the runs of an earlier check made (20")
    older = replace(
        copied.record, earlier={**copied.record.earlier, "first": copied.record.started}
    )
    (left,) = left_files.of_earlier(older, copied.runs)
    assert left.others == ("first",) and "such checks left (first)" in say(left), (
        "else the next start would find that one"
    )
    (place.path / "last").write_text("7")
    os.utime(place.path / "last", (time.time() + 60, time.time() + 60))
    own = judged_as(place, LOSSES + READ_BACK, workdir="copy")
    assert not [caveat for caveat in own.caveats if "earlier check" in caveat], (
        "somebody else has written it since"
    )


def test_a_training_that_writes_nothing_says_nothing_of_files(place: Place) -> None:
    check = judged(place, "offset = 0")
    assert (check.state_left, check.state_visible, visible_caveat(check)) == ((), (), [])


def test_a_module_that_was_compiled_in_run_1_and_is_imported_in_run_2_was_read(
    place: Place,
) -> None:
    text = "offset = 0\nif not os.path.exists('made.py'): Path('made.py').write_text('x = 1')\nimport made"
    assert judged(place, text).state_left == ("made.py",)


@pytest.fixture
def cache(place: Place, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file in the user's cache, outside of the working directory."""
    monkeypatch.setenv("HOME", str(place.path.parent / "home"))
    return place.path.parent / "home" / ".cache" / "x" / "last.txt"


RESUMES = """
import os, reprocheck
from pathlib import Path
last = Path("~/.cache/x/last.txt").expanduser()
start = int(last.read_text()) if last.exists() else 0
print("resumed from step", start) if start else print("from the beginning")
for step in range(start, start + 8):
    reprocheck.log_loss(1.0 / (step + 1))
    if step == 3:
        last.parent.mkdir(parents=True, exist_ok=True)
        last.write_text(str(step + 1))
"""


def test_a_checkpoint_in_a_cache_is_state_left_by_run_1(place: Place, cache: Path) -> None:
    place.check(RESUMES)
    check = told(replay.judged(place.folder))
    assert check.verdict.verdict == "not_reproducible"
    assert check.state_left == ("~/.cache/x/last.txt",)
    assert any(
        "a later run read ~/.cache/x/last.txt" in caveat and OUTSIDE in caveat
        for caveat in check.caveats
    )


def test_runs_recorded_again_are_long_enough_to_leave_it_again(place: Place, cache: Path) -> None:
    place.check(RESUMES)
    assert escalation.iterations(replay.judged(place.folder), Settings()) == 8
    place.check("import reprocheck, os\nfor step in range(8): reprocheck.log_loss(os.getpid())")
    assert escalation.iterations(replay.judged(place.folder), Settings()) == 2


def test_runs_recorded_again_do_not_find_the_checkpoint_in_the_cache(
    place: Place, cache: Path
) -> None:
    place.check(RESUMES)
    assert made_elsewhere(replay.judged(place.folder).record.runs) == ("~/.cache/x/last.txt",)
    cache.write_text("4\n")  # as the user's own copy would look
    record_deeper(
        entry_point(script="train.py"),
        Settings(),
        place.folder,
        place.heard,
        level="module",
        iterations=8,
    )
    said = [(place.folder / f"module/run-{number}/stdout.log").read_text() for number in (1, 2)]
    assert said == ["from the beginning\n", "resumed from step 4\n"]
    assert cache.read_text() == "4\n", "what stood there is back"


def test_what_the_script_itself_says_of_it_is_evidence(place: Place, cache: Path) -> None:
    place.check(RESUMES)
    record_deeper(
        entry_point(script="train.py"),
        Settings(),
        place.folder,
        place.heard,
        level="module",
        iterations=8,
    )
    cause = told(replay.explained(replay.judged(place.folder), place.folder)).causes[0]
    assert cause.code == "RC101"
    assert any("~/.cache/x/last.txt" in said for said in cause.evidence)
    assert "'resumed from step 4'" in cause.evidence[0], (
        "the terminal has room for the first sentence"
    )
    assert cause.source is not None and "read_text()" in cause.source.text
    assert "tempfile.mkdtemp()" in cause.fix and "--workdir copy" not in cause.fix
    assert "sh -c 'rm -f ~/.cache/x/last.txt; exec " in cause.fix
    followed = RESUMES.replace(
        'Path("~/.cache/x/last.txt").expanduser()',
        'Path(__import__("tempfile").mkdtemp()) / "last.txt"',
    )
    place.check(followed)
    assert replay.judged(place.folder).verdict.verdict == "reproducible"


def test_data_elsewhere_that_nobody_wrote_is_no_state(place: Place) -> None:
    (place.path.parent / "data.txt").write_text("1")
    check = judged(place, "offset = int(open('../data.txt').read())")
    assert (check.state_left, check.state_visible) == ((), ())


def test_the_files_of_the_runs_are_in_the_report(place: Place) -> None:
    (place.path / "mine.txt").write_text("mine")
    check = judged(
        place, "offset = 0\nPath('mine.txt').write_text('run')\nPath('new.txt').write_text('1')"
    )
    part: dict[str, Any] = json.loads(json.dumps(document.to_json(check)))["files"]
    assert part["runs"][0] == {
        "run": 1,
        "created": ["new.txt"],
        "changed": ["mine.txt"],
        "deleted": [],
        "unseen": [],
        "elsewhere": [],
        "gone": [],
    }
    assert part["visible"] == ["mine.txt", "new.txt"]
    assert part["after"][0]["replaced"] == ["mine.txt"] and part["after"][0]["left"] == "left"


def test_what_becomes_of_files_elsewhere_is_said_as_it_is(place: Place) -> None:
    """Made, written over, removed: nothing of it is put back, and nobody is advised to remove what
    stood there before.
    """
    outside = place.path.parent / "outside"
    outside.mkdir()
    for name in ("results.txt", "gone.txt", "moved.txt"):
        (outside / name).write_text("mine")
    text = """
        offset = 0
        outside = Path("../outside")
        (outside / "results.txt").write_text("of a run")
        (outside / "new.txt").write_text("of a run")
        (outside / "passing.txt").write_text("of a run")
        (outside / "passing.txt").unlink()
        if (outside / "gone.txt").exists(): (outside / "gone.txt").unlink()
        if (outside / "moved.txt").exists(): (outside / "moved.txt").replace(outside / "there.txt")
    """
    check = judged(place, textwrap.dedent(text))
    said = {sentence.replace(f"{outside}/", "") for sentence in files.sentences(check)}
    assert said == {
        "Made by run 1 outside of the working directory, and still there: `new.txt`, `there.txt`.",
        "Written to by run 1 outside of the working directory, where nothing is put back: `results.txt`.",
        "Removed by run 1 outside of the working directory, where nothing is put back: `gone.txt`, `moved.txt`.",
        "Written to by run 2 outside of the working directory, where nothing is put back: `results.txt`.",
    }
    (advice,) = visible_caveat(check)
    assert advice.endswith(
        "look in the script for what reads them; `--workdir copy` does not copy them."
    )
    (outside / "results.txt").unlink()
    again = judged(place, "offset = 0\nPath('../outside/one.txt').write_text('1')")
    (advice,) = visible_caveat(again)
    assert advice.endswith("remove these files before each run to rule it out."), "the runs made it"
    mixed = judged(
        place,
        "offset = 0\nPath('../outside/two.txt').write_text('1')\nPath('here.txt').write_text('1')",
    )
    (advice,) = visible_caveat(mixed)
    assert advice.endswith("`--workdir copy` rules it out for those in the working directory.")


def advised(place: Place) -> str:
    """The command line in the fix of the first cause."""
    (line,) = [
        line
        for line in replay.load(place.folder).causes[0].fix.splitlines()
        if line.startswith("reprocheck ")
    ]
    return line


def follow(place: Place, line: str) -> Check:
    """The check that a command line of a fix makes, in the folder of the place."""
    before = set((place.path / "reports").iterdir())
    subprocess.run(
        [sys.executable, "-m", *shlex.split(line)], cwd=place.path, capture_output=True, text=True
    )
    (folder,) = [
        one for one in set((place.path / "reports").iterdir()) - before if one.name != "latest"
    ]
    return told(replay.judged(folder))


def test_the_fix_for_a_file_outside_is_a_command_that_keeps_it_from_each_run(
    place: Place, cache: Path
) -> None:
    place.check(RESUMES, "--rate", "0.1 0.2", workdir="copy")
    line = advised(place)
    assert "rm -f ~/.cache/x/last.txt; exec " in line and "--rate" in line
    followed = follow(place, line)
    assert (followed.verdict.verdict, followed.state_left, visible_caveat(followed)) == (
        "reproducible",
        (),
        [],
    )


def test_a_file_outside_that_stood_before_the_check_is_not_advised_to_be_removed(
    place: Place, cache: Path
) -> None:
    cache.parent.mkdir(parents=True)
    cache.write_text("2")
    place.check(RESUMES)
    cause = replay.load(place.folder).causes[0]
    assert cause.code == "RC101"
    assert (
        "tempfile.mkdtemp()" in cause.fix
        and "rm -f" not in cause.fix
        and "--workdir copy" not in cause.fix
    )


def test_the_fix_for_a_file_of_the_working_directory_is_the_users_own_command(place: Place) -> None:
    text = "offset = int(os.path.exists('last'))\nif offset: Path('last').read_text()\nPath('last').write_text('1')"
    place.check(LOSSES + text + TRAIN, "--rate", "0.1 0.2")
    line = advised(place)
    assert line == "reprocheck run --workdir copy train.py --rate '0.1 0.2'"
    assert follow(place, line).verdict.verdict == "reproducible"


def test_what_a_run_writes_around_its_copy_is_gone_for_the_next(place: Place) -> None:
    text = "offset = 0\nPath('../beside').mkdir(exist_ok=True)\nPath('../beside/made.txt').write_text('1')"
    check = judged(place, text, workdir="copy")
    assert [run.files.elsewhere for run in check.record.runs] == [(), ()]
    assert (check.state_visible, visible_caveat(check)) == ((), [])


def test_a_later_check_says_that_its_runs_find_what_an_earlier_one_left(
    place: Place, cache: Path
) -> None:
    found = [caveat for caveat in place.check(RESUMES).caveats if "earlier check" in caveat]
    assert found == []
    for _ in range(2):
        place.check(RESUMES)
        check = told(replay.judged(place.folder))
        (said,) = [caveat for caveat in check.caveats if "earlier check" in caveat]
        assert "~/.cache/x/last.txt" in said
    cache.unlink()
    assert not [caveat for caveat in place.check(RESUMES).caveats if "earlier check" in caveat]
