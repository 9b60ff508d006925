"""Every planted case gives the verdict, the rung, the place and the control that `cases.toml` asks
for.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import (
    UNCOMPILED,
    Outcome,
    assert_same_elsewhere,
    check,
    mindspore_python,
    needs,
    note_narrow_agreement,
    reprocheck,
)

HERE = Path(__file__).parent
CASES = tomllib.loads((HERE / "cases.toml").read_text())["case"]


IMPORTED = {"torch": "torch", "keras": "tensorflow", "jax": "jax"}
"""Folder of cases -> the package that they cannot do without."""
MARKED = ("torch", "mindspore")
"""Folders whose tests have a marker of that name."""


def name(case: dict[str, Any]) -> str:
    script: str = case["script"]
    return script


def entry(case: dict[str, Any]) -> list[str]:
    """The arguments of `reprocheck run` for a case."""
    options = list(case.get("options", []))
    if name(case).startswith("mindspore/"):
        options += ["--python", mindspore_python()]
    return [*options, str(HERE / name(case))]


def allowed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


BY_CHANCE = "torch/uninitialised_parameter.py"
"""What the allocator hands out decides whether its runs differ, and how many a search takes."""


SEARCHED = [case for case in CASES if "further" in case]
"""The cases whose cause is also proved, as the corpus proves that of every script. A search is three
starts more; one that may start no more tries no patch.
"""


def rungs(outcome: Outcome) -> dict[str, dict[str, Any]]:
    """The rungs of the ladder, by name."""
    assert outcome.report["ladder"] is not None, outcome.report["coverage"]
    return {rung["rung"]: rung for rung in outcome.report["ladder"]["rungs"]}


def first_rung(outcome: Outcome) -> dict[str, Any]:
    """The rung that differs first."""
    return rungs(outcome)[outcome.report["ladder"]["first"]]


def assert_place(case: dict[str, Any], rung: dict[str, Any]) -> None:
    """It is the expected place, a dotted child of it, or a hyper-parameter of that name."""
    place = rung["place"] or ""
    assert (
        place == case["place"]
        or place.startswith(f"{case['place']}.")
        or place.endswith(f".{case['place']}")
    ), rung


# ------------------------------------------------------------------------------------------ details


def same_samples_other_order(outcome: Outcome) -> None:
    said = first_rung(outcome)["detail"]
    assert "same samples" in said and "order" in said and "epoch" in said


def same_order_other_content(outcome: Outcome) -> None:
    said = first_rung(outcome)["detail"]
    assert "other content" in said and "other order" not in said


def dropout_draws_first(outcome: Outcome) -> None:
    rung = first_rung(outcome)
    assert all(word in rung["detail"] for word in ("torch", "2", "Dropout"))
    ladder = rungs(outcome)
    assert ladder["initial weights"]["status"] == ladder["batch"]["status"] == "equal"


def only_the_labels_differ(outcome: Outcome) -> None:
    ladder = rungs(outcome)
    assert [ladder[name]["status"] for name in ("initial weights", "RNG state")] == [
        "equal",
        "equal",
    ]
    rung = first_rung(outcome)
    assert rung["iteration"] == 1
    assert any(word in rung["detail"] for word in ("target", "label"))
    assert rung["culprit"] is None or "label" in rung["culprit"]
    assert "RC505" in [cause["code"] for cause in outcome.report["causes"]]


def noise_between_head_and_projection(outcome: Outcome) -> None:
    rung = first_rung(outcome)
    assert rung["iteration"] == 1
    assert "encoder.noise" in (rung["culprit"] or "")
    assert "head" in rung["detail"]
    assert rungs(outcome)["forward"]["iteration"] in (None, 2)


def second_check_on_iteration_3(outcome: Outcome) -> None:
    assert {row["iteration"] for row in outcome.report["checks"] if row["kind"] == "backward"} == {
        3
    }
    assert first_rung(outcome)["iteration"] == 1


def checkpoint_left_by_run_1(outcome: Outcome) -> None:
    assert "out/last.pt" in outcome.report["state_left"]


DETAILS: dict[str, Callable[[Outcome], None]] = {
    "torch/unseeded_order.py": same_samples_other_order,
    "torch/unseeded_augmentation.py": same_order_other_content,
    "torch/stock_dropout_unseeded.py": dropout_draws_first,
    "torch/set_order_vocabulary.py": only_the_labels_differ,
    "torch/noisy_backward.py": noise_between_head_and_projection,
    "torch/warmup_hides_backward.py": second_check_on_iteration_3,
    "torch/resumes_checkpoint.py": checkpoint_left_by_run_1,
}

CAUSES = {
    "torch/unseeded_weights.py": ["RC302", "RC301"],
    "torch/unseeded_order.py": ["RC502"],
    "torch/unseeded_augmentation.py": ["RC504"],
    "torch/private_dropout.py": ["RC601"],
    "torch/stock_dropout_unseeded.py": ["RC401"],
    "torch/set_order_vocabulary.py": ["RC505", "RC604"],
    "torch/noisy_backward.py": ["RC705"],
    "torch/clock_learning_rate.py": ["RC201"],
    "torch/resumes_checkpoint.py": ["RC101"],
    "torch/uninitialised_parameter.py": ["RC303"],
    "torch/warmup_hides_backward.py": ["RC705"],
    "torch/atomic_gradient.py": ["RC701"],
    "mindspore/unseeded_weights.py": ["RC301"],
    "mindspore/unseeded_dropout.py": ["RC401", "RC301"],
    "keras/unseeded_fit.py": ["RC301"],
    "jax/clock_key.py": ["RC402"],
    "plain/carried_state.py": ["RC101"],
}
"""Codes that are right as the first cause."""

ALSO_RIGHT = {"mindspore/unseeded_dropout.py": ("initial weights", "0.bias")}
"""A rung and a place that are as true.

