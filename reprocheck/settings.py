"""The options of a check in one table, and where the value of each came from.

A later source wins: default, `[tool.reprocheck]` in pyproject.toml, reprocheck.toml, `REPROCHECK_*`, flags. Imports errors and model only.
`docs/reference/settings.md` is checked against `OPTIONS`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from reprocheck import model
from reprocheck.errors import SettingsError

PREFIX = "REPROCHECK_"
NOT_SETTINGS = ("REPROCHECK_CHILD",)
"""Variables that reprocheck sets itself in the processes that it starts."""
NOT_SETTINGS_PREFIX = "REPROCHECK_TEST_"
"""Variables of the project's own tests."""

Parser = Callable[[object], object]
"""Turns what a source says (text, or a TOML value) into the setting's value; raises ValueError where it cannot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One setting. Flag, environment variable and settings file key follow from `name`; `allowed` says what `parse` takes."""

    name: str
    default: object
    type: str
    metavar: str
    allowed: str
    parse: Parser
    help: str
    choices: tuple[str, ...] = ()
    short: str = ""

    @property
    def key(self) -> str:
        """Key in a settings file: `fail-on`."""
        return self.name.replace("_", "-")

    @property
    def flag(self) -> str:
        """Flag on the command line: `--fail-on`."""
        return f"--{self.key}"

    @property
    def env(self) -> str:
        """Environment variable: `REPROCHECK_FAIL_ON`."""
        return f"{PREFIX}{self.name.upper()}"


# ---------------------------------------------------------------------------------------------------------------- parsers


def _whole(minimum: int, *, word: str = "") -> Parser:
    """A whole number of at least `minimum`, or `word`, which becomes None."""

    def parse(value: object) -> object:
        if word and (value is None or value == word):
            return None
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError
        number = int(value)
        if number < minimum:
            raise ValueError
        return number

    return parse


def _number(*, zero: bool, word: str = "") -> Parser:
    """A finite number above 0 (0 itself where `zero`), or `word`, which becomes None."""

    def parse(value: object) -> object:
        if word and (value is None or value == word):
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError
        number = float(value)
        if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
            raise ValueError
        return number

    return parse


def _choice(*choices: str) -> Parser:
    def parse(value: object) -> object:
        if value not in choices:
            raise ValueError
        return value

    return parse


def _switch(value: object) -> object:
    """TOML true/false, or the usual words in the environment."""
    if isinstance(value, bool):
        return value
    words = {"1": True, "true": True, "yes": True, "on": True, "0": False, "false": False, "no": False, "off": False}
    if not isinstance(value, str) or value.lower() not in words:
        raise ValueError
    return words[value.lower()]


def _text(value: object) -> object:
    if not isinstance(value, (str, Path)) or not str(value).strip() or "\0" in str(value):
        raise ValueError
    return str(value)


def _folder(value: object) -> object:
    return Path(str(_text(value))).expanduser()


# ---------------------------------------------------------------------------------------------------------------- the table


def _option(name: str, default: object, type: str, metavar: str, parse: Parser, allowed: str, help: str) -> Option:
    return Option(name=name, default=default, type=type, metavar=metavar, parse=parse, allowed=allowed, help=help)


def _one_of(name: str, choices: tuple[str, ...], help: str) -> Option:
    allowed = "one of " + ", ".join(choices) if len(choices) > 1 else choices[0]
    plain_option = _option(name, choices[0], "choice", "|".join(choices), _choice(*choices), allowed, help)
    return replace(plain_option, choices=choices)


def _off(name: str, help: str, *, short: str = "") -> Option:
    return replace(_option(name, False, "switch", "", _switch, "true or false", help), short=short)


def _on(name: str, help: str) -> Option:
    return _option(name, True, "switch", "", _switch, "true or false", help)


_TOLERANCE = "a finite number, 0 or more"
_FROM_ONE = "a whole number, 1 or more"

