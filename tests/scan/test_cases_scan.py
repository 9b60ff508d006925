"""The scripts of the cases and of the corpus, scanned: what the source shows is found at its line,
and clean scripts have no error.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks.corpus.pairs import SCRIPTS, Pair, load
from reprocheck.scan.finding import Finding
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

CASES = Path(__file__).parents[1] / "e2e" / "cases"
EXPECTED: dict[str, tuple[tuple[int, str], ...]] = {
    "torch/unseeded_weights.py": ((8, "RC302"),),
    "torch/unseeded_order.py": ((10, "RC502"),),
    "torch/unseeded_augmentation.py": ((9, "RC504"),),
    "torch/private_dropout.py": ((10, "RC601"),),
    "torch/stock_dropout_unseeded.py": ((8, "RC402"),),
    "torch/set_order_vocabulary.py": ((7, "RC505"),),
    "torch/noisy_backward.py": ((7, "RC705"),),
    "torch/clock_learning_rate.py": ((9, "RC201"),),
    "torch/resumes_checkpoint.py": ((11, "RC101"),),
    "torch/uninitialised_parameter.py": ((15, "RC303"),),
    "torch/warmup_hides_backward.py": ((8, "RC705"),),
    "plain/carried_state.py": ((8, "RC101"),),
    "plain/rounding_noise.py": ((6, "RC407"),),
    "torch/atomic_gradient.py": ((14, "RC701"),),
    "mindspore/unseeded_weights.py": ((9, "RC301"),),
    "mindspore/unseeded_dropout.py": ((9, "RC301"), (9, "RC401")),
    "keras/unseeded_fit.py": ((6, "RC301"),),
    "jax/clock_key.py": ((8, "RC402"),),
}
"""Line and code, read by hand in each script.

Those that are not named have nothing that their source shows.
"""


def scanned(path: Path) -> list[Finding]:
    return findings(of_text({path.name: path.read_bytes(), **imported(path)}))


def imported(path: Path) -> dict[str, bytes]:
    """The modules beside a script that it imports."""
    lines = re.findall(r"^from modules(?:\.(\w+))? import (\w+)$", path.read_text("utf-8"), re.M)
    names = [f"modules/{module or name}.py" for module, name in lines]
    return {name: (path.parent / name).read_bytes() for name in names}


@pytest.mark.parametrize(
    "name", sorted(str(path.relative_to(CASES)) for path in CASES.glob("*/*.py"))
)
def test_a_case_has_what_its_source_shows_at_its_line(name: str) -> None:
    found = [
        (finding.line, finding.code)
        for finding in scanned(CASES / name)
        if finding.severity != "note"
    ]
    assert found == list(EXPECTED.get(name, ()))


def test_every_expected_script_is_there() -> None:
    assert all((CASES / name).is_file() for name in EXPECTED)


ALSO = {
    "RC402": {"RC404"},
    "RC504": {"RC407", "RC601"},
    "RC401": {"RC402", "RC406"},
    "RC901": {"RC407"},
    "RC605": {"RC601"},
    "RC511": {"RC406"},
}
ALSO |= {
    "RC512": {"RC105", "RC407", "RC501"},
    "RC705": {"RC407"},
    "RC604": {"RC406"},
    "RC904": {"RC407"},
    "RC406": {"RC402"},
}
"""What the scan calls a cause that a run, which sees where it shows, calls otherwise."""
HIDDEN = {
    "torch/log_of_zero": "nothing is random",
    "torch/numpy_empty_collate": "how much of the memory is filled depends on the lengths of the sentences",
    "torch/library_generator": "the library makes the generator inside",
    "torch/early_pipeline": "the library, which the scan does not know, makes the generator inside",
    "torch/hydra_clock": "the configuration of the run reads the clock",
    "torch/weights_of_another_process": "the source of that process is a text that is handed to it",
    "torch/reported_reset_drops_seed": "the base class of an environment makes the generator",
    "torch/reported_rotary_buffer": "what to_empty() leaves open depends on the keys of the checkpoint",
    "torch/reported_class_order": "a method returns the order of the set, and another counts by it",
}
FIXED_BY_A_SETTING = {"torch/reported_missing_seed_option": "a file of options names the seed"}


@pytest.mark.parametrize(
    "pair", [pair for pair in load() if pair.script.endswith(".py")], ids=lambda pair: pair.name
)
def test_a_planted_cause_is_found_and_its_fixed_twin_is_not_suspected(pair: Pair) -> None:
    found = {
        finding.code for finding in scanned(SCRIPTS / pair.script) if finding.severity != "note"
    }
    wanted = set(pair.codes).union(*(ALSO.get(code, set()) for code in pair.codes))
    assert bool(found & wanted) is (pair.name not in HIDDEN), found
    suspected = [one for one in scanned(SCRIPTS / pair.twin) if one.severity != "note"]
    assert bool(suspected) is (pair.name in FIXED_BY_A_SETTING), suspected


@pytest.mark.parametrize(
    ("script", "module", "code"),
    [
        ("draw_at_import", "drawn_weights", "RC406"),
        ("imported_vocabulary", "word_index", "RC505"),
        ("draw_at_import_fixed", "drawn_weights_with_seed", None),
        ("imported_vocabulary_fixed", "word_index_sorted", None),
    ],
)
def test_a_planted_cause_of_an_imported_module_is_found_there(
    script: str, module: str, code: str | None
) -> None:
    found = scanned(SCRIPTS / "torch" / f"{script}.py")
    at = [(one.path, one.code) for one in found if one.severity != "note"]
    assert at == ([] if code is None else [(f"modules/{module}.py", code)])
