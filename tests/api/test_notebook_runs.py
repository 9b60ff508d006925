"""Notebooks as entry points: cells in their order, magics dealt with, places by cell, nothing left
behind.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from reprocheck import launch
from reprocheck.causes.program import joined
from reprocheck.child.reprocheck_child.ipython_shell import installs, statement
from reprocheck.errors import EntryPointError
from reprocheck.files.source_text import code_cells
from reprocheck.trace.executed_code import Ran
from tests.conftest import Outcome, check


def notebook(*cells: str | tuple[str, list[str]], language: str = "python") -> str:
    """A notebook of these code cells, each with its tags; one that begins with `#` is text."""
    made = []
    for cell in cells:
        source, tags = cell if isinstance(cell, tuple) else (cell, [])
        kind: dict[str, Any] = {"cell_type": "code", "execution_count": None, "outputs": []}
        if source.startswith("# "):
            kind = {"cell_type": "markdown"}
        made.append(
            {**kind, "id": f"cell{len(made)}", "metadata": {"tags": tags}, "source": source}
        )
    metadata = {"kernelspec": {"name": "any", "display_name": "Any", "language": language}}
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


TRAINS = (
    "# A title",
    "%matplotlib inline\n%load_ext autoreload\n!echo from the shell {1 + 1}\nimport asyncio, os, random, sys\nimport beside",
    "\n%%time\nimport reprocheck\nstarted = beside.VALUE\nsource = random.Random(0)",
    "%pip install nothing\n!pip install nothing",
    "words = !printf 'a\\nb'\nawait asyncio.sleep(0)\ndisplay({'words': words})\nsys.argv[1:], os.getcwd(), sys.path[0]",
    "print(words, sys.argv[1:], os.getcwd(), sys.path[0] == '', '__file__' in globals(), __name__)",
    ("raise ValueError('one that is expected')", ["raises-exception"]),
    ("raise ValueError('one that is skipped')", ["skip-execution"]),
    "for step in range(6):\n    reprocheck.log_loss(source.random())",
)


MISSING = "raise ModuleNotFoundError('an interpreter without it', name='IPython')\n"
BROKEN = "raise AttributeError('an IPython that another package broke')\n"


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    folder = tmp_path_factory.mktemp("project")
    (folder / "nb").mkdir()
    (folder / "nb" / "beside.py").write_text("VALUE = 1\n")
    (folder / "nb" / "train.ipynb").write_text(notebook(*TRAINS))
    return check("nb/train.ipynb", "word", "--steps", cwd=folder)


def test_cells_run_in_their_order_as_in_jupyter(outcome: Outcome) -> None:
    assert outcome.exit_code == 0, outcome.stdout + outcome.stderr + outcome.log("stderr")
    assert outcome.report["command"][1:] == ["nb/train.ipynb", "word", "--steps"]
    assert len(outcome.losses()) == 6
    assert outcome.folder is not None and outcome.folder.name.startswith("train-")
    project = outcome.folder.parents[1]
    shell, shown, printed = outcome.log().splitlines()
    assert shell == "from the shell 2"
    assert shown == "{'words': ['a', 'b']}"
    assert printed == f"['a', 'b'] ['word', '--steps'] {project}/nb True False __main__"
    assert 'train.ipynb:cell 7", line 1, in <module>' in outcome.log(
        "stderr"
    ) and "expected" in outcome.log("stderr")
    assert "skipped" not in outcome.log("stderr") and "reprocheck_child" not in outcome.log(
        "stderr"
    )
    assert {
        path.name
        for path in project.rglob("*")
        if outcome.folder.parent not in path.parents and path.name != "__pycache__"
    } >= {"nb"}
    left = {path.name for path in (project / "nb").iterdir()} - {"__pycache__"}
    assert left == {"beside.py", "train.ipynb"}


def test_what_was_left_out_is_in_the_report(outcome: Outcome) -> None:
    changed = " ".join(outcome.report["changed_to_observe"])
    assert "The code cells of the notebook ran once each, in their order" in changed
    assert "`%pip install nothing` of the notebook was left out." in changed
    assert "`!pip install nothing` of the notebook was left out." in changed
    assert "matplotlib" not in changed


@pytest.mark.parametrize("in_its_place", [MISSING, BROKEN])
def test_an_interpreter_without_ipython_is_told_what_to_install(
    workdir: Path, in_its_place: str
) -> None:
    (workdir / "IPython.py").write_text(in_its_place)
    (workdir / "train.ipynb").write_text(notebook("import reprocheck\nreprocheck.log_loss(1.0)"))
    outcome = check("train.ipynb", cwd=workdir)
    assert outcome.exit_code == 4
    assert "A notebook needs IPython, which cannot be imported" in outcome.log("stderr")
    assert "python -m pip install ipython" in outcome.log("stderr")
    assert "Traceback" not in outcome.log("stderr")


EXTENSION = """
def twice(line):
    return 2 * int(line)

def load_ipython_extension(shell):
    shell.register_magic_function(twice, "line")
    assert get_ipython() is shell
