"""A check costs the user no file: what stood in the working directory stands there afterwards."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.launch.run import environment
from reprocheck.launch.run.environment import accelerators
from reprocheck.launch.workdir import snapshot
from reprocheck.launch.workdir.tree import file_changes, read_tree
from reprocheck.launch.workdir.workdir import has_room
from tests.launch.conftest import Place, restored


def facts(folder: Path) -> dict[str, object]:
    """Everything below a folder but its reports: content, mode and modification time of files,
    targets of links.
    """
    found: dict[str, object] = {}
    for path in sorted(folder.rglob("*")):
        if "reports" in path.parts:
            continue
        status = path.lstat()
        if path.is_symlink():
            found[str(path.relative_to(folder))] = ("link", str(path.readlink()))
        elif path.is_file():
            found[str(path.relative_to(folder))] = (
                path.read_bytes(),
                status.st_mode,
                status.st_mtime_ns,
            )
        else:
            found[str(path.relative_to(folder))] = ("folder", status.st_mode)
    return found


MESS = """
    import os, shutil
    from pathlib import Path
    Path("overwritten.txt").write_text("run")
    with open("large.bin", "r+b") as file: file.write(b"run")
    if Path("deleted.txt").exists(): Path("deleted.txt").unlink()
    shutil.rmtree("folder", ignore_errors=True)
    os.chmod("mode.sh", 0o600)
    os.utime("touched.txt")
    if os.path.lexists("link"): os.unlink("link")
    os.makedirs("out", exist_ok=True)
    with open("out/log.txt", "a") as file: file.write("epoch\\n")
