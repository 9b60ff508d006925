"""What of the source ran: seen in a process, read back, and joined with what the scan finds in a
check that fails.
"""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import jsonschema
import pytest

from reprocheck.causes.executed_lines import executed
from reprocheck.child.reprocheck_child.deep_levels.executed_functions import Reached, counter
from reprocheck.report import scan_findings
from reprocheck.trace.executed_code import Ran, read_reached
from tests.child.recording import interpreters
from tests.conftest import CHILD, ROOT, check
from tests.heads import NO_COMPILER

SOURCE = dedent("""
    import random
    first = random.random()
    if first > 2:
        second = random.random()
    for number in range(3):
        third = random.random()
        print(third)
    last = random.random()

    @print
    def whole():
        print()
        return random.random()

    def leaves(x):
        if x:
            return 1
        return random.random()

    def loops(x):
        with x:
            for one in x:
                random.random()
        return 0
""").lstrip()
LINES = {
    name: SOURCE[: SOURCE.index(text)].count("\n") + 1
    for name, text in {"whole": "@print", "leaves": "def leaves", "loops": "def loops"}.items()
}


def ran(*lines: int, done: tuple[str, ...] = (), files: tuple[str, ...] = ()) -> list[Ran]:
    return [
        Ran(
            at=7,
            iteration=1,
            lines=tuple(("a.py", line) for line in lines),
            done=tuple(("a.py", LINES[name]) for name in done),
            files=files,
        )
    ]


@pytest.mark.parametrize(
    ("line", "seen", "expected"),
    [
        (2, ran(3), ("executed", 7)),
        (2, ran(2), ("executed", 7)),
        (4, ran(8), ("entered", None)),
        (6, ran(7), ("executed", 7)),
        (6, ran(8), ("entered", None)),
        (8, ran(7), ("not_seen", None)),
        (8, [Ran(at=7, iteration=1, lines=(("b.py", 9),))], ("not_seen", None)),
        (13, ran(8), ("not_seen", None)),
        (13, ran(done=("whole",)), ("executed", 7)),
        (13, ran(12), ("not_seen", None)),
        (18, ran(done=("leaves",)), ("entered", None)),
        (23, ran(done=("loops",)), ("entered", None)),
        (23, ran(24), ("entered", None)),
    ],
)
def test_a_line_was_executed_where_what_was_seen_comes_behind_it(
    line: int, seen: list[Ran], expected: tuple[str, int | None]
) -> None:
    assert executed(ast.parse(SOURCE), "a.py", line, seen, script=True) == expected


BRANCHES = """
import os
if os.name == "nt":
    names = os.listdir("a")
else:
    names = sorted(os.listdir("b"))
    while names:
        if len(names) > 3:
            names.pop()
        else:
            names.clear()
"""


@pytest.mark.parametrize(
    ("line", "under_way", "expected"),
    [
        (4, 6, ("not_executed", None)),
        (6, 4, ("not_executed", None)),
        (4, 9, ("not_executed", None)),
        (9, 11, ("not_seen", None)),
        (4, 2, ("not_seen", None)),
    ],
)
def test_a_line_was_not_executed_where_the_other_branch_of_an_if_that_runs_once_was(
    line: int, under_way: int, expected: tuple[str, int | None]
) -> None:
    """In a loop both branches may run, one after the other."""
    seen = [Ran(at=7, iteration=1, lines=(("a.py", under_way),))]
    state, at = executed(ast.parse(BRANCHES), "a.py", line, seen, script=True)
    assert ("not_seen" if state == "entered" else state, at) == expected


LEFT_OUT = """
import random
def start():
    kept = lambda: random.random()
    chosen = 1 if kept else random.random()
    either = kept or random.random()
    later = (
        random.random()
        for _ in range(3)
    )
    total = sum(random.random() for _ in range(3))
    many = [
        random.random()
        for _ in range(3)
    ]
    both = random.random() and kept
    try:
        first = random.random()
        second = random.random()
    except ValueError:
        pass

@register(lambda: 3)
def shared():
    return random.random()

@register(3)
def alone(x=random.random()):
    return random.random()
""".lstrip()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("random.random()\n    chosen", "entered"),
        ("random.random()\n    either", "entered"),
        ("random.random()\n    later", "entered"),
        ("random.random()\n        for _ in range(3)\n    )", "entered"),
        ("random.random() for", "executed"),
        ("random.random()\n        for _ in range(3)\n    ]", "executed"),
        ("random.random() and", "executed"),
        ("random.random()\n        second", "executed"),
        ("random.random()\n    except", "entered"),
        ("random.random()\n\n@register(3)", "not_seen"),
        ("random.random()):", "executed"),
        ("random.random()\n", "executed"),
    ],
)
def test_a_part_that_its_statement_may_leave_out_is_not_called_executed(
    text: str, expected: str
) -> None:
    """Decorators make the first line of a function, and another function may begin on it."""
    at = LEFT_OUT.rindex(text) if text == "random.random()\n" else LEFT_OUT.index(text)
    line, offset = LEFT_OUT[:at].count("\n") + 1, at - LEFT_OUT.rindex("\n", 0, at) - 1
    lines = LEFT_OUT.splitlines()
    done = tuple(
        ("a.py", lines.index(one) + 1)
        for one in ("def start():", "@register(lambda: 3)", "@register(3)")
    )
    seen = [Ran(at=7, iteration=1, done=done, files=("a.py",))]
    assert (
        executed(ast.parse(LEFT_OUT), "a.py", line, seen, script=False, offset=offset)[0]
        == expected
    )


