"""The table of controls, the variables that they set, and the settings that ask for them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from reprocheck.errors import ControlError, ReprocheckError, SettingsError
from reprocheck.settings import SEED_LIMIT, controls, load

FRAMEWORKS = {"python", "numpy", "torch", "torch_npu", "mindspore", "tensorflow", "keras", "jax"}
CLASSES = {
    "same numbers": [
        "hash-seed",
        "file-order",
        "fresh-workdir",
        "launch-blocking",
        "fixed-addresses",
    ],
    "same training": [
        "seed",
        "private-rng",
        "entropy",
        "clock",
        "single-worker",
        "deterministic",
        "single-thread",
        "no-compile",
        "fill-memory",
    ],
    "alters the training": ["dropout-off", "data-order", "augment-off", "cpu-rng"],
}


def settings(**flags: object) -> tuple[tuple[str, ...], int]:
    held = load(flags, Path("/"), {}, files=False)
    return held.controls, held.seed


def test_every_control_is_there_with_its_class_and_says_all_of_itself() -> None:
    by_class: dict[str, list[str]] = {}
    for found in controls.table():
        by_class.setdefault(found.control_class, []).append(found.name)
        assert (
            found.does.endswith(".")
            and found.frameworks
            and found.cost
            and found.limits
            and found.source
            and found.fix
        )
        assert set(found.frameworks) <= FRAMEWORKS
        own = {
            *found.frameworks,
            "python",
            "numpy",
            "torch",
            "torch_npu",
            "mindspore",
            "cuda",
            "npu",
        }
        assert {word for key in found.fix for word in key.split()} <= own
        assert found.launch in ("", "copy", "addresses")
        assert set(found.accepts) <= set(found.environment)
    assert by_class == CLASSES
    assert set(controls.harmless()) == {*CLASSES["same numbers"], *CLASSES["same training"]}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"class": None}, "relations.json: the control clock has no field class."),
        (
            {"limit": ""},
            "relations.json: the control clock has a field limit, which no control has.",
        ),
        ({"name": None}, "relations.json: the control number 1 has no field name."),
    ],
)
def test_a_control_with_a_wrong_field_is_named_with_its_file(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    rows = json.loads(controls.TABLE.read_text(encoding="utf-8"))
    clock = next(row for row in rows if row["name"] == "clock")
    changed = {key: value for key, value in {**clock, **change}.items() if value is not None}
    file = tmp_path / "relations.json"
    file.write_text(json.dumps([changed]))
    with pytest.raises(ReprocheckError) as caught:
        list(controls.controls_of(file))
    assert caught.value.message == message


def test_variables_of_several_controls() -> None:
    added, against = controls.environment(
        ["single-thread", "hash-seed", "fresh-workdir"], 7, {}, "/tmp/x"
    )
    assert not against
    assert added["PYTHONHASHSEED"] == "7"
    assert added["OMP_NUM_THREADS"] == "1"
    assert added["TRITON_CACHE_DIR"].startswith("/tmp/x/")


@pytest.mark.parametrize(
    ("control", "variable", "value"),
    [
        ("deterministic", "CUBLAS_WORKSPACE_CONFIG", ":0:0"),
        ("deterministic", "NCCL_ALGO", "Tree"),
        ("deterministic", "HCCL_DETERMINISTIC", "false"),
        ("hash-seed", "PYTHONHASHSEED", "random"),
        ("hash-seed", "PYTHONHASHSEED", "3"),
        ("single-thread", "OMP_NUM_THREADS", "4"),
    ],
)
def test_a_value_of_the_users_that_contradicts_is_named(
    control: str, variable: str, value: str
) -> None:
    added, against = controls.environment([control], 0, {variable: value})
    assert [(one.control, one.variable, one.value, one.wanted) for one in against] == [
        (control, variable, value, added[variable])
    ]
    with pytest.raises(ControlError) as caught:
        controls.refuse(against)
    assert caught.value.exit_code == 2
    assert f"{variable}={value}" in caught.value.message and added[variable] in caught.value.message
    assert variable in caught.value.fix and control in caught.value.fix


@pytest.mark.parametrize(
    ("control", "variable", "value"),
    [
        ("deterministic", "CUBLAS_WORKSPACE_CONFIG", ":16:8"),
        ("deterministic", "HCCL_DETERMINISTIC", "TRUE"),
        ("deterministic", "HCCL_DETERMINISTIC", "strict"),
        ("deterministic", "NCCL_ALGO", "ring"),
        ("single-thread", "OMP_NUM_THREADS", "1"),
    ],
)
def test_a_value_of_the_users_that_serves_stays(control: str, variable: str, value: str) -> None:
    added, against = controls.environment([control], 0, {variable: value})
    assert not against and variable not in added


def test_one_variable_that_two_controls_set_is_named_once() -> None:
    _, against = controls.environment(
        ["hash-seed", "fixed-addresses"], 0, {"PYTHONHASHSEED": "random"}
    )
    assert [one.variable for one in against] == ["PYTHONHASHSEED"]


def test_settings_ask_for_controls_in_the_order_of_the_table() -> None:
    assert settings() == ((), 0)
    assert settings(control=["clock", "seed,hash-seed", "clock"]) == (
        ("hash-seed", "seed", "clock"),
        0,
    )
    assert settings(seed="9") == (("seed",), 9)
    assert settings(deterministic=True, no_dropout=True) == (("deterministic", "dropout-off"), 0)
    assert settings(all_controls=True, control="cpu-rng") == ((*controls.harmless(), "cpu-rng"), 0)
    assert settings(control="none") == ((), 0)


def test_a_settings_file_takes_a_list(tmp_path: Path) -> None:
    (tmp_path / "reprocheck.toml").write_text('control = ["seed", "clock"]\nseed = 4\n')
    held = load({}, tmp_path, {})
    assert (held.controls, held.seed) == (("seed", "clock"), 4)
    assert {setting.name: setting.value for setting in held.provenance}["control"] == "seed, clock"


def test_wrong_names_and_seeds_are_answered() -> None:
    with pytest.raises(SettingsError) as caught:
        settings(control=["hashseed"])
    assert "Did you mean hash-seed?" in caught.value.fix and "fill-memory" in caught.value.fix
    for seed in ("-1", str(SEED_LIMIT), "x"):
        with pytest.raises(SettingsError, match="--seed"):
            settings(seed=seed)
    with pytest.raises(ControlError):
        controls.control("sed")
