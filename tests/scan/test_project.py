"""Which files are read, which modules imports mean, and which of them are programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.scan import scan
from reprocheck.scan.cache import Cache
from reprocheck.scan.collect import collected, groups
from reprocheck.scan.files import find
from reprocheck.scan.project import of_text
from reprocheck.scan.resolve import forget, locate, module_name


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a package, scripts, tests, and folders that are left out."""
    files = {
        "pyproject.toml": "",
        "train.py": "import tools.seeding\nfrom models import net\nimport torch\n",
        "models/__init__.py": "",
        "models/net.py": "from . import layers\n",
        "models/layers.py": "from .net import nothing\n",
        "src/tools/seeding.py": "import random\n",
        "scripts/run.py": "from models.net import x\nimport helper\n",
        "scripts/helper.py": "",
        "torch/readme.py": "",
        "book.ipynb": '{"cells": []}',
        ".hidden/a.py": "",
        "venv/pyvenv.cfg": "",
        "venv/lib/b.py": "",
        "site-packages/c.py": "",
        "__pycache__/d.py": "",
        "data.txt": "",
    }
    for name, text in files.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    forget()
    return tmp_path


def names(root: Path, *paths: str) -> list[str]:
    found, problems = find([root / path for path in paths])
    assert not problems
    return sorted(str(file.path.relative_to(root)) for file in found)


def test_folders_are_searched_without_environments_and_caches(tree: Path) -> None:
    assert names(tree, "") == [
        *("book.ipynb", "models/__init__.py", "models/layers.py", "models/net.py"),
        *("scripts/helper.py", "scripts/run.py", "src/tools/seeding.py", "torch/readme.py", "train.py"),
    ]
    assert names(tree, ".hidden", "site-packages") == [".hidden/a.py", "site-packages/c.py"]
    assert names(tree, "data.txt") == ["data.txt"]


def test_patterns_are_left_out(tree: Path) -> None:
    found, _ = find([tree], ["scripts", "*.ipynb", "net.py"])
    assert sorted(file.path.name for file in found) == ["__init__.py", "layers.py", "readme.py", "seeding.py", "train.py"]


def test_imports_are_found_as_python_would(tree: Path) -> None:
    def relative(name: str, folder: str = "") -> str | None:
        found = locate(name, tree / folder)
        return str(found.relative_to(tree)) if found else None

    assert relative("models") == "models/__init__.py" and relative("models.net") == "models/net.py"
    assert relative("models.net", "scripts") == "models/net.py" and relative("helper", "scripts") == "scripts/helper.py"
    assert relative("tools.seeding") == "src/tools/seeding.py" and relative("helper") is None
    assert relative("torch") is None and relative("torch.readme") is None
    assert module_name(tree / "models/net.py") == ("models.net", False) and module_name(tree / "models/__init__.py") == ("models", True)


def test_followed_imports_and_groups(tree: Path) -> None:
    found, _ = find([tree / "train.py"])
    done, problems = collected(found, Cache(None))
    assert not problems
    assert sorted(one.shown for one in done.values()) == [
        *("models/__init__.py", "models/layers.py", "models/net.py"),
        *("src/tools/seeding.py", "train.py"),
    ]
    assert len(groups(done)) == 1
    everything, _ = collected(find([tree])[0], Cache(None))
    assert sorted(len(group) for group in groups(everything)) == [1, 1, 7]


def test_installed_packages_are_not_followed(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "library"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .inner import x")
    (package / "inner.py").write_text("")
    forget()
    done, _ = collected(find([package / "__init__.py"])[0], Cache(None))
    assert [one.file.path.name for one in done.values()] == ["__init__.py"]


def test_links_in_a_circle_end(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "x.py").write_text("")
    (tmp_path / "a" / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "again.py").symlink_to(tmp_path / "a" / "x.py")
    (tmp_path / "gone.py").symlink_to(tmp_path / "nowhere.py")
    found, _ = find([tmp_path])
    assert len(found) == 2
    result = scan([tmp_path])
    assert result.files == 1 and [one.reason for one in result.unreadable] == ["does not exist"]


def entry(text: str, *, single: bool = False, **others: str) -> bool:
    project = of_text({"main.py": text, **{f"{name}.py": other for name, other in others.items()}}, single=single)
    return next(module for module in project if module.name == "main").is_entry


def test_what_is_a_program() -> None:
    assert entry("def f(): ...\nif __name__ == '__main__':\n    f()\n")
    assert entry("if '__main__' == __name__:\n    pass\n")
    assert entry("for x in y:\n    loss.backward()\n") and entry("model.fit(x)\n")
    assert entry("import mindspore as ms\nstep = ms.value_and_grad(f, None, w)\nfor _ in range(3):\n    step(x)\n")
    assert not entry("def train():\n    loss.backward()\n") and not entry("table.update(x)\n")
    assert entry("import torch\n", single=True) and not entry("x = 1\n", single=True, other="import main\n")