"""


def fill(folder: Path) -> None:
    (folder / "overwritten.txt").write_text("mine")
    (folder / "deleted.txt").write_text("mine")
    (folder / "large.bin").write_bytes(os.urandom(3 << 16))
    (folder / "folder" / "deep").mkdir(parents=True)
    (folder / "folder" / "deep" / "file").write_text("mine")
    (folder / "folder").chmod(0o750)
    (folder / "mode.sh").write_text("#!/bin/sh")
    (folder / "mode.sh").chmod(0o755)
    (folder / "touched.txt").write_text("mine")
    (folder / "link").symlink_to("deleted.txt")
    (folder / "loop").symlink_to(".")
    for name in ("overwritten.txt", "deleted.txt", "touched.txt", "large.bin"):
        os.utime(folder / name, (1_600_000_000, 1_600_000_000.5))


def test_what_was_there_is_put_back_and_what_is_new_stays(place: Place) -> None:
    fill(place.path)
    place.script(MESS)
    before = facts(place.path)
    result = place.check(MESS)
    after = facts(place.path)
    assert (place.path / "out" / "log.txt").read_text() == "epoch\nepoch\n"
    new = {"out", "out/log.txt"}
    same = set(before) - {"train.py"}
    assert {key: after[key] for key in same} == {key: before[key] for key in same}
    assert set(after) == set(before) | new
    assert result.runs[0].files.created == ("out/log.txt",)
    assert result.runs[0].files.changed == (
        "large.bin",
        "mode.sh",
        "overwritten.txt",
        "touched.txt",
    )
    assert result.runs[0].files.deleted == ("deleted.txt", "folder/deep/file", "link")
    assert result.runs[1].files.created == ()
    assert "out/log.txt" in result.runs[1].files.changed
    assert not (place.folder / "snapshot").exists()
    assert place.heard.messages == []


def test_state_of_run_1_reaches_run_2_and_is_not_hidden(place: Place) -> None:
    (place.path / "counter").write_text("0")
    place.check("n = int(open('counter').read()); print(n); open('counter', 'w').write(str(n + 1))")
    assert (place.folder / "run-2" / "stdout.log").read_text() == "1\n"
    assert (place.path / "counter").read_text() == "0"


def test_a_copy_leaves_the_users_folder_alone(place: Place) -> None:
    fill(place.path)
    (place.path / "env").mkdir()
    (place.path / "env" / "pyvenv.cfg").write_text("home = /usr/bin")
    (place.path / "shared").symlink_to("../elsewhere")
    text = (
        MESS
        + """
    print(os.getcwd(), os.path.abspath(__file__), Path("env/pyvenv.cfg").exists(), os.readlink("shared"))
    """
    )
    place.script(text)
    before = facts(place.path)
    result = place.check(text, workdir="copy")
    after = facts(place.path)
    assert {k: v for k, v in after.items() if k != "train.py"} == {
        k: v for k, v in before.items() if k != "train.py"
    }
    assert set(after) == set(before)
    said = [
        (place.folder / f"run-{number}" / "stdout.log").read_text().split() for number in (1, 2)
    ]
    assert said[0] == said[1]
    cwd, script, has_environment, shared = said[0]
    assert cwd == f"{place.folder}/workdir{place.path}" and script == f"{cwd}/train.py"
    assert has_environment == "True"
    assert shared == str(place.path.parent / "elsewhere")
    assert result.runs[0].files == result.runs[1].files
    assert result.runs[1].files.created == ("out/log.txt",)
    assert not Path(cwd).exists()
    assert "The working directory of each run is a copy." in result.changed_to_observe


def test_relative_paths_out_of_the_folder_lead_from_a_copy_where_they_did(place: Place) -> None:
    (place.path.parent / "data").mkdir()
    (place.path.parent / "data" / "x.txt").write_text("1 2 3")
    (place.path.parent / "common.py").write_text("here = 'beside'")
    result = place.check(
        """
        import os, sys
        sys.path.append("..")
        import common
        print(open("../data/x.txt").read(), common.here, os.path.basename(os.getcwd()), sorted(os.listdir("../data")))
        open("../made-by-a-run", "w").close()
        """,
        workdir="copy",
    )
    assert [run.ended for run in result.runs] == ["completed", "completed"]
    assert (place.folder / "run-2" / "stdout.log").read_text() == "1 2 3 beside work ['x.txt']\n"
    assert not (place.path.parent / "made-by-a-run").exists(), (
        "what is new beside the copy goes with it"
    )
    assert (place.path.parent / "data" / "x.txt").read_text() == "1 2 3"
    assert not list(place.folder.glob("workdir*"))


def test_an_absolute_script_path_leads_into_the_copy(place: Place) -> None:
    from reprocheck import launch
    from reprocheck.settings import Settings

    place.script("from pathlib import Path; (Path(__file__).parent / 'beside').touch()")
    entry = launch.entry_point(script=str(place.path / "train.py"))
    launch.check(
        entry,
        Settings(workdir="copy"),
        launch.prepare(place.path / "reports", entry.name),
        place.heard,
    )
    assert not (place.path / "beside").exists()


def test_a_relative_script_path_leads_out_of_the_copy(place: Place) -> None:
    from reprocheck import launch
    from reprocheck.settings import Settings

    script = place.path.parent / "elsewhere.py"
    script.write_text("import os; print(os.path.abspath(__file__), os.getcwd())")
    entry = launch.entry_point(script="../elsewhere.py")
    launch.check(
        entry,
        Settings(workdir="copy"),
        launch.prepare(place.path / "reports", entry.name),
        place.heard,
    )
    folder = (place.path / "reports" / "latest").resolve()
    said = [(folder / f"run-{number}" / "stdout.log").read_text().split() for number in (1, 2)]
    assert [found for found, _ in said] == [str(script)] * 2 and all(
        cwd != str(place.path) for _, cwd in said
    )


def test_runs_side_by_side(place: Place) -> None:
    result = place.check(
        "import os; open('made', 'x').close(); print(os.getcwd())", workdir="copy", jobs=2, runs=3
    )
    assert [run.number for run in result.runs] == [1, 2, 3]
    assert {run.ended for run in result.runs} == {"completed"}
    assert not list(place.folder.glob("workdir*"))
    with pytest.raises(UsageError, match="side by side"):
        place.check("pass", jobs=2)


def test_a_control_gives_all_copies_the_same_path(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    # torch sets it in the process of the tests, once it has compiled something there
    monkeypatch.delenv("TORCHINDUCTOR_CACHE_DIR", raising=False)
    result = place.check(
        "import os, time; print(os.getcwd(), os.environ['TMPDIR']); time.sleep(0.3)",
        workdir="copy",
        jobs=2,
        controls=("fresh-workdir",),
    )
    said = {(place.folder / run.stdout).read_text() for run in result.runs}
    assert len(said) == 1 and len(result.runs) == 2
    assert not any("side by side" in change for change in result.changed_to_observe)


def test_too_large_files_are_named_before_the_runs(tmp_path: Path) -> None:
    root, store = tmp_path / "root", tmp_path / "store"
    root.mkdir()
    (root / "small").write_bytes(b"s" * 10)
    (root / "large").write_bytes(b"l" * 100_000)
    can_share = snapshot.clone(root / "large", tmp_path / "probe")
    unkept = snapshot.keep(root, read_tree(root), store, limit=50)
    assert unkept == snapshot.Unkept(too_large=() if can_share else ("large",))
    (root / "small").write_bytes(b"x")
    (root / "large").write_bytes(b"x")
    result = restored(store, "small", "large")
    assert "small" in result.put_back and (root / "small").read_bytes() == b"s" * 10
    if not can_share:
        assert (result.lost, result.unkept) == ((), ("large",))
        assert (root / "large").read_bytes() == b"x"


def test_caches_environments_and_reports_are_not_listed(tmp_path: Path) -> None:
    for name in (
        "__pycache__/a.pyc",
        ".git/HEAD",
        "env/pyvenv.cfg",
        "env/lib/x",
        "conda/conda-meta/h",
        "node_modules/m",
        "reports/r",
        "src/a",
    ):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    os.mkfifo(tmp_path / "pipe")
    tree = read_tree(tmp_path, [tmp_path / "reports"])
    assert set(tree.entries) == {"src", "src/a"}
    assert set(tree.skipped) == {"__pycache__", ".git", "env", "conda", "node_modules"}


def test_a_tree_over_the_limit_is_said_to_be_incomplete(tmp_path: Path) -> None:
    for number in range(10):
        (tmp_path / f"{number}").touch()
    before = read_tree(tmp_path, limit=5)
    assert not before.complete and len(before.entries) == 5
    (tmp_path / "00").touch()
    assert file_changes(before, read_tree(tmp_path, limit=5)).created == ()


def test_runs_side_by_side_on_an_accelerator_are_asked_for_twice(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    dev = place.path.parent / "dev"
    dev.mkdir()
    for name in ("nvidia0", "nvidia1", "nvidiactl", "davinci3", "davinci_manager"):
        (dev / name).touch()
    assert [Path(path).name for path in accelerators({}, dev)] == ["nvidia0", "nvidia1", "davinci3"]
    assert [Path(path).name for path in accelerators({"CUDA_VISIBLE_DEVICES": ""}, dev)] == [
        "davinci3"
    ]
    assert (
        accelerators({"CUDA_VISIBLE_DEVICES": "-1", "ASCEND_RT_VISIBLE_DEVICES": "-1"}, dev) == ()
    )
    monkeypatch.setattr(environment, "DEV", dev)
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    with pytest.raises(UsageError, match=r"on an accelerator .*nvidia0") as caught:
        place.check("pass", workdir="copy", jobs=2)
    assert "--jobs-on-accelerator" in caught.value.fix
    assert not place.folder.exists()
    assert len(place.check("pass", workdir="copy", jobs=2, jobs_on_accelerator=True).runs) == 2
    assert len(place.check("pass", workdir="copy").runs) == 2


def test_waiting_threads_sleep_in_runs_side_by_side(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(environment, "DEV", place.path)
    monkeypatch.delenv("OMP_WAIT_POLICY", raising=False)
    text = "import os; print(os.environ.get('OMP_WAIT_POLICY'))"

    def said(jobs: int) -> tuple[str, bool]:
        result = place.check(text, workdir="copy", jobs=jobs)
        told = any("OMP_WAIT_POLICY=passive" in each for each in result.changed_to_observe)
        return (place.folder / "run-2" / "stdout.log").read_text().strip(), told

    assert said(1) == ("None", False)
    assert said(2) == ("passive", True)
    monkeypatch.setenv("OMP_WAIT_POLICY", "active")
    assert said(2) == ("active", False)


def test_git_facts(place: Place) -> None:
    import subprocess

    from reprocheck.launch.run.environment import git

    assert git(place.path) == {}
    run = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    place.script("pass")
    for arguments in (["init", "-q"], ["add", "train.py"], ["commit", "-qm", "x"]):
        subprocess.run([*run, *arguments], check=True, cwd=place.path)
    result = place.check("pass")
    assert len(str(result.environment["git.commit"])) == 40
    assert result.environment["git.dirty"] is False
    (place.path / "train.py").write_text("1")
    assert git(place.path)["git.dirty"] is True


def test_a_fact_that_the_runs_record_too_has_their_format(tmp_path: Path) -> None:
    from reprocheck.child.reprocheck_child.process import environment as recorder
    from reprocheck.launch.run.environment import COMPILERS, facts

    ours, theirs = facts(tmp_path), recorder.facts({})
    both = ours.keys() & theirs.keys()
    assert both == {"platform.system", "platform.machine", "platform.kernel"}
    assert {key: ours[key] for key in both} == {key: theirs[key] for key in both}
    of_some_machines = {"platform.release", *(f"{name}.version" for name in COMPILERS)}
    assert ours.keys() - both - of_some_machines == {"memory.bytes", "reprocheck.python"}


def test_compilers_say_their_version_as_collect_env_reads_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from reprocheck.launch.run.environment import facts

    said = {
        "gcc": "gcc (Debian 12.2.0-14) 12.2.0",
        "cmake": "cmake version 3.25.1",
        "nvcc": "Cuda compilation tools, release 12.4, V12.4.131",
        "clang": "no version",
    }
    for name, line in said.items():
        (tmp_path / name).write_text(f"#!/bin/sh\necho '{line}'\n")
        (tmp_path / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    found = {key: value for key, value in facts(tmp_path).items() if key.endswith(".version")}
    assert found == {
        "gcc.version": "(Debian 12.2.0-14) 12.2.0",
        "cmake.version": "3.25.1",
        "nvcc.version": "12.4.131",
    }


def test_a_copy_is_advised_only_where_there_is_space_for_one(place: Place) -> None:
    def said(size: int) -> str:
        with (place.path / "large.bin").open("wb") as file:
            file.truncate(size)
        place.heard.messages.clear()
        place.check("pass", runs=1)
        return place.heard.messages[0]

    if has_room(place.path, [], place.path) and snapshot.clone(
        Path(__file__), place.path / "probe"
    ):
        pytest.skip("the file system shares the blocks of copies")
    assert said(snapshot.COPY_LIMIT + 1).endswith(
        "Use `--workdir copy` to give each run its own copy."
    )
    free = shutil.disk_usage(place.path).free
    assert said(free + (1 << 32)).endswith(
        "There is no space for `--workdir copy` here: make sure that the script only reads them."
    )