"""
WITH_IPYTHON = (
    "import reprocheck\nfrom IPython import get_ipython\nshell = get_ipython()",
    "%load_ext doubling\n%load_ext not_installed_here\nvalue = %twice 21",
    "%%capture kept --no-stderr\nprint('captured')",
    "%run beside.py\nlines = !printf 'a\\n{value}'",
    "print([value, kept.stdout, BESIDE, lines.n, type(lines).__name__])",
    "%timeit print('once')",
    "for step in range(4):\n    reprocheck.log_loss(1.0 / (step + 1))\n    %unheard_of x",
)


def test_magics_are_those_of_ipython_where_it_is_installed(workdir: Path) -> None:
    (workdir / "doubling.py").write_text(EXTENSION)
    (workdir / "beside.py").write_text("BESIDE = 5\n")
    (workdir / "train.ipynb").write_text(notebook(*WITH_IPYTHON))
    home = workdir / "home"
    home.mkdir()
    outcome = check("train.ipynb", cwd=workdir, HOME=str(home))
    assert outcome.exit_code == 0, outcome.stdout + outcome.log("stderr")
    assert outcome.log().splitlines() == [r"[42, 'captured\n', 5, 'a\n42', 'SList']", "once"]
    changed = " ".join(outcome.report["changed_to_observe"])
    assert "`%load_ext not_installed_here` of the notebook was left out." in changed
    assert "`%unheard_of x` of the notebook was left out." in changed
    assert not (home / ".ipython").exists()


def test_a_failure_names_cell_and_line(workdir: Path) -> None:
    (workdir / "train.ipynb").write_text(
        notebook("# One", "", "def step():\n    raise KeyError('lost')", "\n\nstep()")
    )
    outcome = check("train.ipynb", cwd=workdir)
    assert outcome.exit_code == 4
    lines = [line.strip() for line in outcome.log("stderr").splitlines()]
    assert lines[0].startswith("Traceback") and lines[-1] == "KeyError: 'lost'"
    assert lines[1:3] == [f'File "{workdir}/train.ipynb:cell 4", line 3, in <module>', "step()"]
    assert "raise KeyError('lost')" in lines


def test_causes_and_findings_are_cited_by_their_cells(workdir: Path) -> None:
    draw = "%%time\ndef draw():\n    return uuid.uuid4().int % 1000\n"
    seed = "\nrandom.seed(time.time_ns())"
    train = "for step in range(3):\n    reprocheck.log_loss(draw() + random.random())"
    (workdir / "train.ipynb").write_text(
        notebook("# Text", "import random, reprocheck, time, uuid", draw, seed, train)
    )
    outcome = check("train.ipynb", cwd=workdir, explain=True)
    assert outcome.title == "NOT REPRODUCIBLE (forward)", outcome.stderr
    cited = {cause["code"]: cause["source"] for cause in outcome.report["causes"]}
    assert cited["RC601"] == {"file": "train.ipynb:cell 3", "line": 3}
    assert cited["RC402"] == {"file": "train.ipynb:cell 4", "line": 2}
    assert (
        "train.ipynb:cell 4:2" in outcome.stdout and "random.seed(time.time_ns())" in outcome.stdout
    )
    [found] = outcome.report["scan"]["findings"]
    assert (found["code"], found["source"]) == ("RC402", {"file": "train.ipynb:cell 4", "line": 2})


def test_what_ran_in_cells_is_what_ran_in_the_joined_text() -> None:
    text, cells = code_cells(notebook("a = 1\nb = 2", "# Text", "c = 3\n\nd = 4").encode())
    ran = Ran(
        at=0,
        iteration=1,
        lines=(("nb.ipynb:cell 3", 3), ("beside.py", 9)),
        done=(("nb.ipynb:cell 1", 2),),
    )
    [found] = joined([ran], "nb.ipynb", cells)
    assert found.lines == (("nb.ipynb", 5), ("beside.py", 9)) and found.done == (("nb.ipynb", 2),)
    assert [text.split("\n")[line - 1] for line in (5, 2)] == ["d = 4", "b = 2"]


@pytest.mark.parametrize(
    ("content", "message", "fix"),
    [
        ("{}", "is not a notebook", "Jupyter"),
        ("not json", "is not a notebook", "Jupyter"),
        (notebook("x <- 1", language="R"), "is a notebook of r, not of Python", "Python kernel"),
        (notebook("# Text only"), "has no code cells", "trains"),
        (
            notebook("%matplotlib inline", "\nx = 1\nif x\n"),
            "book.ipynb:cell 2:3: expected ':'",
            "Correct",
        ),
    ],
    ids=["empty", "no-json", "language", "no-code", "syntax"],
)
def test_what_cannot_be_run(tmp_path: Path, content: str, message: str, fix: str) -> None:
    (tmp_path / "book.ipynb").write_text(content)
    with pytest.raises(EntryPointError) as caught:
        launch.entry_point(script="book.ipynb", cwd=tmp_path)
    assert message in caught.value.message and fix in caught.value.fix


def test_without_nbconvert(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "book.ipynb").write_text(notebook("x = 1"))
    monkeypatch.setitem(sys.modules, "nbformat", None)
    with pytest.raises(EntryPointError, match="needs nbconvert") as caught:
        launch.entry_point(script="book.ipynb", cwd=tmp_path)
    assert caught.value.fix == "pip install nbconvert ipython"


def test_which_commands_install() -> None:
    assert all(
        map(
            installs,
            (
                "pip install x",
                " python3 -m pip install x",
                "sudo apt-get -y install x",
                "conda env create -f x",
                "uv sync ",
            ),
        )
    )
    assert not any(
        map(installs, ("pip list", "python train.py install", "echo pip install", "wget x"))
    )
    assert statement("-n 3 -r 2 step(x) - 1") == "step(x) - 1"
