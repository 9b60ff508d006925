"""The settings of a check, and where the value of each came from.

A later source wins: default, `[tool.reprocheck]` in pyproject.toml, reprocheck.toml,
`REPROCHECK_*`, flags. Imports errors, model, the table of options and that of controls.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from reprocheck.errors import SettingsError
from reprocheck.settings import controls, variations
from reprocheck.settings.must_differ import NONE
from reprocheck.settings.options import (
    OPTIONS as OPTIONS,
    PREFIX as PREFIX,
    SEED_LIMIT as SEED_LIMIT,
    VARIATIONS as VARIATIONS,
    Draw as Draw,
    Option as Option,
    nearest as nearest,
)

if TYPE_CHECKING:  # the model's many data classes would be half of the time of `--help`
    from reprocheck import model


NOT_SETTINGS = ("REPROCHECK_CHILD",)
"""Variables that reprocheck sets itself in the processes that it starts."""
NOT_SETTINGS_PREFIX = "REPROCHECK_TEST_"
"""Variables of the project's own tests."""

_BY_NAME = {option.name: option for option in OPTIONS}

OF_THE_SUITE = ("suite", "target")
"""Tables of a settings file that `reprocheck suite` reads."""
OF_OTHERS = (*OF_THE_SUITE, "scan")
"""Tables of a settings file that are not about a check."""

DEEPER = ("module", "op")
"""Levels that show the ladder also of a check that passes."""


