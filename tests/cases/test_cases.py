"""Every planted case for PyTorch and MindSpore gives the verdict that `cases.toml` asks for."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import check, mindspore_python

HERE = Path(__file__).parent
CASES = [
    case
    for case in tomllib.loads((HERE / "cases.toml").read_text())["case"]
    if case.get("script", case.get("command", [""])[-1]).startswith(("torch/", "mindspore/"))
]


def name(case: dict[str, Any]) -> str:
    return case.get("script") or " ".join(case["command"])


def entry(case: dict[str, Any]) -> list[str]:
    """The arguments of `reprocheck run` for a case."""
    options = list(case.get("options", []))
    if name(case).startswith("mindspore/"):
        options += ["--python", mindspore_python()]
    if "script" in case:
        return [*options, str(HERE / case["script"])]
    return [*options, "--", *(str(HERE / word) if (HERE / word).is_file() else word for word in case["command"])]


def allowed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


@pytest.mark.parametrize("case", CASES, ids=name)
def test_case(case: dict[str, Any], workdir: Path) -> None:
    outcome = check(*entry(case), cwd=workdir)
    if case["script" if "script" in case else "command"] == "torch/uninitialised_parameter.py" and outcome.exit_code == 0:
        pytest.skip("the allocator gave both runs the same bytes: the case proves nothing here")
    assert outcome.title in allowed(case["verdict"]), outcome.stdout + outcome.stderr
    assert outcome.exit_code in allowed(case["exit"])
    assert outcome.report["exit_code"] == outcome.exit_code
    if "bitwise" in case:
        assert outcome.report["bitwise"]["equal"] is case["bitwise"]
    first = outcome.report["runs"][0]
    if "losses" in case:
        assert len(outcome.losses()[0]) == case["losses"]
    if "iterations" in case:
        assert [len(rank["iterations"]) for rank in first["ranks"]] == [case["iterations"]] * case.get("ranks", 1)
    if "ranks" in case:
        assert len(first["ranks"]) == case["ranks"]
    if "loss_range" in case:
        low, high = case["loss_range"]
        loss = outcome.losses()[0][0]
        assert loss is not None and low <= loss <= high


def test_all_cases_of_both_frameworks_are_covered() -> None:
    scripts = {str(path.relative_to(HERE)) for folder in ("torch", "mindspore") for path in (HERE / folder).glob("*.py")}
    assert scripts == {case.get("script", case.get("command", [""])[-1]) for case in CASES}


def test_second_check_moves_on_past_an_update_that_changed_nothing(workdir: Path) -> None:
    outcome = check("--steps", "4", HERE / "torch/warmup_hides_backward.py", cwd=workdir)
    assert {row["iteration"] for row in outcome.report["checks"] if row["kind"] == "backward"} == {3}


def test_state_left_by_run_1_is_named(workdir: Path) -> None:
    outcome = check(HERE / "torch/resumes_checkpoint.py", cwd=workdir)
    assert "out/last.pt" in outcome.report["state_left"]


def test_state_left_is_gone_with_a_working_directory_for_each_run(workdir: Path) -> None:
    outcome = check("--workdir", "copy", HERE / "torch/resumes_checkpoint.py", cwd=workdir)
    assert (outcome.title, outcome.report["state_left"]) == ("REPRODUCIBLE", [])
    assert not (workdir / "out").exists()
