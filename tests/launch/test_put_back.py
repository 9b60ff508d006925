"""What cannot be put back stays in the store, until it can."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import BinaryIO

import pytest

from reprocheck.launch.workdir import archive, snapshot
from reprocheck.launch.workdir.tree import read_tree
from tests.launch.conftest import restored


def full(target: BinaryIO, *_: object) -> None:
    target.write(b"a part of i")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "work")


def test_on_a_full_disk_nothing_is_lost_and_no_draft_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    work, store = tmp_path / "work", tmp_path / "report" / "snapshot"
    work.mkdir()
    (work / "data.txt").write_text("mine")
    snapshot.keep(work, read_tree(work, ()), store)
    (work / "data.txt").write_text("of a run")
    os.utime(store / snapshot.OWNER, (0, 0))  # the last sign of life came long before
    with monkeypatch.context() as patched:
        patched.setattr(archive, "write_content", full)
        assert restored(store, "data.txt").lost == ("data.txt",)
    assert [path.name for path in work.iterdir()] == ["data.txt"]

    last = (store / snapshot.OWNER).stat().st_mtime
    assert restored(store, "data.txt", until=last).put_back == ("data.txt",)

    assert (work / "data.txt").read_text() == "mine"
    assert not store.exists()
