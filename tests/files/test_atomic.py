"""A file is written whole or not at all."""

from __future__ import annotations

import stat
from pathlib import Path

import pytest

from reprocheck.files.atomic import put, replacing, try_to_put


def test_the_new_content_takes_the_place_of_the_old_when_the_block_ends(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with replacing(path, mode=0o640) as file:
        file.write(b"new")
        file.flush()
        assert path.read_bytes() == b"old"
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"new", 0o640)
    assert list(tmp_path.iterdir()) == [path]


def test_an_error_leaves_the_old_content_and_nothing_beside_it(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b"old")
    with pytest.raises(KeyboardInterrupt), replacing(path) as file:
        file.write(b"half of the n")
        raise KeyboardInterrupt
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_not_there_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="gone"), replacing(tmp_path / "gone" / "a.json"):
        pass


def test_what_the_user_names_is_replaced_in_one_step_and_keeps_its_permissions(
    tmp_path: Path,
) -> None:
    file = tmp_path / "report.json"
    put(file, b"new")
    file.chmod(0o600)
    inode = file.stat().st_ino
    put(file, b"newer")
    assert (file.read_bytes(), stat.S_IMODE(file.stat().st_mode)) == (b"newer", 0o600)
    assert file.stat().st_ino != inode, "it was not written over"
    assert list(tmp_path.iterdir()) == [file]


def test_links_and_what_is_no_file_are_written_into(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"old")
    (tmp_path / "link").symlink_to("file")
    put(tmp_path / "link", b"new")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "file").read_bytes() == b"new"
    put(Path("/dev/null"), b"new")
    assert not Path("/dev/null").is_file()


def test_trying_leaves_no_trace_and_keeps_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "old").write_bytes(b"old")
    try_to_put(tmp_path / "old")
    try_to_put(tmp_path / "new")
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("old", b"old")]
    with pytest.raises(OSError, match="gone"):
        try_to_put(tmp_path / "gone" / "new")
