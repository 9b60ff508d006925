"""Where the analysis of a file ends before the file does: by a count, never by a clock, and said in
the result.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.scan import Result, judge, scan, values
from reprocheck.scan.execution import machine
from reprocheck.scan.programs import of_text

SEED = "import torch, time\ntorch.manual_seed(int(time.time()))\n"


def calls(number: int) -> str:
    """A program that seeds from the clock, then calls that many functions of its own, and then
    seeds from the clock again.
    """
    functions = "".join(f"def f{one}():\n    return {one}\n" for one in range(number))
    used = "".join(f"f{one}()\n" for one in range(number))
    return f"{SEED}{functions}def last():\n    torch.manual_seed(int(time.time()))\n{used}last()\nloss.backward()\n"


def scanned(folder: Path, text: str) -> Result:
    (folder / "train.py").write_text(text)
    return scan([folder / "train.py"], cache=folder / "cache")


def test_a_program_with_more_calls_than_are_followed_is_said_to_be_scanned_in_part(
    tmp_path: Path,
) -> None:
    result = scanned(tmp_path, calls(machine.MOST_CALLS + 1))
    assert [(Path(one.path).name, one.partly) for one in result.unreadable] == [("train.py", True)]
    assert "not all of them were followed" in result.unreadable[0].reason
    assert [(one.code, one.line) for one in result.findings] == [("RC402", 2)]


def test_a_program_within_the_limits_has_no_such_word(tmp_path: Path) -> None:
    result = scanned(tmp_path, calls(10))
    assert result.unreadable == () and result.files == 1


def test_the_limit_is_a_count_of_expressions_and_comes_from_the_cache_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "MOST_EXPRESSIONS", 100)
    text = SEED + "x = 1 + 1\n" * 100 + "torch.manual_seed(int(time.time()))\nloss.backward()\n"
    first = scanned(tmp_path, text)
    assert [one.partly for one in first.unreadable] == [True]
    assert [(one.code, one.line) for one in first.findings] == [("RC402", 2)]
    second = scanned(tmp_path, text)
    assert (second.cached, second.unreadable, second.findings) == (
        1,
        first.unreadable,
        first.findings,
    )


@pytest.mark.parametrize("line", ["data = data.repeat()", "data = data.merge(data, on='a')"])
def test_the_work_grows_with_the_number_of_assignments_and_no_faster(line: str) -> None:
    counts = [
        evaluated(f"import pandas\ndata = pandas.read_csv('x')\n{line}\n" + f"{line}\n" * n)
        for n in (100, 200, 400)
    ]
    assert counts[2] - counts[1] <= 2 * (counts[1] - counts[0])


def evaluated(text: str) -> int:
    """How many expressions are evaluated in a program."""
    module = next(iter(of_text({"train.py": text})))
    return module.body.machine.evaluated


@pytest.mark.parametrize(
    "line",
    [
        "for one in values: values.append(one)\nvalues = values + [{number}]\n",
        "values = [values, torch.rand({number})]\nfor one in values: print(one)\n",
    ],
)
def test_what_a_growing_list_is_made_of_is_looked_at_up_to_a_limit(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "MOST_LINKS", 20_000)
    assert links(line, 200) == values.MOST_LINKS


def links(line: str, number: int) -> int:
    """How many links between values are gone along in the checks of a program."""
    lines = "".join(line.format(number=one) for one in range(number))
    text = f"import torch\nvalues = []\n{lines}loss.backward()\n"
    (module,) = of_text({"train.py": text})
    judge.begun(module)
    return values.WALK.links


def test_a_module_whose_values_are_not_all_looked_at_is_said_to_be_scanned_in_part(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(values, "MOST_LINKS", 10)
    result = scanned(tmp_path, f"{SEED}{'for i in range(torch.rand(3)): print(i)' + chr(10)}" * 30)
    assert [one.partly for one in result.unreadable] == [True]
