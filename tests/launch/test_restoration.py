"""What a training does to the folder, and who else works in it: nothing is lost, nothing is written
outside, and the report names what lies elsewhere.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.archive import Archive
from reprocheck.launch.workdir.file_events import FileEvents
from reprocheck.launch.workdir.tree import read_tree
from reprocheck.launch.workdir.workdir import InPlace
from reprocheck.model import FilesAfter, RunRecord
from reprocheck.recording import record
from reprocheck.workflow import replay
from tests.launch.actions import contents
from tests.launch.conftest import Listener, Place, restored


@pytest.fixture
def outside(place: Place) -> Path:
    folder = place.path.parent / "else"
    folder.mkdir()
    (folder / "theirs").write_text("theirs")
    return folder


def after(place: Place) -> FilesAfter:
    (found,) = record.read(place.folder).files_after
    return found


# ------------------------------------------------------------------ links, folders in place of files

LINKS = """
    import os, shutil
    if not os.path.islink("folder"):
        shutil.rmtree("folder")
        os.symlink("../else", "folder")
    os.remove("file")
    os.mkdir("file")
    open("file/inner", "w").write("of a run")
    shutil.rmtree("other")
    open("other", "w").write("of a run")
    os.symlink("../../else", os.environ["REPROCHECK_CHILD"] + "/../../left", target_is_directory=True)
    os.symlink("../else/planted", f".reprocheck-{reprocheck}")
"""


def test_what_stands_in_the_way_goes_to_the_report_folder_and_nothing_is_written_outside(
    place: Place, outside: Path
) -> None:
    for name in ("folder/x", "folder/deep/y", "file", "other/z"):
        (place.path / name).parent.mkdir(parents=True, exist_ok=True)
        (place.path / name).write_text(f"mine: {name}")
    (place.path / "folder").chmod(0o750)
    before, theirs = contents(place.path), contents(outside)
    place.check(LINKS.replace("{reprocheck}", f"{{{os.getpid()}}}"), runs=1)
    now = contents(place.path)
    now.pop(f".reprocheck-{os.getpid()}")
    now.pop("train.py")
    assert now == before
    assert (place.path / "folder").stat().st_mode & 0o777 == 0o750
    assert contents(outside) == theirs
    left = place.folder / "left"
    assert (left / "folder").readlink() == Path("../else")
    assert (left / "file" / "inner").read_text() == (left / "other").read_text() == "of a run"
    assert {*after(place).replaced} == {"folder", "file", "other"}
    assert place.heard.messages == []


def test_a_write_through_a_link_is_named_as_one_through_the_path_is(
    place: Place, outside: Path
) -> None:
    (place.path / "alias").symlink_to("../else/theirs")
    (place.path / "inside").symlink_to("data")
    (place.path / "data").write_text("mine")
    place.check("open('alias', 'w').write('of a run'); open('inside', 'w').write('of a run')")
    check = replay.judged(place.folder)
    files = check.record.runs[0].files
    assert files.elsewhere == (str(outside / "theirs"),)
    assert files.unseen == ()
    assert (place.path / "data").read_text() == "mine"


def test_a_program_comes_back_with_all_bits_of_its_mode(place: Place) -> None:
    (place.path / "tool").write_text("mine")
    (place.path / "tool").chmod(0o4755)
    place.check("import os\nos.remove('tool')")
    assert (place.path / "tool").stat().st_mode & 0o7777 == 0o4755


def test_a_file_with_several_names_comes_back_as_one(place: Place, outside: Path) -> None:
    (place.path / "one").write_text("mine")
    os.link(place.path / "one", place.path / "two")
    os.link(outside / "theirs", place.path / "shared")
    (place.path / "gone").write_text("mine, too")
    os.link(place.path / "gone", place.path / "stays")
    (place.path / "data").write_text("my data")
    inodes = {name: (place.path / name).stat().st_ino for name in ("one", "shared", "stays")}
    result = place.check(
        """
        import os
        for name in ("one", "shared"): open(name, "w").write("of a run")
        if os.path.exists("gone"): os.remove("gone")
        if not os.path.exists("new"): os.link("data", "new")
        open("new", "w").write("of a run")
        """
    )
    names = ("one", "two", "gone", "stays", "shared", "data")
    texts = [(place.path / name).read_text() for name in names]
    assert texts == ["mine", "mine", "mine, too", "mine, too", "theirs", "my data"]
    assert (outside / "theirs").read_text() == "theirs"
    for name, same in {"one": "two", "stays": "gone"}.items():
        assert (place.path / name).stat().st_ino == inodes[name]
        assert (place.path / same).stat().st_ino == inodes[name]
    assert (outside / "theirs").stat().st_ino == inodes["shared"]
    assert [run.files.unseen for run in result.runs] == [(), ()]
    assert after(place).others == ()


# ---------------------------------------------------------------------- somebody saves a file meanwhile

SAVES = {
    "before the script writes it": ("save(); write()", "pass"),
    "after the script has written it": ("write(); save()", "write()"),
    "between the runs": ("write()", "write()"),
    "before the script removes it": ("save(); os.remove('data.txt')", "write()"),
    "before the script writes over it by renaming": ("save(); replace()", "replace()"),
    "in run 2, before the script writes it": ("write()", "save(); write()"),
    "in run 2, after the script has written it": ("write()", "write(); save()"),
}
SCRIPT = """
    import os, subprocess
    def save():
        # another program: the recorder does not see it
        subprocess.run(["/bin/sh", "-c", "printf saved > data.txt"], env={{}})
    def write(): open("data.txt", "w").write("of a run " + run)
    def replace():
        open("draft", "w").write("of a run")
        os.replace("draft", "data.txt")
    run = os.environ["REPROCHECK_CHILD"].split("/")[-2]
    if run == "run-1": {first}
    else: {second}
