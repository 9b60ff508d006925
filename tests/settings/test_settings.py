"""The table of options: sources, their order, and what is said about values that mean nothing."""

import dataclasses
from pathlib import Path

import pytest

from reprocheck import model
from reprocheck.errors import SettingsError
from reprocheck.settings import ASKING, OPTIONS, Settings, load, options

NAMES = [option.name for option in OPTIONS]


def origin(settings: Settings, name: str) -> str:
    return next(setting.origin for setting in settings.provenance if setting.name == name)


def test_the_bounds_are_those_of_the_criterion() -> None:
    assert Settings().tolerance == model.Tolerance()


def test_the_table_and_the_dataclass_name_the_same_settings_with_the_same_defaults() -> None:
    fields = {
        field.name: field.default
        for field in dataclasses.fields(Settings)
        if field.name != "provenance"
    }
    options = {
        option.name: option.default
        for option in OPTIONS
        if option.name not in ("control", "vary_not", *ASKING)
    }
    assert fields == {**options, "controls": (), "seed": 0}


def test_defaults_are_those_of_the_documents(tmp_path: Path) -> None:
    settings = load({}, tmp_path, {})
    assert (settings.runs, settings.steps, settings.timeout, settings.keep, settings.jobs) == (
        2,
        10,
        None,
        None,
        1,
    )
    assert settings.tolerance == model.Tolerance(rtol=1e-3, atol=1e-3)
    assert (settings.workdir, settings.output, settings.fail_on, settings.level) == (
        "inplace",
        Path("reports"),
        "checks",
        "auto",
    )
    assert {setting.origin for setting in settings.provenance} == {"default"}
    assert [setting.name for setting in settings.provenance] == NAMES


def test_each_source_wins_over_the_one_before(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        "[tool.reprocheck]\nruns = 3\nsteps = 3\nrtol = 0.3\natol = 0.3\n"
    )
    (tmp_path / "reprocheck.toml").write_text("steps = 4\nrtol = 0.4\natol = 0.4\n")
    settings = load(
        {"atol": "0.6", "runs": None},
        tmp_path,
        {"REPROCHECK_RTOL": "0.5", "REPROCHECK_ATOL": "0.5"},
    )
    assert (settings.runs, settings.steps, settings.rtol, settings.atol) == (3, 4, 0.5, 0.6)
    assert [origin(settings, name) for name in ("runs", "steps", "rtol", "atol")] == [
        "pyproject.toml",
        "reprocheck.toml",
        "REPROCHECK_RTOL",
        "--atol",
    ]


def test_tables_of_the_suite_and_of_the_scan_are_no_settings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.reprocheck]\nruns = 3\n[tool.reprocheck.scan]\nselect = ["RC302"]\n'
        '[tool.reprocheck.suite]\nkeep = 3\n[[tool.reprocheck.target]]\nname = "a"\n'
    )
    assert load({}, tmp_path, {}).runs == 3


def test_the_nearest_files_upwards_hold_and_their_paths_start_from_them(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.reprocheck]\noutput = "results"\npython = ".venv/bin/python"\n'
    )
    (tmp_path / "reprocheck.toml").write_text("runs = 9\n")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (inner.parent / "pyproject.toml").write_text("[project]\nname = 'no-table-of-ours'\n")
    (inner.parent / "reprocheck.toml").write_text("runs = 4\n")
    settings = load({}, inner, {})
    assert settings.runs == 4
    assert settings.output == tmp_path / "results"
    assert settings.python == str(tmp_path / ".venv/bin/python")
    assert origin(settings, "runs") == str(inner.parent / "reprocheck.toml")
    assert load({}, inner, {}, files=False).runs == 2


