"""Which files are a target's own: a change of one of them is a change of the target."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from reprocheck.suite.execution.own_files import digest_of_files
from reprocheck.suite.target import Target

FILES = {
    "train.py": "import os\nfrom lib import loader\n",
    "lib/__init__.py": "",
    "lib/loader.py": "from . import deep\n",
    "lib/deep.py": "",
    "lib/unused.py": "",
    "base.json": "{}",
    "other.py": "",
    "README.md": "",
}
OWN = ("train.py", "lib/__init__.py", "lib/loader.py", "lib/deep.py", "base.json")


def digest(folder: Path, words: Sequence[str] = ("train.py", "--config=base.json")) -> str:
    return digest_of_files(Target(name="a", words=tuple(words), workdir=folder))


@pytest.mark.parametrize("changed", FILES)
def test_a_change_of_its_own_files_alone_is_seen(tmp_path: Path, changed: str) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    before = digest(tmp_path)
    assert before and digest(tmp_path) == before
    with (tmp_path / changed).open("a") as file:
        file.write("\n")
    assert (digest(tmp_path) != before) is (changed in OWN)


def test_it_is_the_same_in_another_checkout(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.py").write_text("import this is no Python")
    assert digest(tmp_path / "one") == digest(tmp_path / "two") != ""


@pytest.mark.parametrize("words", [("--", "make", "train"), ("gone.py",)])
def test_without_a_script_nothing_is_known(tmp_path: Path, words: Sequence[str]) -> None:
    assert digest(tmp_path, words) == ""