OPTIONS: tuple[Option, ...] = (
    _option("runs", 2, "integer", "N", _whole(2), "a whole number, 2 or more", "How often the script is run. Run 1 is the reference."),
    _option(
        *("steps", 10, "integer", "N|all", _whole(1, word="all"), f"{_FROM_ONE}, or all"),
        help="Stop each run after N iterations; all: the whole training.",
    ),
    _option(
        *("rtol", model.Tolerance().rtol, "number", "X", _number(zero=True), _TOLERANCE),
        help="Relative tolerance: |a - b| <= atol + rtol*|b|, b of run 1.",
    ),
    _option("atol", model.Tolerance().atol, "number", "X", _number(zero=True), _TOLERANCE, "Absolute tolerance."),
    _option(
        *("timeout", None, "number", "SECONDS|none", _number(zero=False, word="none"), "a number of seconds above 0, or none"),
        help="End a run that takes longer.",
    ),
    _one_of("workdir", ("inplace", "copy"), "Where runs work: the working directory itself, or a copy of it for each run."),
    _option("output", Path("reports"), "path", "FOLDER", _folder, "the path of a folder", "Folder for the report folders."),
    _option(
        *("keep", None, "integer", "N|all", _whole(1, word="all"), f"{_FROM_ONE}, or all"),
        help="Keep the newest N report folders of this entry point, remove older ones.",
    ),
    _one_of(
        *("fail_on", ("checks", "any-iteration", "bitwise")),
        help="What else counts as a failure: a difference in any recorded iteration, or in any bit.",
    ),
    _option(
        *("python", None, "text", "PATH", _text, "the path or name of a Python interpreter"),
        help="Interpreter that runs the script; reprocheck need not be installed in it.",
    ),
    _off("show_output", "Show what the script prints while it runs."),
    _option("jobs", 1, "integer", "N", _whole(1), _FROM_ONE, "Runs side by side; more than 1 needs --workdir copy."),
    _off("jobs_on_accelerator", "Allow --jobs above 1 where an accelerator is visible: runs that share it can get other results."),
    _one_of(
        *("level", ("loss", "module", "op")),
        help="Record two more runs at this level even when the check passes: modules and gradients, or every operator.",
    ),
    _on("explain", "Record a failed check again at deeper levels, to say where the runs first part and why."),
    _off("quiet", "No progress; the verdict in one line.", short="-q"),
    _off("verbose", "More detail, and tracebacks of reprocheck's own errors.", short="-v"),
    _one_of("color", ("auto", "always", "never"), "Colour in the terminal."),
)
_BY_NAME = {option.name: option for option in OPTIONS}


def _default(name: str) -> Any:
    return _BY_NAME[name].default


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """The settings of a check; the defaults are those of `OPTIONS`.

    steps    None: the whole training          timeout  seconds a run, None: no limit
    output   relative to the working directory  keep     None: remove nothing
    python   None: the `python` of the command, or the interpreter that runs reprocheck
    """

    runs: int = _default("runs")
    steps: int | None = _default("steps")
    rtol: float = _default("rtol")
    atol: float = _default("atol")
    timeout: float | None = _default("timeout")
    workdir: Literal["inplace", "copy"] = _default("workdir")
    output: Path = field(default=_default("output"))
    keep: int | None = _default("keep")
    fail_on: Literal["checks", "any-iteration", "bitwise"] = _default("fail_on")
    python: str | None = _default("python")
    show_output: bool = _default("show_output")
    jobs: int = _default("jobs")
    jobs_on_accelerator: bool = _default("jobs_on_accelerator")
    level: Literal["loss", "module", "op"] = _default("level")
    explain: bool = _default("explain")
    quiet: bool = _default("quiet")
    verbose: bool = _default("verbose")
    color: Literal["auto", "always", "never"] = _default("color")
    provenance: tuple[model.Setting, ...] = ()

    @property
    def tolerance(self) -> model.Tolerance:
        """The bounds of the criterion."""
        return model.Tolerance(rtol=self.rtol, atol=self.atol)


# ---------------------------------------------------------------------------------------------------------------- sources


@dataclass(frozen=True, kw_only=True, slots=True)
class _Given:
    """A value that a source gives. `place` is how an error names it: `reprocheck.toml: runs = 1`."""

    option: Option
    value: object
    origin: str
    place: str
    folder: Path | None = None


def load(flags: Mapping[str, object], cwd: Path, environ: Mapping[str, str] | None = None, *, files: bool = True) -> Settings:
    """The settings that hold in `cwd`.

    flags: option name -> value; None means not given. environ: `os.environ` unless given. files: whether settings files are read.
    Raises SettingsError: an unknown key, a value that is not allowed, a settings file that cannot be read.
    """
    given = [*(_from_files(cwd) if files else ()), *_from_environment(os.environ if environ is None else environ), *_from_flags(flags)]
    values: dict[str, object] = {option.name: option.default for option in OPTIONS}
    origins = dict.fromkeys(values, "default")
    for item in given:
        values[item.option.name] = _parsed(item, cwd)
        origins[item.option.name] = item.origin
    if values["jobs"] != 1 and values["workdir"] != "copy":
        raise SettingsError(
            f"jobs = {values['jobs']} ({origins['jobs']}) runs the script side by side in one working directory.",
            "Add --workdir copy, so that each run works in a copy of its own, or leave --jobs at 1.",
        )
    provenance = tuple(
        model.Setting(name=option.name, value=plain(option, values[option.name]), origin=origins[option.name]) for option in OPTIONS
    )
    return Settings(**values, provenance=provenance)  # type: ignore[arg-type]