"""


class Editor(Listener):
    """Saves a file between the runs."""

    def run_ended(self, record: RunRecord) -> None:
        if record.number == 1:
            Path("data.txt").write_text("saved")


@pytest.mark.parametrize("moment", SAVES)
def test_what_somebody_saves_is_not_lost_whenever_he_does(place: Place, moment: str) -> None:
    (place.path / "data.txt").write_text("mine")
    first, second = SAVES[moment]
    if moment == "between the runs":
        place.heard = Editor()
    place.check(SCRIPT.format(first=first, second=second))
    found = after(place)
    named = [
        place.path / "data.txt",
        *(place.folder / "left" / name for name in found.replaced),
        *(place.folder / found.meanwhile / name for name in found.saved),
    ]
    assert "saved" in [path.read_text() for path in named]
    if moment == "between the runs":
        assert (place.path / "data.txt").read_text() == "saved", "it is his latest"
        assert (place.folder / "before" / "data.txt").read_text() == "mine"
        assert found.kept == ("data.txt",)
    assert not list(place.folder.glob("run-*/trace/overwritten"))


def test_what_the_runs_write_again_is_no_version_of_somebody_else(place: Place) -> None:
    (place.path / "log.txt").write_text("mine\n")
    place.check(
        "for name in ('new.txt', 'log.txt'):\n"
        "    for step in range(3): open(name, 'a').write(f'{step}\\n')\n"
        "open('weights', 'w').write('the same in each run')"
    )
    assert after(place).saved == ()
    assert not (place.folder / "meanwhile").exists()


def test_a_file_that_another_program_still_writes_stays_and_its_content_before_is_kept(
    place: Place,
) -> None:
    (place.path / "data.txt").write_text("mine")
    (place.path / "growing.log").write_text("line\n")
    with (place.path / "data.txt").open("a"), (place.path / "growing.log").open("a") as log:
        log.write("another line\n")
        log.flush()
        place.check("open('data.txt', 'w').write('of a run')")
    assert (place.path / "data.txt").read_text() == "of a run"
    assert (place.folder / "before" / "data.txt").read_text() == "mine"
    assert after(place).others == ("data.txt",)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file away")
def test_owners_are_put_back(place: Place) -> None:
    for name in ("folder/file", "given"):
        (place.path / name).parent.mkdir(exist_ok=True)
        (place.path / name).write_text("mine")
    for name in ("folder", "folder/file"):
        os.chown(place.path / name, 1234, 1235)
    place.check(
        "import os, shutil\n"
        "shutil.rmtree('folder', ignore_errors=True)\n"
        "os.chown('given', 1234, 1235)"
    )
    owners = [(place.path / name).stat() for name in ("folder", "folder/file", "given")]
    assert [(found.st_uid, found.st_gid) for found in owners] == [(1234, 1235)] * 2 + [(0, 0)]


# ---------------------------------------------------------------------- what cannot be kept


@pytest.fixture
def somebody() -> Iterator[Path]:
    """A folder of a user who may not read every file of his: root reads all."""
    folder = Path(tempfile.mkdtemp(dir="/tmp"))
    folder.chmod(0o777)
    root = os.geteuid() == 0
    if root:
        os.chown(folder, 65534, 65534)
        os.seteuid(65534)
    try:
        yield folder
    finally:
        if root:
            os.seteuid(0)
        shutil.rmtree(folder)


def test_what_cannot_be_read_is_named_before_the_runs_and_not_promised_afterwards(
    somebody: Path,
) -> None:
    root, report = somebody / "work", somebody / "report"
    root.mkdir()
    report.mkdir()
    (root / "secret").write_text("mine")
    (root / "secret").chmod(0)
    said: list[str] = []
    workdir = InPlace(Archive(folder=report, workdir=root), leave_out=[], say=said.append)
    assert said == [
        "Cannot be read, and so not kept: secret. If the script overwrites or deletes them, they"
        " cannot be put back."
    ]
    workdir.begin()
    (root / "secret").unlink()
    workdir.end(FileEvents(written={"secret"}))
    assert workdir.close().unkept == ("secret",)
    assert said[1].startswith("Changed or removed by the runs, and not kept before: secret.")
    assert not (report / "snapshot").exists(), "there is nothing that could be put back later"


def test_a_repository_that_is_gone_is_named(place: Place) -> None:
    for name in (".git", "__pycache__"):
        (place.path / name).mkdir()
    place.check("import shutil\nfor name in ('.git', '__pycache__'): shutil.rmtree(name, True)")
    assert after(place).unkept == (".git",)
    assert "not kept before: .git" in place.heard.messages[-1]


def test_a_working_directory_in_whose_place_a_link_stands_is_left_alone(
    tmp_path: Path, outside: Path
) -> None:
    work, store = tmp_path / "project", tmp_path / "report" / "snapshot"
    work.mkdir()
    (work / "theirs").write_text("mine")
    snapshot.keep(work, read_tree(work), store)
    work.rename(tmp_path / "moved")
    work.symlink_to(outside)
    assert restored(store, "theirs").lost == ("theirs",)
    assert (outside / "theirs").read_text() == "theirs"
    work.unlink()
    assert restored(store, "theirs").put_back == ("theirs",)
    assert (work / "theirs").read_text() == "mine"


def test_reports_that_hold_files_of_the_user_are_not_removed_with_the_old_ones(
    place: Place,
) -> None:
    (place.path / "data.txt").write_text("mine")
    text = "import os; os.system('echo other > data.txt')"
    place.check(text, keep=1)
    first = place.folder
    (place.path / "data.txt").write_text("mine")
    for _ in range(2):
        place.check("pass", keep=1)
    assert (first / "before" / "data.txt").read_text() == "mine"
    assert len(list((place.path / "reports").glob("train-*"))) == 2
