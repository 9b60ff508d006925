"""Every rule that the scan looks for: its wrong example has exactly that finding, its right one
none, and its twins none.
"""

from __future__ import annotations

import pytest

from reprocheck.rules import Entry, catalogue
from reprocheck.scan.finding import Finding
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text
from reprocheck.scan.registry import checks
from tests.scan.snippets import RIGHT, WRONG, text

SCANNED = [entry for entry in catalogue() if entry.scan]
LINES = {
    "RC202": 3,
    "RC301": 3,
    "RC302": 3,
    "RC303": 3,
    "RC502": 5,
    "RC505": 2,
    "RC510": 8,
    "RC601": 4,
    "RC101": 3,
    "RC504": 10,
    "RC102": 6,
}
"""Where the finding of a wrong example must stand, for the examples in which that is not the only
line of its kind.
"""


def found(text: str | dict[str, str]) -> list[Finding]:
    files: dict[str, str | bytes] = dict(text) if isinstance(text, dict) else {"train.py": text}
    return findings(of_text(files))


def codes(text: str | dict[str, str]) -> list[str]:
    return [finding.code for finding in found(text)]


@pytest.mark.parametrize("entry", SCANNED, ids=lambda entry: entry.code)
def test_the_wrong_example_has_exactly_this_finding_and_the_right_one_none(entry: Entry) -> None:
    wrong = found(entry.bad)
    assert [finding.code for finding in wrong] == [entry.code]
    assert (
        wrong[0].severity in (entry.severity, "warning")
        and wrong[0].message
        and not wrong[0].message.endswith(".")
    )
    assert wrong[0].line == LINES.get(entry.code, wrong[0].line)
    assert codes(entry.good) == []


def test_a_finding_says_what_its_fix_is_made_for() -> None:
    examples = {entry.code: entry.bad for entry in SCANNED}
    made_for = {"RC403": "place", "RC507": "catalogue", "RC602": "page"}
    assert {code: found(examples[code])[0].fix_from for code in made_for} == made_for


def test_every_check_is_for_rules_that_are_scanned_and_every_such_rule_has_a_check() -> None:
    checked = {code for check in checks() for code in check.codes}
    assert checked == {entry.code for entry in SCANNED}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_program_has_nothing_but_notes(name: str) -> None:
    given = RIGHT[name]
    wrong = [
        one
        for one in found(given if isinstance(given, dict) else text(given))
        if one.severity != "note"
    ]
    assert [(one.line, one.code, one.message) for one in wrong] == []


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_program_has_its_findings_at_their_lines(name: str) -> None:
    source, expected = WRONG[name]
    given = source if isinstance(source, dict) else text(source)
    assert [(one.line, one.code) for one in found(given)] == expected


def test_a_partial_load_has_no_finding_once_it_says_what_it_took() -> None:
    program = RIGHT["a partial load that is counted"]
    assert isinstance(program, str)
    source = text(program)
    assert codes(source) == []
    assert codes(source[: source.index("logging.info")]) == ["RC305"]


def test_two_branches_of_one_switch_do_not_undo_one_another() -> None:
    source = """\
import sys

import torch

exact = len(sys.argv) > 1
if exact:
    torch.backends.cudnn.deterministic = True
else:
    torch.backends.cudnn.benchmark = True
"""
    said = [finding.message for finding in found(source) if finding.code == "RC706"]
    assert len(said) == 1 and "again" not in said[0]


STUDY = """\
import optuna
import torch

def objective(trial):
    model = torch.nn.Linear(1, trial.suggest_int("width", 8, 16))
    return train(model, trial.suggest_float("lr", 1e-3, 1e-1))

study = optuna.create_study()
study.optimize(objective, n_trials=3)
"""


def test_a_study_without_a_seed_is_given_a_sampler() -> None:
    (wrong,) = [one for one in found(STUDY) if one.code == "RC202"]
    assert (
        wrong.fix
        == "Give the study a sampler with a seed: `sampler=optuna.samplers.TPESampler(seed=0)`."
    )
    assert "RC202" not in codes(
        STUDY.replace("create_study()", "create_study(sampler=optuna.samplers.TPESampler(seed=0))")
    )


CPU_SEED = """\
import torch
{imports}
torch.default_generator.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.Dropout(0.5)).to({device!r})
model(torch.ones(2, 4, device={device!r})).sum().backward()
"""


@pytest.mark.parametrize(
    "device, imports, expected",
    [("cuda", "", True), ("npu", "import torch_npu", True), ("cpu", "", False)],
)
def test_a_seed_for_the_cpu_alone_reaches_no_layer_on_an_accelerator(
    device: str, imports: str, expected: bool
) -> None:
    """`torch.default_generator` is the CPU's; `torch.manual_seed` seeds the devices too."""
    program = CPU_SEED.format(device=device, imports=imports)
    wrong = [one.message for one in found(program) if one.code == "RC401"]
    assert bool(wrong) is expected
    assert all(message.endswith("the seed in line 3 is for the CPU alone") for message in wrong)
    assert "RC401" not in codes(program.replace("default_generator.", ""))
