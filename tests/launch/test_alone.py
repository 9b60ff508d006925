"""One check at a time works in a folder; the others wait, or share it where their runs have copies."""

from __future__ import annotations

import subprocess
import sys
import threading
from pathlib import Path

import pytest

from reprocheck.launch.folder_lock import alone_in, held
from reprocheck.wording.progress import waits_for_another_check

HOLDS = """
import sys
from pathlib import Path
from reprocheck.launch.folder_lock import alone_in
with alone_in(Path(sys.argv[1]), shared=False, waits=print):
    print("holds", flush=True)
    input()
"""


def test_a_second_check_waits_for_the_end_of_the_first(tmp_path: Path) -> None:
    waits, has_it = threading.Event(), threading.Event()

    def second() -> None:
        with alone_in(tmp_path, shared=False, waits=waits.set):
            has_it.set()

    thread = threading.Thread(target=second)
    with alone_in(tmp_path, shared=False, waits=pytest.fail):
        assert len(held()) == 1
        thread.start()
        assert waits.wait(120)
        assert not has_it.is_set()
    thread.join(120)
    assert has_it.is_set() and held() == ()
    assert "waits for its end" in waits_for_another_check()


def test_checks_with_copies_share_a_folder_and_other_folders_are_free(tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with (
        alone_in(tmp_path, shared=True, waits=pytest.fail),
        alone_in(tmp_path, shared=True, waits=pytest.fail),
        alone_in(tmp_path / "other", shared=False, waits=pytest.fail),
    ):
        assert len(held()) == 3


def test_the_claim_of_a_process_that_is_killed_is_nobodys(tmp_path: Path) -> None:
    other = subprocess.Popen(
        [sys.executable, "-c", HOLDS, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert other.stdout is not None and other.stdout.readline() == "holds\n"
    other.kill()
    other.communicate()
    with alone_in(tmp_path, shared=False, waits=pytest.fail):
        assert len(held()) == 1


def test_a_check_inside_of_a_run_does_not_wait_for_its_own_check(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with alone_in(tmp_path, shared=False, waits=pytest.fail):
        monkeypatch.setenv("REPROCHECK_CHILD", str(tmp_path))
        with alone_in(tmp_path, shared=False, waits=pytest.fail):
            assert len(held()) == 1