def test_paths_typed_here_stay_as_typed(tmp_path: Path) -> None:
    (tmp_path / "reprocheck.toml").write_text('output = "results"\n')
    assert load({}, tmp_path, {}).output == Path("results")
    assert load({"output": "elsewhere"}, tmp_path, {}).output == Path("elsewhere")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("steps", "all", None),
        ("steps", "25", 25),
        ("timeout", "none", None),
        ("timeout", "1.5", 1.5),
        ("keep", "all", None),
        ("rtol", "0", 0.0),
        ("atol", "1e-6", 1e-6),
        ("show_output", "yes", True),
        ("quiet", "0", False),
        ("fail_on", "bitwise", "bitwise"),
    ],
)
def test_values_as_text(tmp_path: Path, name: str, value: str, expected: object) -> None:
    option = next(option for option in OPTIONS if option.name == name)
    assert getattr(load({}, tmp_path, {option.env: value}), name) == expected
    assert getattr(load({name: value}, tmp_path, {}), name) == expected


ZEROS = [("atol", 0.0), ("rtol", 0.0), ("seed", 0), ("vary_seed", 0)]


@pytest.mark.parametrize(("name", "value"), ZEROS)
@pytest.mark.parametrize("source", ["flag", "environment", "file", "python"])
def test_zero_is_a_value_wherever_it_is_given(
    tmp_path: Path, name: str, value: object, source: str
) -> None:
    if source == "file":
        (tmp_path / "reprocheck.toml").write_text(f"{name} = 0\n")
    flags: dict[str, object] = {"flag": {name: "0"}, "python": {name: 0}}.get(source, {})
    settings = load(
        flags, tmp_path, {f"REPROCHECK_{name.upper()}": "0"} if source == "environment" else {}
    )
    assert getattr(settings, name) == value
    assert settings.controls == (("seed",) if name == "seed" else ())
    assert next(setting.value for setting in settings.provenance if setting.name == name) == value


def test_every_option_takes_zero_as_a_number_or_says_that_it_does_not(tmp_path: Path) -> None:
    for option in OPTIONS:
        if option.kind.type not in ("integer", "number"):
            continue
        if option.name in dict(ZEROS):
            continue
        with pytest.raises(SettingsError, match=f"--{option.key} 0 is not allowed"):
            load({option.name: 0}, tmp_path, {})


def test_provenance_says_values_as_a_settings_file_would(tmp_path: Path) -> None:
    settings = load({"steps": "all"}, tmp_path, {})
    values = {setting.name: setting.value for setting in settings.provenance}
    assert (
        values["steps"],
        values["timeout"],
        values["keep"],
        values["output"],
        values["python"],
    ) == (
        "all",
        "none",
        "all",
        "reports",
        None,
    )


BAD = [
    ("runs", "1"),
    ("runs", "two"),
    ("runs", "2.5"),
    ("steps", "0"),
    ("steps", "-3"),
    ("rtol", "-0.1"),
    ("rtol", "nan"),
    ("atol", "inf"),
    ("atol", "1e-3x"),
    ("timeout", "0"),
    ("timeout", "-1"),
    ("timeout", "nan"),
    ("keep", "0"),
    ("jobs", "0"),
    ("workdir", "elsewhere"),
    ("fail_on", "any"),
    ("color", "green"),
    ("level", "layer"),
    ("output", "  "),
    ("quiet", "perhaps"),
]


@pytest.mark.parametrize(("name", "value"), BAD)
def test_a_value_that_is_not_allowed_is_named_with_its_place_and_what_is(
    tmp_path: Path, name: str, value: str
) -> None:
    option = next(option for option in OPTIONS if option.name == name)
    (tmp_path / "reprocheck.toml").write_text(f'{option.key} = "{value}"\n')
    for flags, environ, place in (
        ({name: value}, {}, f"{option.flag} {value}"),
        ({}, {option.env: value}, f"{option.env}={value}"),
        ({}, {}, f'reprocheck.toml: {option.key} = "{value}"'),
    ):
        with pytest.raises(SettingsError) as caught:
            load(flags, tmp_path, environ, files=not (flags or environ))
        assert caught.value.message == f"{place} is not allowed."
        assert caught.value.fix == f"{option.key} takes {option.kind.allowed}."
        assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    "line", ["runs = true", "runs = 2.0", "rtol = false", "quiet = 1", "steps = [1]", "workdir = 3"]
)
def test_toml_values_of_another_type(tmp_path: Path, line: str) -> None:
    (tmp_path / "reprocheck.toml").write_text(line + "\n")
    with pytest.raises(SettingsError, match="is not allowed"):
        load({}, tmp_path, {})