def _default(name: str) -> Any:
    return _BY_NAME[name].default


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Hold the settings of a check; the defaults are those of `OPTIONS`.

    steps     iterations to record; None: the whole training
    timeout   seconds that a run may take; None: no limit
    max_runs  further runs that a search may start; None: as many as the search takes
    draw      whether pictures are drawn, or `failure`: where the check fails; False: nothing but
              report.json is written
    output    report folder, relative to the working directory
    keep      report folders of earlier checks to keep; None: remove nothing
    python    interpreter of the script; None: the `python` of the command, or the interpreter that
              runs
              reprocheck
    controls  names of the controls that the options `control`, `seed`, `deterministic`,
              `no_dropout`
              and `all_controls` ask for, in the order of the table of controls
    vary      names of the variations of the second run, in the order of the table
    vary_seed number that decides the values of the variations from run 3 on; None: a new one
    seed      number from which the fixed seeds of the control are derived
    must_differ  what must make a further run differ, `none` for nothing
    """

    runs: int = _default("runs")
    steps: int | None = _default("steps")
    rtol: float = _default("rtol")
    atol: float = _default("atol")
    timeout: float | None = _default("timeout")
    workdir: Literal["inplace", "copy"] = _default("workdir")
    output: Path = field(default=_default("output"))
    keep: int | None = _default("keep")
    fail_on: str = _default("fail_on")
    python: str | None = _default("python")
    show_output: bool = _default("show_output")
    jobs: int = _default("jobs")
    jobs_on_accelerator: bool = _default("jobs_on_accelerator")
    level: Literal["auto", "loss", "module", "op"] = _default("level")
    draw: Draw = field(default=_default("draw"))
    explain: bool = _default("explain")
    max_runs: int | None = _default("max_runs")
    controls: tuple[str, ...] = ()
    seed: int = 0
    vary: tuple[str, ...] = ()
    vary_seed: int | None = _default("vary_seed")
    must_differ: str = _default("must_differ")
    quiet: bool = _default("quiet")
    verbose: bool = _default("verbose")
    color: Literal["auto", "always", "never"] = _default("color")
    lang: Literal["en", "zh"] = _default("lang")
    provenance: tuple[model.Setting, ...] = ()

    @property
    def level_of_runs(self) -> Literal["auto", "loss"]:
        """Return the level at which the runs of a check are recorded.

        The level is `loss` if the user asked for that level or wants no explanation of a
        difference, else `auto`: the first iterations at level `module`, the rest at level `loss`.
        """
        if self.level == "loss" or not (self.explain or self.asks_for_modules):
            return "loss"
        return "auto"

    @property
    def asks_for_modules(self) -> bool:
        """Return whether the user asked for a deeper level, which is then always shown."""
        return self.level in DEEPER

    @property
    def tolerance(self) -> model.Tolerance:
        """Return the bounds within which two losses count as equal."""
        from reprocheck import model

        return model.Tolerance(rtol=self.rtol, atol=self.atol)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Given:
    """Hold a value that a source of settings gives.

    place  how an error message names the value: `reprocheck.toml: runs = 1`
    """

    option: Option
    value: object
    origin: str
    place: str
    folder: Path | None = None


def load(
    flags: Mapping[str, object],
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    *,
    files: bool = True,
) -> Settings:
    """Return the settings that hold in the working directory `cwd`.

    Raises SettingsError for an unknown key, for a value that is not allowed, and if a settings file
    cannot be read.

    flags    option name -> value; None means that the flag was not given
    environ  environment variables, by default those of `os.environ`
    files    whether settings files are read
    """
    if environ is None:
        environ = os.environ
    given = [*_from_environment(environ), *_from_flags(flags)]
    if files:
        given = [*_from_files(cwd), *given]
    values: dict[str, object] = {option.name: option.default for option in OPTIONS}
    origins = dict.fromkeys(values, "default")
    for item in given:
        values[item.option.name] = _parsed(item, cwd)
        origins[item.option.name] = item.origin
    if values["jobs"] != 1 and values["workdir"] != "copy":
        raise SettingsError(
            f"jobs = {values['jobs']} ({origins['jobs']}) runs the script side by side in one"
            " working directory.",
            "Add --workdir copy, so that each run works in its own copy, or leave --jobs at 1.",
        )
    if values["must_differ"] != NONE and values["vary"]:
        raise SettingsError(
            f"must-differ = {values['must_differ']} ({origins['must_differ']}) needs runs that are"
            f" not varied, and vary ({origins['vary']}) varies them.",
            "Leave one of them out: these are two checks.",
        )
    from reprocheck import model

    provenance = tuple(
        model.Setting(
            name=option.name, value=plain(option, values[option.name]), origin=origins[option.name]
        )
        for option in OPTIONS
    )
    return Settings(**_with_controls(values), provenance=provenance)  # type: ignore[arg-type]


def _with_controls(values: Mapping[str, object]) -> dict[str, object]:
    """Return the values of all options, with one list of controls.

    Options that ask for a control, such as `deterministic`, are replaced by `controls` and `seed`.
    """
    left = {
        name: value
        for name, value in values.items()
        if name not in ("control", "vary_not", *ASKING)
    }
    given_options = [
        option for option in ASKING if values[option] is not None and values[option] is not False
    ]
    wanted = [name for option in given_options for name in ASKING[option]()]
    given = values["control"]
    assert isinstance(given, tuple)
    return {
        **left,
        "controls": controls.ordered([*given, *wanted]),
        "seed": values["seed"] or 0,
        "vary": _without(values["vary"], values["vary_not"]),
    }


def _without(names: object, left_out: object) -> tuple[str, ...]:
    assert isinstance(names, tuple) and isinstance(left_out, tuple)
    return tuple(name for name in names if name not in left_out)


ASKING: Mapping[str, Callable[[], tuple[str, ...]]] = {
    "seed": lambda: ("seed",),
    "deterministic": lambda: ("deterministic",),
    "no_dropout": lambda: ("dropout-off",),
    "all_controls": controls.harmless,
}
"""Options beside `control` that ask for controls, and which."""


def plain(option: Option, value: object) -> object:
    """Return the value of a setting as a settings file writes it: a path as text, for example.

    None becomes the option's word for None, if the option has such a word.
    """
    if isinstance(value, tuple) and option.kind.metavar == VARIATIONS:
        return variations.spelled(value)
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    if value is None:
        return next(
            (word for word in ("all", "none") if option.kind.metavar.endswith(f"|{word}")), None
        )
    if isinstance(value, Path):
        return str(value)
    return value


def _parsed(item: _Given, cwd: Path) -> object:
    try:
        value = item.option.kind.parse(item.value)
    except (ValueError, OverflowError):
        raise SettingsError(
            f"{item.place} is not allowed.", f"{item.option.key} takes {item.option.kind.allowed}."
        ) from None
    if item.folder is None or item.folder == cwd:
        return value
    if item.option.kind.type == "path":
        return item.folder / str(value)
    if item.option.name == "python" and "/" in str(value):
        return str(item.folder / Path(str(value)).expanduser())
    return value


def _from_flags(flags: Mapping[str, object]) -> list[_Given]:
    given = []
    for name, value in flags.items():
        if name not in _BY_NAME:
            raise SettingsError(
                f"There is no option {name!r}.", _did_you_mean(nearest(name, _BY_NAME))
            )
        option = _BY_NAME[name]
        if value is not None:
            given.append(
                _Given(
                    option=option, value=value, origin=option.flag, place=f"{option.flag} {value}"
                )
            )
    return given


def _from_environment(environ: Mapping[str, str]) -> list[_Given]:
    by_env = {option.env: option for option in OPTIONS}
    given = []
    for name in sorted(environ):
        if (
            not name.startswith(PREFIX)
            or name in NOT_SETTINGS
            or name.startswith(NOT_SETTINGS_PREFIX)
        ):
            continue
        if name not in by_env:
            raise SettingsError(
                f"The environment variable {name} is not a setting of reprocheck.",
                _did_you_mean(nearest(name, by_env), f"unset {name}"),
            )
        if environ[name]:
            given.append(
                _Given(
                    option=by_env[name],
                    value=environ[name],
                    origin=name,
                    place=f"{name}={environ[name]}",
                )
            )
    return given


def _from_files(cwd: Path) -> list[_Given]:
    folders = (cwd, *cwd.parents)
    given: list[_Given] = []
    for folder in folders:
        table = pyproject_table(folder / "pyproject.toml")
        if table is not None:
            given += _from_table(table, folder / "pyproject.toml", cwd)
            break
    for folder in folders:
        if (folder / "reprocheck.toml").is_file():
            given += _from_table(toml(folder / "reprocheck.toml"), folder / "reprocheck.toml", cwd)
            break
    return given


def pyproject_table(path: Path) -> dict[str, object] | None:
    """Return the table `[tool.reprocheck]` of a pyproject.toml; None if there is no such table.

    A file that does not mention the table is not parsed, because that saves time.
    """
    try:
        # a pipe in its place would be waited for for ever
        if not path.is_file() or b"reprocheck" not in path.read_bytes():
            return None
    except OSError:
        return None
    tool = toml(path).get("tool")
    if not isinstance(tool, dict):
        return None
    table = tool.get("reprocheck")
    if not isinstance(table, dict):
        return None
    return table


def toml(path: Path) -> dict[str, object]:
    """Return the content of a TOML file. Raises SettingsError if the file cannot be read."""
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.", "Correct that line.") from None
    except OSError as error:
        raise SettingsError(
            f"{path} cannot be read: {error.strerror}.", "Make it readable, or remove it."
        ) from None


def _from_table(table: Mapping[str, object], path: Path, cwd: Path) -> list[_Given]:
    by_key = {option.key: option for option in OPTIONS}
    shown = str(path)
    if path.parent == cwd:
        shown = path.name
    given: dict[str, _Given] = {}
    for key, value in table.items():
        if key in OF_OTHERS:
            continue
        option = by_key.get(key.replace("_", "-"))
        if option is None:
            raise SettingsError(
                f"{shown}: there is no setting {key!r}.", _did_you_mean(nearest(key, by_key))
            )
        if option.name in given:
            raise SettingsError(
                f"{shown}: {option.key} stands there twice, as {option.key} and {option.name}.",
                "Remove one.",
            )
        as_toml = f'"{value}"' if isinstance(value, str) else str(value)
        if isinstance(value, bool):
            as_toml = as_toml.lower()
        place = f"{shown}: {key} = {as_toml}"
        given[option.name] = _Given(
            option=option, value=value, origin=shown, place=place, folder=path.parent
        )
    return list(given.values())


def _did_you_mean(name: str, otherwise: str = "") -> str:
    listed = "`reprocheck config` lists all settings."
    meant = f"Did you mean {name}?" if name else otherwise and f"Remove it: {otherwise}."
    return f"{meant} {listed}".strip()
