"""Which files are read, which modules imports mean, and which of them are programs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.scan import patched, scan
from reprocheck.scan.cache import Cache
from reprocheck.scan.collect import collected, forget, groups, locate, module_name
from reprocheck.scan.files import find
from reprocheck.scan.formats.text import left_out
from reprocheck.scan.programs import of_text


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
        "reports/train-1/record.json": "{}",
        "reports/train-1/run-1/stdout.log": "",
        "reports/train-1/arms/patched-files/train.py": "",
        "runs/record.json": "{}",
        "runs/by_hand.py": "",
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


def test_folders_are_searched_without_environments_caches_and_reports(tree: Path) -> None:
    assert names(tree, "") == [
        *("book.ipynb", "models/__init__.py", "models/layers.py", "models/net.py"),
        *(
            "runs/by_hand.py",
            "scripts/helper.py",
            "scripts/run.py",
            "src/tools/seeding.py",
            "torch/readme.py",
            "train.py",
        ),
    ]
    assert names(tree, ".hidden", "site-packages") == [".hidden/a.py", "site-packages/c.py"]
    assert names(tree, "data.txt") == ["data.txt"]


def test_patterns_are_left_out(tree: Path) -> None:
    found, _ = find([tree], ["scripts", "*.ipynb", "net.py"])
    assert sorted(file.path.name for file in found) == [
        "__init__.py",
        "by_hand.py",
        "layers.py",
        "readme.py",
        "seeding.py",
        "train.py",
    ]


def test_imports_are_found_as_python_would(tree: Path) -> None:
    def relative(name: str, folder: str = "") -> str | None:
        found = locate(name, tree / folder)
        return str(found.relative_to(tree)) if found else None

    assert relative("models") == "models/__init__.py" and relative("models.net") == "models/net.py"
    assert (
        relative("models.net", "scripts") == "models/net.py"
        and relative("helper", "scripts") == "scripts/helper.py"
    )
    assert relative("tools.seeding") == "src/tools/seeding.py" and relative("helper") is None
    assert relative("torch") is None and relative("torch.readme") is None
    assert module_name(tree / "models/net.py") == ("models.net", False) and module_name(
        tree / "models/__init__.py"
    ) == ("models", True)


def test_followed_imports_and_groups(tree: Path) -> None:
    found, _ = find([tree / "train.py"])
    train = collected(found, Cache(None))
    assert not train.problems
    assert sorted(one.shown for one in train.done.values()) == [
        *("models/__init__.py", "models/layers.py", "models/net.py"),
        *("src/tools/seeding.py", "train.py"),
    ]
    assert len(groups(train.done)) == 1
    everything = collected(find([tree])[0], Cache(None)).done
    assert sorted(len(group) for group in groups(everything)) == [1, 1, 1, 7]


def test_installed_packages_are_not_followed(tmp_path: Path) -> None:
    package = tmp_path / "site-packages" / "library"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("from .inner import x")
    (package / "inner.py").write_text("")
    forget()
    done = collected(find([package / "__init__.py"])[0], Cache(None)).done
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
    project = of_text(
        {"main.py": text, **{f"{name}.py": other for name, other in others.items()}}, single=single
    )
    return next(module for module in project if module.name == "main").is_entry


def test_what_is_a_program() -> None:
    assert entry("def f(): ...\nif __name__ == '__main__':\n    f()\n")
    assert entry("if '__main__' == __name__:\n    pass\n")
    assert entry("for x in y:\n    loss.backward()\n") and entry("model.fit(x)\n")
    assert entry(
        "import mindspore as ms\nstep = ms.value_and_grad(f, None, w)\nfor _ in range(3):\n    step(x)\n"
    )
    assert not entry("def train():\n    loss.backward()\n") and not entry("table.update(x)\n")
    assert entry("import torch\n", single=True) and not entry(
        "x = 1\n", single=True, other="import main\n"
    )


ACTS = {
    "its own main": (
        "import torch\ndef main():\n    net = torch.nn.Linear(1, 1)\n    adam = torch.optim.Adam(net.parameters())\n"
        "    for x in torch.ones(9, 1):\n        net(x).backward(), adam.step()\nmain()\n"
    ),
    "cross validation": (
        "from sklearn.ensemble import RandomForestClassifier\nfrom sklearn.model_selection import cross_val_score\n"
        "cross_val_score(RandomForestClassifier(), x, y)\n"
    ),
    "a study": "import optuna\nstudy = optuna.create_study()\nstudy.optimize(lambda trial: trial.suggest_float('x', 0, 1), 3)\n",
    "a function of another module": "from helper import train\ntrain(3)\n",
    "a clock as the seed of a main of its own": (
        "import time, torch\ndef main():\n    torch.manual_seed(int(time.time()))\n"
        "    for x in data:\n        net(x).backward(), adam.step()\nmain()\n"
    ),
}


# a finding of this rule in a folder is never an error: too few of them were right in public code
BELOW = {"a study": "warning"}


@pytest.mark.parametrize("name", ACTS)
def test_a_script_without_a_guard_has_the_same_findings_when_its_folder_is_scanned(
    name: str, tmp_path: Path
) -> None:
    (tmp_path / "helper.py").write_text(
        "import torch\ndef train(size):\n    net = torch.nn.Linear(size, 1)\n    adam = torch.optim.Adam(net.parameters())\n"
        "    for x in torch.ones(9, size):\n        net(x).backward(), adam.step()\n"
    )
    (tmp_path / "train.py").write_text(ACTS[name])
    [named], [below] = scan([tmp_path / "train.py"]).findings, scan([tmp_path]).findings
    assert replace(below, severity=named.severity) == named
    assert below.severity == BELOW.get(name, named.severity)


def test_a_module_that_does_nothing_when_it_is_imported_is_no_program() -> None:
    assert not entry(
        "import logging, torch\nlog = logging.getLogger(__name__)\ndef main():\n    torch.rand(3)\n"
    )
    assert not entry("import torch\nx = torch.rand(3)\n", other="import main\n")
    assert entry("import torch\nx = torch.rand(3)\n")


NET = "import torch\nimport utils\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return utils.noise(x)\n"
NOISE = "import torch\ndef noise(x):\n    return x + torch.randn(3)\n"
STILL = "def noise(x):\n    return x\n"
TRAIN = "from {model} import Net\nif __name__ == '__main__':\n    for _ in range(2): Net()(1).backward()\n"


def written(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    forget()


def places(root: Path, *paths: str) -> list[tuple[str, tuple[str, ...]]]:
    found = scan([root / path for path in paths]).findings
    return [
        (
            one.path.replace(f"{root}/", ""),
            tuple(step.replace(f"{root}/", "") for step in one.through),
        )
        for one in found
    ]


@pytest.mark.parametrize("top", [None, "pyproject.toml"])
def test_projects_with_equal_file_names_are_kept_apart(top: str | None, tmp_path: Path) -> None:
    """The first has no file of one name, the second a folder below, the third its modules in
    `src`.
    """
    written(
        tmp_path,
        {
            **({top: ""} if top else {}),
            "one/train.py": TRAIN.format(model="model"),
            "one/model.py": NET,
            "two/train.py": "\n" * 10 + TRAIN.format(model="lib.model"),
            "two/lib/model.py": NET,
            "two/lib/utils.py": STILL,
            "two/utils.py": NOISE,
            "three/pyproject.toml": "",
            "three/scripts/train.py": "\n" * 20 + TRAIN.format(model="model"),
            "three/src/model.py": NET,
            "three/src/utils.py": NOISE,
        },
    )
    expected = [
        ("three/src/utils.py", ("three/scripts/train.py:23", "three/src/model.py:5")),
        ("two/utils.py", ("two/train.py:13", "two/lib/model.py:5")),
    ]
    assert (
        places(tmp_path, "")
        == places(tmp_path, "one", "two", "three")
        == places(tmp_path, "three", "one", "two")
        == expected
    )


def test_an_import_is_looked_for_where_the_program_stands_and_not_beside_the_module(
    tmp_path: Path,
) -> None:
    """As Python does: its own folder is on the path of a program alone."""
    files = {
        "train.py": TRAIN.format(model="lib.model"),
        "lib/model.py": NET,
        "lib/utils.py": NOISE,
        "utils.py": STILL,
    }
    written(tmp_path, files)
    assert places(tmp_path, "") == places(tmp_path, "train.py") == []
    (tmp_path / "utils.py").write_text(NOISE)
    (tmp_path / "lib/utils.py").write_text(STILL)
    assert places(tmp_path, "train.py") == [("utils.py", ("train.py:3", "lib/model.py:5"))]


def test_a_module_that_programs_of_two_folders_import_is_followed_from_the_outer_one(
    tmp_path: Path,
) -> None:
    files = {
        "train.py": TRAIN.format(model="lib.model"),
        "lib/model.py": NET,
        "lib/try_it.py": TRAIN.format(model="model"),
        "utils.py": NOISE,
    }
    written(tmp_path, files)
    assert [path for path, _ in places(tmp_path, "")] == ["utils.py"]


def test_a_program_of_a_package_finds_what_lies_above_it_in_its_own_project(tmp_path: Path) -> None:
    """`python -m tools.train` in the folder of the second project."""
    written(
        tmp_path,
        {
            ".git/config": "",
            "one/utils.py": STILL,
            "two/tools/train.py": TRAIN.format(model="model"),
            "two/model.py": NET,
            "two/utils.py": NOISE,
        },
    )
    assert places(tmp_path, "") == [("two/utils.py", ("two/tools/train.py:3", "two/model.py:5"))]


def test_a_file_that_is_no_longer_meant_is_not_scanned(tmp_path: Path) -> None:
    files = {
        "train.py": TRAIN.format(model="lib.model"),
        "lib/model.py": NET,
        "lib/utils.py": STILL,
        "utils.py": NOISE,
    }
    written(tmp_path, files)
    assert scan([tmp_path / "train.py"]).files == 3


OUTSIDE = {
    ".git/config": "",
    "lib/__init__.py": "from .seeding import begin\nfrom .data import draw, loader\n",
    "lib/seeding.py": "import torch\ndef begin(number):\n    _all(number)\ndef _all(number):\n    torch.manual_seed(number)\n",
    "lib/data.py": (
        "import numpy as np\nimport lib.part_0\nfrom torch.utils.data import DataLoader\n"
        "def draw(size):\n    return np.random.default_rng().random(size)\n"
        "def loader(data):\n    return DataLoader(data, shuffle=True)\n"
    ),
    "examples/one/train.py": (
        "import torch\nimport lib\n{seed}\nnet = torch.nn.Linear(4, 1)\n"
        "sgd = torch.optim.SGD(net.parameters(), 0.1)\nfor x in lib.loader(lib.draw(4)):\n"
        "    net(x).backward(), sgd.step()\n"
    ),
}


@pytest.mark.parametrize(
    ("seed", "lines"), [("lib.begin(0)", []), ("", [("RC301", "train.py", 4)])]
)
@pytest.mark.parametrize("named", [".", "train.py"])
def test_what_is_imported_from_outside_is_read_for_what_it_seeds(
    seed: str,
    lines: list[tuple[str, str, int]],
    named: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written(tmp_path, {name: text.replace("{seed}", seed) for name, text in OUTSIDE.items()})
    monkeypatch.chdir(tmp_path / "examples/one")
    result = scan([named])
    assert [(one.code, one.path, one.line) for one in result.findings] == lines
    assert (result.files, result.outside, result.unread) == (1, 3, 0)
    assert "3 files outside of what was asked" in "".join(left_out(result))


def test_no_more_than_a_limit_is_read_of_what_is_imported(tmp_path: Path) -> None:
    """The nearest first: the seed is set in one of them."""
    large = "def f(x):\n    return x\n" * 2_000
    parts = {
        f"lib/part_{number}.py": f"import lib.part_{number + 1}\n{large}" for number in range(60)
    }
    train = OUTSIDE["examples/one/train.py"].replace("{seed}", "lib.begin(0)")
    written(tmp_path, {**OUTSIDE, "examples/one/train.py": train, **parts})
    result = scan([tmp_path / "examples"], cache=None)
    assert not result.findings and 20 < result.outside < 30 and result.unread == 1


DROPOUT = """\
import numpy as np
import tensorflow as tf
tf.random.set_seed(0)
net = tf.keras.Sequential([tf.keras.layers.Dropout(0.5), tf.keras.layers.Dense(1, DENSE)])
net.compile("sgd", "mse")
net.fit(np.load("x.npy"), np.load("y.npy"), shuffle=False)
"""
GIVEN = 'kernel_initializer="ones"'
BELOW_3 = {
    "setup.py": "from setuptools import setup\nsetup(install_requires=['numpy', 'tensorflow-gpu>=2.4,<2.16'])\n",
    "setup.cfg": "[options]\ninstall_requires =\n    tensorflow == 2.12.*\n",
    "pyproject.toml": '[project]\ndependencies = ["tensorflow[and-cuda]~=2.15.0"]\n',
    "requirements-train.txt": "numpy\nkeras<3  # the old one\n",
    "environment.yml": "dependencies:\n  - tensorflow=2.10\n",
    "Pipfile": 'tensorflow = {version = "~2.9", extras = ["x"]}\n',
}
ABOVE = {
    "setup.py": "from setuptools import setup\nsetup(install_requires=['tensorflow>=2.4', 'numpy<2'])\n",
    "pyproject.toml": '[tool.poetry.dependencies]\ntensorflow = "^2.10"\n',
    "requirements.txt": "tensorflow-probability<0.20\ntensorflow~=2.10\n# tensorflow<2\n",
}


def found_in_project(root: Path, name: str, text: str, dense: str) -> list[str]:
    train = DROPOUT.replace("DENSE", dense)
    written(root, {name: text, ".git/config": "", "models/net/train.py": train})
    return [one.code for one in scan([root / "models"]).findings]


@pytest.mark.parametrize("name", BELOW_3)
def test_versions_are_read_where_the_project_pins_them(name: str, tmp_path: Path) -> None:
    assert found_in_project(tmp_path, name, BELOW_3[name], GIVEN) == []


@pytest.mark.parametrize("name", ABOVE)
def test_what_is_not_pinned_below_a_version_may_be_any(name: str, tmp_path: Path) -> None:
    assert found_in_project(tmp_path, name, ABOVE[name], GIVEN) == ["RC401"]


def test_keras_draws_weights_from_python_since_2_10_and_the_nearest_pin_counts(
    tmp_path: Path,
) -> None:
    assert found_in_project(tmp_path, "setup.py", "'tensorflow<2.16'", "use_bias=False") == [
        "RC301"
    ]
    assert found_in_project(tmp_path, "setup.py", "'tensorflow<2.10'", "use_bias=False") == []
    nearer = "models/requirements.txt"
    assert found_in_project(tmp_path, nearer, "tensorflow==2.17", GIVEN) == ["RC401"]


PACKAGED = "import torch\nfrom pkg.net import noise\nnet(noise(1)).backward()\n"


def test_a_named_file_is_scanned_with_its_package_as_far_as_that_lies_in_the_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {"net.py": NOISE, "cli/__init__.py": "", "__init__.py": "", "cli/train.py": PACKAGED}
    written(tmp_path, {f"pkg/{name}": text for name, text in files.items()})
    for folder, named, paths in (
        (".", "pkg/cli/train.py", ["pkg/net.py"]),
        ("pkg", "cli/train.py", []),
        ("pkg/cli", "train.py", []),
    ):
        monkeypatch.chdir(tmp_path / folder)
        assert [one.path for one in scan([named]).findings] == paths


def test_no_patch_is_made_outside_of_what_was_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train = OUTSIDE["examples/one/train.py"].replace("{seed}", "lib.begin(0)")
    drawn = train.replace("import lib\n", "import lib\nimport numpy as np\n").replace(
        "net(x)", "net(x + np.random.rand(4))"
    )
    written(tmp_path, {**OUTSIDE, "examples/one/train.py": drawn})
    monkeypatch.chdir(tmp_path / "examples/one")
    result = scan(["."])
    assert [one.fix for one in result.findings] == ["Add `np.random.seed(0)` below line 3."]
    assert list(patched(result)) == [Path("train.py")]