def test_unknown_keys_are_answered_with_the_file_and_the_nearest_name(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.reprocheck]\nfail_om = 'bitwise'\n")
    with pytest.raises(SettingsError) as caught:
        load({}, tmp_path, {})
    assert caught.value.message == "pyproject.toml: there is no setting 'fail_om'."
    assert caught.value.fix.startswith("Did you mean fail-on?")


def test_both_spellings_of_a_key_are_known_and_both_at_once_are_an_error(tmp_path: Path) -> None:
    path = tmp_path / "reprocheck.toml"
    path.write_text("fail_on = 'bitwise'\n")
    assert load({}, tmp_path, {}).fail_on == "bitwise"
    path.write_text("fail_on = 'bitwise'\nfail-on = 'checks'\n")
    with pytest.raises(SettingsError, match="twice"):
        load({}, tmp_path, {})


def test_unknown_variables_are_answered_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load({}, tmp_path, {"REPROCHECK_STEP": "3"})
    assert "REPROCHECK_STEP is not a setting" in caught.value.message
    assert "REPROCHECK_STEPS" in caught.value.fix


def test_variables_that_reprocheck_sets_itself_and_empty_ones_are_no_settings(
    tmp_path: Path,
) -> None:
    environ = {
        "REPROCHECK_CHILD": "/somewhere",
        "REPROCHECK_TEST_MINDSPORE_PYTHON": "/python",
        "REPROCHECK_RUNS": "",
        "OTHER": "1",
    }
    assert load({}, tmp_path, environ) == load({}, tmp_path, {})


def test_a_broken_file_is_named_with_the_line(tmp_path: Path) -> None:
    (tmp_path / "reprocheck.toml").write_text("runs = 2\nsteps = = 3\n")
    with pytest.raises(SettingsError, match=r"reprocheck\.toml is not valid TOML.*line 2"):
        load({}, tmp_path, {})


def test_a_pyproject_that_does_not_mention_reprocheck_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("this is [ no TOML")
    assert load({}, tmp_path, {}).runs == 2


def test_jobs_need_copies(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load({"jobs": "2"}, tmp_path, {})
    assert "--workdir copy" in caught.value.fix
    assert load({"jobs": "2", "workdir": "copy"}, tmp_path, {}).jobs == 2


def test_the_reference_page_lists_every_setting() -> None:
    page = (Path(__file__).parents[2] / "docs" / "reference" / "settings.md").read_text(
        encoding="utf-8"
    )
    rows = {line.split("`")[1]: line for line in page.splitlines() if line.startswith("| `")}
    defaults = {
        setting.name: setting.value for setting in load({}, Path("/"), {}, files=False).provenance
    }
    assert list(rows) == [option.key for option in OPTIONS]
    for option in OPTIONS:
        row, shown = rows[option.key], defaults[option.name]
        assert f"`{option.flag}`" in row and f"`{option.env}`" in row and option.kind.allowed in row
        assert shown is None or f"| `{str(shown).lower()}` |" in row


def test_the_rules_of_fail_on_are_those_of_the_verdict() -> None:
    assert options.FAIL_ON == model.FAIL_ON
    assert load({"fail_on": "bitwise, series:a, b"}, Path(), {}).fail_on == "bitwise,series:a, b"
    assert load({"fail_on": ["any-iteration", "series:a"]}, Path(), {}).fail_on == (
        "any-iteration,series:a"
    )
