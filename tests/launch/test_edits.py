"""Somebody works in the folder while a check is under way: nothing of it is lost, whatever the runs
write.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Collection
from pathlib import Path

import pytest

from reprocheck import launch
from reprocheck.launch.run import run
from reprocheck.recording import record
from reprocheck.settings import Settings
from tests.launch.conftest import Listener, Place

WAITS = """
    import os, time, reprocheck
    from pathlib import Path
    if Path("results.txt").exists(): Path("results.txt").write_text("of a run")
    for step in range(3):
        reprocheck.log_loss(0.5 + len(os.environ["REPROCHECK_CHILD"]) * 0)
    deadline = time.monotonic() + 300
    while not Path("edited").exists() and time.monotonic() < deadline: time.sleep(0.02)
    Path("made.txt").write_text("by a run")
"""


class Editor(Listener):
    """Does something in the folder, once, while a run is under way."""

    def __init__(self, edit: Callable[[], None]) -> None:
        super().__init__()
        self.edit = edit
        self.done = False

    def progress(self, number: int, iteration: int, loss: float | None, seconds: float) -> None:
        if not self.done:
            self.done = True
            self.edit()
            Path("edited").touch()


def edit_all() -> None:
    """What somebody does in an editor: a change in place, one by renaming, a new file, one
    removed.
    """
    with Path("train.py").open("a") as file:
        file.write("# my edit\n")
    Path("draft").write_text("version 2, my edit")
    Path("draft").rename("other.txt")
    Path("notes.txt").write_text("my notes")
    Path("old.txt").unlink()


def fill(place: Place) -> None:
    place.script(WAITS)
    (place.path / "other.txt").write_text("version 1")
    (place.path / "old.txt").write_text("old")
    (place.path / "results.txt").write_text("mine")


def check_edits(place: Place, folder: Path) -> None:
    path = place.path
    assert (path / "train.py").read_text().endswith("# my edit\n")
    assert (path / "other.txt").read_text() == "version 2, my edit"
    assert (path / "notes.txt").read_text() == "my notes"
    assert not (path / "old.txt").exists()
    assert (folder / "before" / "other.txt").read_text() == "version 1"
    assert (folder / "before" / "old.txt").read_text() == "old"
    assert (folder / "before" / "train.py").read_text() + "# my edit\n" == (
        path / "train.py"
    ).read_text()


def test_edits_during_a_passing_check_stay_and_what_the_runs_wrote_is_put_back(
    place: Place,
) -> None:
    fill(place)
    editor = Editor(edit_all)
    entry = launch.entry_point(script="train.py")
    folder = launch.prepare(place.path / "reports", entry.name)
    made = launch.check(entry, Settings(), folder, editor)
    assert editor.done
    check_edits(place, folder)
    assert (place.path / "results.txt").read_text() == "mine"
    assert (folder / "left" / "results.txt").read_text() == "of a run"
    assert set(made.runs[0].files.unseen) == {
        "edited",
        "notes.txt",
        "old.txt",
        "other.txt",
        "train.py",
    }
    (after,) = record.read(folder).files_after
    assert (after.put_back, after.replaced, after.left) == (
        ("results.txt",),
        ("results.txt",),
        "left",
    )
    assert (set(after.others), after.before) == ({"old.txt", "other.txt", "train.py"}, "before")
    assert any(
        "left as they are" in text and "other.txt" in text and "before" in text
        for text in editor.messages
    )
    assert not (folder / "snapshot").exists()


def test_edits_while_runs_are_recorded_again_stay_and_new_files_are_not_moved_away(
    place: Place,
) -> None:
    fill(place)
    entry = launch.entry_point(script="train.py")
    folder = launch.prepare(place.path / "reports", entry.name)
    (place.path / "edited").touch()
    launch.check(entry, Settings(), folder, place.heard)
    (place.path / "edited").unlink()
    editor = Editor(edit_all)
    launch.record_deeper(entry, Settings(), folder, editor, level="module", iterations=3)
    assert editor.done
    check_edits(place, folder / "module")
    assert (place.path / "made.txt").read_text() == "by a run"
    assert (place.path / "results.txt").read_text() == "mine"
    (after,) = [one for one in record.read(folder).files_after if one.before]
    assert {"notes.txt", "edited"} < set(after.others)
    assert not list(folder.rglob("notes.txt"))


def test_a_file_that_changes_after_the_runs_is_not_as_they_left_it(place: Place) -> None:
    (place.path / "results.txt").write_text("mine")

    class Late(Listener):
        def run_ended(self, record: object) -> None:
            if len(self.ended) == 1:
                Path("results.txt").write_text("edited after the last run")
            self.ended.append(record)  # type: ignore[arg-type]

    entry = launch.entry_point(script=place.script("open('results.txt', 'w').write('of a run')"))
    folder = launch.prepare(place.path / "reports", entry.name)
    launch.check(entry, Settings(), folder, Late())
    assert (place.path / "results.txt").read_text() == "edited after the last run"
    assert (folder / "before" / "results.txt").read_text() == "mine"


@pytest.mark.parametrize(
    "text",
    [
        "import os; open('new', 'w').write('run'); os.replace('new', 'mine')",
        "import os; fd = os.open('mine', os.O_WRONLY | os.O_TRUNC); os.write(fd, b'run')",
        "import os; os.truncate('mine', 1)",
        "open('mine', 'r+').write('r')",
        "import os; os.path.exists('mine') and os.remove('mine')",
        "import os; fd = os.open('.', os.O_RDONLY); 'mine' in os.listdir('.') and os.unlink('mine', dir_fd=fd)",
        "import os; os.path.exists('mine') and os.rename('mine', 'elsewhere')",
        "import shutil; open('x', 'w').write('run'); shutil.copyfile('x', 'mine')",
        "import os; os.makedirs('tmp/deep', exist_ok=True); open('tmp/deep/file', 'w').write('run')\n"
        "import shutil; shutil.rmtree('folder', ignore_errors=True); os.rename('tmp', 'folder')",
        "import subprocess, sys; subprocess.run([sys.executable, '-c', 'open(\"mine\", \"w\")'])",
        "import multiprocessing as m\nif __name__ == '__main__': m.get_context('fork').Process(target=open, args=('mine', 'w')).start()",
    ],
)
def test_every_way_to_write_a_file_from_python_is_seen(place: Place, text: str) -> None:
    (place.path / "mine").write_text("mine")
    (place.path / "folder" / "deep").mkdir(parents=True)
    (place.path / "folder" / "deep" / "file").write_text("mine")
    made = place.check(text)
    assert {run.ended for run in made.runs} == {"completed"}
    assert [run.files.unseen for run in made.runs] == [(), ()]
    assert (
        (place.path / "mine").read_text()
        == (place.path / "folder" / "deep" / "file").read_text()
        == "mine"
    )


def test_what_a_shell_redirects_into_a_file_is_its_script_s(place: Place) -> None:
    (place.path / "log.txt").write_text("mine")
    place.script("print('of a run')")
    (place.path / "train.sh").write_text("python train.py > log.txt\n")
    entry = launch.entry_point(command=("bash", "train.sh"))
    folder = launch.prepare(place.path / "reports", entry.name)
    launch.check(entry, Settings(), folder, place.heard)
    assert (place.path / "log.txt").read_text() == "mine"
    assert (folder / "left" / "log.txt").read_text() == "of a run\n"


def test_what_another_program_of_the_run_keeps_open_is_the_run_s(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    (place.path / "log.txt").write_text("mine")
    (place.path / "train.sh").write_text(
        "exec 3> log.txt\necho of a run >&3\nwhile [ ! -e reports/seen ]; do sleep 0.05; done\n"
    )

    class Seen(Listener):
        def run_started(self, number: int, of: int) -> None:
            (place.path / "reports" / "seen").unlink(missing_ok=True)

    written_by = run.written_by

    def tell(processes: Collection[int], root: Path) -> frozenset[str]:
        found = written_by(processes, root)
        if "log.txt" in found:
            (place.path / "reports" / "seen").touch()
        return found

    monkeypatch.setattr(run, "written_by", tell)
    entry = launch.entry_point(command=("bash", "train.sh"))
    launch.check(entry, Settings(), launch.prepare(place.path / "reports", entry.name), Seen())
    assert (place.path / "log.txt").read_text() == "mine"


def test_what_a_program_that_cannot_be_watched_overwrote_is_kept_and_named(place: Place) -> None:
    (place.path / "data.txt").write_text("mine")
    entry = launch.entry_point(command=("sh", "-c", "echo of a run > data.txt"))
    folder = launch.prepare(place.path / "reports", entry.name)
    launch.check(entry, Settings(), folder, place.heard)
    assert (folder / "before" / "data.txt").read_text() == "mine"
    assert any("data.txt" in text for text in place.heard.messages)


def test_a_repository_that_is_checked_out_meanwhile_stays_so(place: Place) -> None:
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=n", "-c", "user.email=e@example.org", *words],
            check=True,
            capture_output=True,
        )

    place.script(WAITS)
    (place.path / "model.py").write_text("one")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "one")):
        git(*words)
    (place.path / "model.py").write_text("two")
    git("commit", "-qam", "two")
    entry = launch.entry_point(script="train.py")
    editor = Editor(lambda: git("checkout", "-q", "HEAD~1"))
    launch.check(entry, Settings(), launch.prepare(place.path / "reports", entry.name), editor)
    assert (place.path / "model.py").read_text() == "one"