def plain(option: Option, value: object) -> object:
    """A setting's value as a settings file would say it: paths as text, None as the option's word where it has one."""
    if value is None:
        return next((word for word in ("all", "none") if option.metavar.endswith(f"|{word}")), None)
    return str(value) if isinstance(value, Path) else value


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that looks most like `name`, or an empty string."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(names), n=1, cutoff=0.5)), "")


def _parsed(item: _Given, cwd: Path) -> object:
    try:
        value = item.option.parse(item.value)
    except (ValueError, OverflowError):
        raise SettingsError(f"{item.place} is not allowed.", f"{item.option.key} takes {item.option.allowed}.") from None
    if item.folder is None or item.folder == cwd:
        return value
    if item.option.type == "path":
        return item.folder / str(value)
    if item.option.name == "python" and "/" in str(value):
        return str(item.folder / Path(str(value)).expanduser())
    return value


def _from_flags(flags: Mapping[str, object]) -> list[_Given]:
    given = []
    for name, value in flags.items():
        if name not in _BY_NAME:
            raise SettingsError(f"There is no option {name!r}.", _did_you_mean(nearest(name, _BY_NAME)))
        option = _BY_NAME[name]
        if value is not None:
            given.append(_Given(option=option, value=value, origin=option.flag, place=f"{option.flag} {value}"))
    return given


def _from_environment(environ: Mapping[str, str]) -> list[_Given]:
    by_env = {option.env: option for option in OPTIONS}
    given = []
    for name in sorted(environ):
        if not name.startswith(PREFIX) or name in NOT_SETTINGS or name.startswith(NOT_SETTINGS_PREFIX):
            continue
        if name not in by_env:
            raise SettingsError(
                f"The environment variable {name} is not a setting of reprocheck.", _did_you_mean(nearest(name, by_env), f"unset {name}")
            )
        if environ[name]:
            given.append(_Given(option=by_env[name], value=environ[name], origin=name, place=f"{name}={environ[name]}"))
    return given


def _from_files(cwd: Path) -> list[_Given]:
    folders = (cwd, *cwd.parents)
    given: list[_Given] = []
    for folder in folders:
        table = _pyproject_table(folder / "pyproject.toml")
        if table is not None:
            given += _from_table(table, folder / "pyproject.toml", cwd)
            break
    for folder in folders:
        if (folder / "reprocheck.toml").is_file():
            given += _from_table(_toml(folder / "reprocheck.toml"), folder / "reprocheck.toml", cwd)
            break
    return given


def _pyproject_table(path: Path) -> dict[str, object] | None:
    """`[tool.reprocheck]` of a pyproject.toml, None where it has none; a file that does not mention it is not even parsed."""
    try:
        if b"reprocheck" not in path.read_bytes():
            return None
    except OSError:
        return None
    tool = _toml(path).get("tool")
    table = tool.get("reprocheck") if isinstance(tool, dict) else None
    return table if isinstance(table, dict) else None


def _toml(path: Path) -> dict[str, object]:
    import tomllib

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise SettingsError(f"{path} is not valid TOML: {error}.", "Correct that line.") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.", "Make it readable, or remove it.") from None


def _from_table(table: Mapping[str, object], path: Path, cwd: Path) -> list[_Given]:
    by_key = {option.key: option for option in OPTIONS}
    shown = path.name if path.parent == cwd else str(path)
    given: dict[str, _Given] = {}
    for key, value in table.items():
        option = by_key.get(key.replace("_", "-"))
        if option is None:
            raise SettingsError(f"{shown}: there is no setting {key!r}.", _did_you_mean(nearest(key, by_key)))
        if option.name in given:
            raise SettingsError(f"{shown}: {option.key} stands there twice, as {option.key} and {option.name}.", "Remove one.")
        place = f"{shown}: {key} = {_as_toml(value)}"
        given[option.name] = _Given(option=option, value=value, origin=shown, place=place, folder=path.parent)
    return list(given.values())


def _as_toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return f'"{value}"' if isinstance(value, str) else str(value)


def _did_you_mean(name: str, otherwise: str = "") -> str:
    listed = "`reprocheck config` lists all settings."
    meant = f"Did you mean {name}?" if name else otherwise and f"Remove it: {otherwise}."
    return f"{meant} {listed}".strip()