Where nn.Dense draws its bias too, the unseeded bias differs before the dropout does.
"""


# -------------------------------------------------------------------------------------------- tests


def marked(case: dict[str, Any]) -> Any:
    """A case with the marker of its framework, where there is one."""
    framework, _, _ = name(case).partition("/")
    marks = [getattr(pytest.mark, framework)] if framework in MARKED else []
    return pytest.param(case, id=name(case), marks=marks)


@pytest.mark.parametrize("case", [marked(case) for case in CASES])
def test_case(case: dict[str, Any], workdir: Path) -> None:
    framework, _, _ = name(case).partition("/")
    if framework in IMPORTED:
        needs(IMPORTED[framework])
    ask = explain if case in SEARCHED else checked
    outcome = ask(case, workdir)
    if name(case) == BY_CHANCE and (outcome.exit_code == 0 or checked_losses_are_equal(outcome)):
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
        assert [len(rank["iterations"]) for rank in first["ranks"]] == [case["iterations"]]
    if "loss_range" in case:
        low, high = case["loss_range"]
        loss = outcome.losses()[0][0]
        assert loss is not None and low <= loss <= high
    if case in SEARCHED:
        assert_confirmed(case, outcome)
    if name(case) in CAUSES:
        assert_why(case, outcome)
    else:
        assert (outcome.report["ladder"], outcome.report["causes"]) == (None, [])


def checked_losses_are_equal(outcome: Outcome) -> bool:
    """Whether the runs have the same losses where the checks take them, such as NaN in both."""
    first, second = (run["ranks"][0]["iterations"][:2] for run in outcome.report["runs"])
    return bool(first == second)


def checked(case: dict[str, Any], workdir: Path) -> Outcome:
    """`reprocheck run` on a case."""
    return check(*entry(case), cwd=workdir, explain=True, PYTHONPATH=UNCOMPILED)


def explain(case: dict[str, Any], workdir: Path) -> Outcome:
    """`reprocheck explain` on a case: the check and the ladder of `run`, and the search after
    them.
    """
    words = ("explain", "--max-runs", str(case["further"]), *entry(case))
    variables = {"REPROCHECK_DRAW": "false", "PYTHONPATH": UNCOMPILED}
    done = reprocheck(*words, cwd=workdir, timeout=600, **variables)
    folder = (workdir / "reports" / "latest").resolve()
    report = json.loads((folder / "report.json").read_text())
    assert_same_elsewhere(folder, report)
    note_narrow_agreement(folder, report)
    return Outcome(
        exit_code=done.returncode,
        stdout=done.stdout,
        stderr=done.stderr,
        folder=folder,
        report=report,
    )


def assert_confirmed(case: dict[str, Any], outcome: Outcome) -> None:
    """One control is the smallest set, its cause is confirmed, and that took few runs."""
    controls = outcome.report["controls"]
    assert controls["smallest"] in [[name] for name in allowed(case["fixed_by"])], controls[
        "sentence"
    ]
    assert outcome.report["causes"][0]["confidence"] == "confirmed"
    assert outcome.folder is not None
    assert len([*outcome.folder.glob("arms/*/run-*/trace")]) <= case["further"]


def assert_why(case: dict[str, Any], outcome: Outcome) -> None:
    """The first differing rung, its place and its facts, and the first cause."""
    rung = first_rung(outcome)
    assert rung["status"] == "differs"
    if (rung["rung"], rung["place"]) != ALSO_RIGHT.get(name(case)):
        assert "rung" not in case or rung["rung"] in allowed(case["rung"]), outcome.report[
            "ladder"
        ]["sentence"]
        if "place" in case:
            assert_place(case, rung)
    if name(case) in DETAILS:
        DETAILS[name(case)](outcome)
    assert outcome.report["causes"][0]["code"] in CAUSES[name(case)]
    assert outcome.report["causes"][0]["fix"]


def test_every_failing_case_has_a_cause_and_a_check_of_its_detail() -> None:
    failing = [
        case for case in CASES if any(title.startswith("NOT") for title in allowed(case["verdict"]))
    ]
    assert {name(case) for case in failing} == set(CAUSES)
    assert {name(case) for case in failing if "detail" in case} <= set(DETAILS)


def test_each_control_that_a_framework_has_code_for_is_searched_for_in_one() -> None:
    """Keras: a start of it takes as long as four of the others, and the tests of its controls say
    what a search asks for.
    """
    proved = {(name(case).split("/")[0], allowed(case["fixed_by"])[0]) for case in SEARCHED}
    assert proved >= {("torch", "seed"), ("torch", "private-rng"), ("torch", "deterministic")}
    assert {framework for framework, _ in proved} == {"plain", "torch", "mindspore", "jax"}


def test_every_script_is_a_case() -> None:
    scripts = {str(path.relative_to(HERE)) for path in HERE.glob("*/*.py")}
    assert scripts == {name(case) for case in CASES}


def test_state_left_is_gone_with_a_working_directory_for_each_run(workdir: Path) -> None:
    outcome = check("--workdir", "copy", HERE / "plain/carried_state.py", cwd=workdir)
    assert (outcome.title, outcome.report["state_left"]) == ("REPRODUCIBLE", [])
    assert not (workdir / "out").exists()