def test_the_top_level_of_a_file_that_was_imported_was_executed() -> None:
    tree = ast.parse(SOURCE)
    assert executed(tree, "a.py", 8, ran(files=("a.py",)), script=False) == ("executed", 7)
    assert executed(tree, "a.py", 4, ran(files=("a.py",)), script=False) == ("entered", None)
    assert executed(tree, "a.py", 8, [], script=False) == ("not_seen", None)


MODULE = """
import functools, sys

def seen(report):
    report("call", sys._getframe())
    return 1

@functools.lru_cache
def cached(): return [one for one in range(3)]

class Model:
    def __init__(self): self.inner = lambda: 2
    @property
    def width(self): return 1
    @staticmethod
    def static(): pass
    def never(self): pass

def unused(): return 1
"""


def test_functions_that_came_and_went_are_known_by_the_interpreters_own_counters(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "reached_here.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    reached = Reached(lambda file: Path(file).name if str(tmp_path) in file else "")
    assert reached.news("call", None) is None
    module = importlib.import_module("reached_here")
    said: list[object] = []
    module.seen(lambda kind, frame: said.append(reached.news(kind, frame)))
    assert said == [{"f": ["reached_here.py"], "l": ["reached_here.py:5"]}]
    trace = sys.gettrace(), sys.getprofile()
    module.cached(), module.Model().width, module.Model.static()
    news = reached.news("batch", None)
    assert news is not None and "reached_here.py:4" in news["d"], (
        "it was on the stack and is not any more"
    )
    lines = {line for text, line in ((text, text.split(":")[1]) for text in news["d"])}
    if counter() is None:
        assert sys.version_info >= (3, 12)
    else:
        assert lines >= {"4", "8", "12", "13", "15"} and not lines & {"17", "19"}
    assert reached.news("batch", None) is None
    assert (sys.gettrace(), sys.getprofile()) == trace


@pytest.mark.parametrize("python", interpreters(), ids=lambda path: Path(path).resolve().name)
def test_the_counters_are_found_in_every_interpreter_that_has_them(python: str) -> None:
    source = (
        "import sys\nfrom reprocheck_child.deep_levels.executed_functions import counter\n"
        "assert (counter() is not None) == (sys.version_info < (3, 12))\n"
    )
    done = subprocess.run([python, "-c", source], env={"PYTHONPATH": str(CHILD)}, check=False)
    assert done.returncode == 0


def test_events_are_read_back_with_their_places(tmp_path: Path) -> None:
    lines = [
        b'{"e":"seen","r":"batch"}\n',
        b'{"e":"ran","i":2,"l":["a.py:3"],"d":["C:\\\\b.py:4"]}\n',
        b'{"e":"ran","i"\n',
        b'{"e":"ran","f":["a.py"]}',
    ]
    (tmp_path / "1-1.jsonl").write_bytes(b"".join(lines))
    one, other = read_reached(tmp_path / "1-1.jsonl")
    assert one == Ran(at=len(lines[0]), iteration=2, lines=(("a.py", 3),), done=(("C:\\b.py", 4),))
    assert other.files == ("a.py",)
    assert read_reached(tmp_path / "none") == ()


TRAIN = """
import time
import torch
import parts

def late():
    torch.manual_seed(int(time.time()))

def main():
    torch.manual_seed(0)
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for step in range(3):
        loss = net(parts.jitter(torch.ones(2, 4))).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    late()

main()
"""
PARTS = """
import os
import random

FILES = os.listdir(".")

def jitter(x):
    return x * random.uniform(1, 9)

def other(x):
    return x * random.uniform(1, 9)
"""


def test_a_check_that_fails_says_what_of_the_source_ran_before(tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "train.py").write_text(NO_COMPILER + TRAIN)
    outcome = check("--verbose", "train.py", cwd=tmp_path, explain=True, draw=True)
    scan = outcome.report["scan"]
    jsonschema.validate(
        outcome.report,
        json.loads((ROOT / "reprocheck" / "report" / "report.schema.json").read_text()),
    )
    seen = 2 if counter() else 1  # the function with the draw comes and goes between two facts
    counts = (scan["found"], scan["executed"], scan["before_first_difference"], scan["files"])
    assert counts == (3, seen, seen, 2)
    ran = {
        (one["code"], one["source"]["file"], one["source"]["line"]): (
            one["executed"],
            one["precedes"],
        )
        for one in scan["findings"]
    }
    draw, names, clock = (
        ("RC406", "parts.py", 8),
        ("RC104", "parts.py", 5),
        ("RC402", "train.py", 8),
    )
    assert ran[names] == ("executed", True) and ran[clock] == ("not_seen", None)
    said = " ".join(outcome.stdout.split())
    if counter():
        assert ran[draw] == ("executed", True)
        assert (
            "The scan finds 3 places in 2 files: 2 were executed, 2 of them before the first"
            " difference." in said
        )
    assert outcome.folder is not None
    assert all(
        scan_findings.MEANS in (outcome.folder / name).read_text()
        for name in ("report.html", "report.md")
    )
    assert not [
        line
        for line in outcome.report["coverage"]
        if "code has run" in line or "could not be scanned" in line
    ]
