"""The options of a check in one table, with what each takes.

Imports errors, model and the table of controls.

`docs/reference/settings.md` is checked against `OPTIONS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from reprocheck.errors import SettingsError
from reprocheck.settings import controls

PREFIX = "REPROCHECK_"
BOUND = 1e-3
"""Both bounds of the criterion where none are given: those of `model.Tolerance`."""
SEED_LIMIT = 1 << 32
"""Seeds are below it: neither Python's hash seed nor NumPy takes larger ones."""

Parser = Callable[[object], object]
"""Turns what a source says (text, or a TOML value) into the setting's value; raises ValueError
where it cannot.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Option:
    """One setting. Flag, environment variable and settings file key follow from `name`; `allowed`
    says what `parse` takes.
    """

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


# ------------------------------------------------------------------------------------------ parsers


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
    words = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    if not isinstance(value, str) or value.lower() not in words:
        raise ValueError
    return words[value.lower()]


FAIL_ON = ("checks", "any-iteration", "bitwise", "series:NAME")
"""As `reprocheck.model.FAIL_ON`, which `--help` does not load."""


LANGUAGES = ("en", "zh")
"""As `reprocheck.language.LANGUAGES`, which `--help` does not load."""


def _rules(value: object) -> object:
    """Rules of `--fail-on`: text with commas between them, or a list."""
    from reprocheck.model import is_rule, rules_of

    words = value if isinstance(value, (list, tuple)) else [value]
    if not words or not all(isinstance(word, str) for word in words):
        raise ValueError
    rules = [rule for word in words for rule in rules_of(str(word))]
    if not all(map(is_rule, rules)):
        raise ValueError
    return ",".join(rules)


def _text(value: object) -> object:
    if not isinstance(value, (str, Path)) or not str(value).strip() or "\0" in str(value):
        raise ValueError
    return str(value)


def _names(value: object) -> object:
    """Names of controls: a list, or text with commas between them; "none" or an empty list for
    none.
    """
    words = value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(word, str) for word in words):
        raise ValueError
    names = [name.strip() for word in words for name in str(word).split(",")]
    known = [found.name for found in controls.table()]
    for name in names:
        if name not in known and name != "none":
            meant = nearest(name, known)
            raise SettingsError(
                f"There is no control {name!r}.",
                f"{f'Did you mean {meant}? ' if meant else ''}The controls are {', '.join(known)}.",
            )
    return controls.ordered(name for name in names if name != "none")


def _seed(value: object) -> object:
    number = _whole(0, word="none")(value)
    if isinstance(number, int) and number >= SEED_LIMIT:
        raise ValueError
    return number


def _folder(value: object) -> object:
    return Path(str(_text(value))).expanduser()


# ---------------------------------------------------------------------------------------- the table


def _option(
    name: str, default: object, type: str, metavar: str, parse: Parser, allowed: str, help: str
) -> Option:
    return Option(
        name=name,
        default=default,
        type=type,
        metavar=metavar,
        parse=parse,
        allowed=allowed,
        help=help,
    )


def _one_of(name: str, choices: tuple[str, ...], help: str) -> Option:
    allowed = "one of " + ", ".join(choices) if len(choices) > 1 else choices[0]
    plain_option = _option(
        name, choices[0], "choice", "|".join(choices), _choice(*choices), allowed, help
    )
    return replace(plain_option, choices=choices)


def _off(name: str, help: str, *, short: str = "") -> Option:
    return replace(_option(name, False, "switch", "", _switch, "true or false", help), short=short)


def _on(name: str, help: str) -> Option:
    return _option(name, True, "switch", "", _switch, "true or false", help)


_TOLERANCE = "a finite number, 0 or more"
_FROM_ONE = "a whole number, 1 or more"

OPTIONS: tuple[Option, ...] = (
    _option(
        "runs",
        2,
        "integer",
        "N",
        _whole(2),
        "a whole number, 2 or more",
        "How often the script is run. Run 1 is the reference.",
    ),
    _option(
        *("steps", 10, "integer", "N|all", _whole(1, word="all"), f"{_FROM_ONE}, or all"),
        help="Stop each run after N iterations; all: the whole training.",
    ),
    _option(
        *("rtol", BOUND, "number", "X", _number(zero=True), _TOLERANCE),
        help="Relative tolerance: |a - b| <= atol + rtol*|b|, b of run 1.",
    ),
    _option(
        "atol",
        BOUND,
        "number",
        "X",
        _number(zero=True),
        _TOLERANCE,
        "Absolute tolerance.",
    ),
    _option(
        *(
            "timeout",
            None,
            "number",
            "SECONDS|none",
            _number(zero=False, word="none"),
            "a number of seconds above 0, or none",
        ),
        help="End a run that takes longer.",
    ),
    _one_of(
        "workdir",
        ("inplace", "copy"),
        "Where runs work: the working directory itself, or a copy of it for each run.",
    ),
    _option(
        "output",
        Path("reports"),
        "path",
        "FOLDER",
        _folder,
        "the path of a folder",
        "Folder in which each check makes its report folder.",
    ),
    _option(
        *("keep", None, "integer", "N|all", _whole(1, word="all"), f"{_FROM_ONE}, or all"),
        help="Keep the newest N report folders of this entry point, remove older ones.",
    ),
    replace(
        _option(
            *("fail_on", FAIL_ON[0], "text", "RULE", _rules),
            allowed=f"one of {', '.join(FAIL_ON)}, or several with a comma between them",
            help=(
                "What else fails the check: a difference in any recorded iteration (any-iteration),"
                " in any bit (bitwise), or in a series beside the loss (series:NAME); several with"
                " commas between them."
            ),
        ),
        choices=FAIL_ON,
    ),
    _option(
        *("python", None, "text", "PATH", _text, "the path or name of a Python interpreter"),
        help="Interpreter that runs the script; reprocheck need not be installed in it.",
    ),
    _off("show_output", "Show what the script prints while it runs."),
    _option(
        "jobs",
        1,
        "integer",
        "N",
        _whole(1),
        _FROM_ONE,
        "Runs side by side; more than 1 needs --workdir copy.",
    ),
    _off(
        "jobs_on_accelerator",
        "Allow --jobs above 1 where an accelerator is visible; runs that share one can disturb each"
        " other.",
    ),
    _one_of(
        *("level", ("auto", "loss", "module", "op")),
        help=(
            "What is recorded. loss: the losses alone; auto: also weights, batches, modules and"
            " gradients of the first iterations, to explain a check that fails; module and op: to"
            " show where the runs first differ even when the check passes, op with every operator."
        ),
    ),
    _on(
        "draw",
        "Draw the page, the charts and the tables. Without them report.json is still written, and"
        " `reprocheck report` draws the rest later.",
    ),
    _on(
        "explain",
        "Find where and why the runs of a failed check diverge, with further runs where they are"
        " needed.",
    ),
    replace(
        _option(
            *("control", (), "list", "NAME", _names, "names of controls, or none"),
            help=(
                "Run under this control, which removes one source of differences; may be given"
                " several times."
            ),
        ),
        choices=tuple(found.name for found in controls.table()),
    ),
    _option(
        "seed",
        None,
        "integer",
        "N|none",
        _seed,
        f"a whole number from 0 to {SEED_LIMIT - 1}",
        "Seed every generator with N (the control seed).",
    ),
    _off(
        "deterministic",
        "Ask the framework for deterministic algorithms (the control deterministic).",
    ),
    _off("no_dropout", "Turn dropout off (the control dropout-off)."),
    _off("all_controls", "Run under every control that does not alter the training."),
    _off("quiet", "No progress; the verdict in one line.", short="-q"),
    _off(
        "verbose",
        "All details on the terminal, and tracebacks of reprocheck's own errors.",
        short="-v",
    ),
    _one_of("color", ("auto", "always", "never"), "Colour in the terminal."),
    _one_of("lang", LANGUAGES, "Language of the reports and of what is printed."),
)


def nearest(name: str, names: Iterable[str]) -> str:
    """The name that looks most like `name`, or an empty string."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(names), n=1, cutoff=0.5)), "")
