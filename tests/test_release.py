"""What is handed out: the same bytes from the same files, all of the package and nothing else, and it
works where nothing else of this repository is.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from functools import cache
from pathlib import Path

import pytest

from reprocheck import __version__
from tests.conftest import ROOT, clean_environment

BILL = ROOT / "reprocheck" / "report" / "vendor" / "vendored.cdx.json"
"""What the wheel contains and others have written."""
EPOCH = "1700000000"
TRAINING = "import reprocheck\nfor step in range(4):\n    reprocheck.log_loss(1 / (step + 1))\n"


@cache
def tracked() -> list[str]:
    """The files of the repository, as they were when the first test asked."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a checkout")
    words = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=True)
    return [name for name in done.stdout.split("\0") if name and (ROOT / name).is_file()]


def copied(to: Path, names: list[str], *, mode: int) -> Path:
    """A copy of the repository with other times and other rights."""
    for name in names:
        target = to / name
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, target)
        target.chmod(mode)
    return to


def built(project: Path, target: str) -> Path:
    """The wheel or sdist of a project, made by its build backend."""
    words = [sys.executable, "-m", "hatchling", "build", "-t", target]
    environment = clean_environment(SOURCE_DATE_EPOCH=EPOCH)
    subprocess.run(words, cwd=project, env=environment, check=True, capture_output=True)
    (made,) = (project / "dist").glob({"wheel": "*.whl", "sdist": "*.tar.gz"}[target])
    return made


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Wheel and sdist of two copies, and the wheel that is built from the sdist."""
    pytest.importorskip("hatchling")
    folder, names = tmp_path_factory.mktemp("release"), tracked()
    first = copied(folder / "first", names, mode=0o644)
    second = copied(folder / "below" / "second", names[::-1], mode=0o600)
    wheel, sdist = built(first, "wheel"), built(first, "sdist")
    with tarfile.open(sdist) as archive:
        archive.extractall(folder / "unpacked", filter="data")
    (unpacked,) = (folder / "unpacked").iterdir()
    return {
        "wheel": wheel,
        "sdist": sdist,
        "wheel again": built(second, "wheel"),
        "sdist again": built(second, "sdist"),
        "wheel of sdist": built(unpacked, "wheel"),
    }


def test_two_builds_are_the_same_byte_for_byte(made: dict[str, Path]) -> None:
    assert made["wheel"].read_bytes() == made["wheel again"].read_bytes()
    assert made["sdist"].read_bytes() == made["sdist again"].read_bytes()
    assert made["wheel"].read_bytes() == made["wheel of sdist"].read_bytes()


def test_the_wheel_is_the_package_and_nothing_else(made: dict[str, Path]) -> None:
    with zipfile.ZipFile(made["wheel"]) as wheel:
        inside = set(wheel.namelist())
    package = {name for name in tracked() if name.startswith("reprocheck/")}
    assert "reprocheck/py.typed" in package
    info = {name for name in inside if name.startswith("reprocheck-")}
    assert inside - info == package
    expected = {"METADATA", "WHEEL", "entry_points.txt", "RECORD", "LICENSE", BILL.name}
    assert {name.rpartition("/")[2] for name in info} == expected


def test_the_bill_of_materials_names_the_vendored_files_as_they_are() -> None:
    (part,) = json.loads(BILL.read_text())["components"]
    listed = {file["name"]: file["hashes"][0]["content"] for file in part["components"]}
    there = [path for path in BILL.parent.rglob("*.*") if path != BILL]
    assert listed == {
        path.relative_to(BILL.parent).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in there
    }
    script = BILL.parent / "uplot" / "uPlot.iife.min.js"
    assert f"(v{part['version']})" in script.read_text().partition("\n")[0]


def test_the_sdist_has_what_its_tests_need_and_nothing_that_is_not_tracked(
    made: dict[str, Path],
) -> None:
    with tarfile.open(made["sdist"]) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    names = set(tracked())
    assert inside - names == {"PKG-INFO"}
    needed = ("tests/", "reprocheck/", "benchmarks/", "examples/", "docs/", "reports/", ".ci/")
    assert {name for name in names if name.startswith(needed)} - inside == set()


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_works_in_a_fresh_environment(made: dict[str, Path], kind: str, tmp_path: Path) -> None:
    uv = Path(sys.executable).parent / "uv"
    if not uv.exists():
        pytest.skip("uv is not installed")
    environment = clean_environment(
        UV_FIND_LINKS=os.environ.get("UV_FIND_LINKS", os.environ.get("PIP_FIND_LINKS", ""))
    )
    commands = tmp_path / "env" / "bin"
    install = (
        "pip",
        "install",
        "-q",
        "--python",
        commands / "python",
        "-c",
        ROOT / "constraints.txt",
    )
    for words in (("venv", "-q", "--python", sys.executable, "env"), (*install, made[kind])):
        subprocess.run([uv, *words], cwd=tmp_path, env=environment, check=True)
    (tmp_path / "train.py").write_text(TRAINING)

    def said(*words: str) -> str:
        done = subprocess.run(
            [commands / "reprocheck", *words],
            cwd=tmp_path,
            env=clean_environment(),
            capture_output=True,
            text=True,
            check=True,
        )
        return done.stdout

    assert said("--version").split() == ["reprocheck", __version__]
    assert "REPRODUCIBLE" in said("run", "--no-draw", "train.py")
