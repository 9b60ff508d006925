"""The options of a check in one table, with what each takes.

Imports errors, model and the table of controls.

`docs/reference/settings.md` is checked against `OPTIONS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from reprocheck.errors import SettingsError
from reprocheck.settings import controls, must_differ, variations

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
class Kind:
    """Describe the values that an option takes; `allowed` names them in words."""

    type: str
    metavar: str
    allowed: str
    parse: Parser
    choices: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Option:
    """Describe one setting.

    Its flag, environment variable and settings file key follow from `name`.
    """

    name: str
    default: object
    kind: Kind
    help: str
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


def _whole(minimum: int, *, word: str = "") -> Kind:
    """Return the kind of a whole number of at least `minimum`.

    word  a word that is allowed instead of a number and stands for None, such as `all`
    """

    def parse(value: object) -> object:
        if word and (value is None or value == word):
            return None
        if isinstance(value, bool) or not isinstance(value, (int, str)):
            raise ValueError
        number = int(value)
        if number < minimum:
            raise ValueError
        return number

    metavar, allowed = "N", f"a whole number, {minimum} or more"
    if word:
        metavar, allowed = f"N|{word}", f"{allowed}, or {word}"
    return Kind(type="integer", metavar=metavar, allowed=allowed, parse=parse)


def _number(metavar: str, allowed: str, *, zero: bool, word: str = "") -> Kind:
    """Return the kind of a finite number above 0.

    zero  whether 0 is allowed, too
    word  a word that is allowed instead of a number and stands for None
    """

    def parse(value: object) -> object:
        if word and (value is None or value == word):
            return None
        if isinstance(value, bool) or not isinstance(value, (int, float, str)):
            raise ValueError
        number = float(value)
        if not math.isfinite(number) or number < 0 or (number == 0 and not zero):
            raise ValueError
        return number

    return Kind(type="number", metavar=metavar, allowed=allowed, parse=parse)


def _one_of(*choices: str) -> Kind:
    def parse(value: object) -> object:
        if value not in choices:
            raise ValueError
        return value

    allowed = f"one of {', '.join(choices)}"
    metavar = "|".join(choices)
    return Kind(type="choice", metavar=metavar, allowed=allowed, parse=parse, choices=choices)


def _switch(value: object) -> object:
    """Read true or false of a TOML file, or a word such as `yes` or `0` of a variable."""
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


Draw = bool | Literal["failure"]
"""When pictures are drawn: always, or where a check fails. With False report.json alone is
written.
"""


def _draw(value: object) -> object:
    return value if value == "failure" else _switch(value)


FAIL_ON = ("checks", "any-iteration", "bitwise", "mirrors", "series:NAME")
"""As `reprocheck.model.FAIL_ON`, which `--help` does not load."""


LANGUAGES = ("en", "zh")
"""As `reprocheck.language.LANGUAGES`, which `--help` does not load."""


def _rules(value: object) -> object:
    """Read the rules of `--fail-on`: a list, or text with commas between the rules."""
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
    """Read names of controls: a list, or text with commas between the names.

    The word "none" or an empty list stands for no control.
    """
    words = value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(word, str) for word in words):
        raise ValueError
    names = [name.strip() for word in words for name in str(word).split(",")]
    known = [row.name for row in controls.table()]
    for name in names:
        if name not in known and name != "none":
            meant = nearest(name, known)
            raise SettingsError(
                f"There is no control {name!r}.",
                f"{f'Did you mean {meant}? ' if meant else ''}The controls are {', '.join(known)}.",
            )
    return controls.ordered(name for name in names if name != "none")


def _variations(value: object) -> object:
    """Read names of variations: a list, or text with commas between the names.

    True stands for the default set, False for none, as in a settings file.
    """
    if value is True or str(value).lower() in ("1", "true", "yes", "on"):
        return variations.named([variations.DEFAULT])
    if value is False or str(value).lower() in ("0", "false", "no", "off"):
        return ()
    words = value if isinstance(value, (list, tuple)) else [value]
    if not all(isinstance(word, str) for word in words):
        raise ValueError
    names = [name.strip() for word in words for name in str(word).split(",")]
    known = [*(row.name for row in variations.table()), *variations.SETS]
    for name in names:
        if name not in known:
            meant = nearest(name, known)
            raise SettingsError(
                f"There is no variation {name!r}.",
                f"{f'Did you mean {meant}? ' if meant else ''}The variations are"
                f" {', '.join(known)}.",
            )
    return variations.named(names)


def _seed(value: object) -> object:
    number = _whole(0, word="none").parse(value)
    if isinstance(number, int) and number >= SEED_LIMIT:
        raise ValueError
    return number


def _folder(value: object) -> object:
    return Path(str(_text(value))).expanduser()


_SWITCH = Kind(type="switch", metavar="", allowed="true or false", parse=_switch)
_DRAW = Kind(type="switch", metavar="", allowed="true, false or failure", parse=_draw)
_COUNT = _whole(1, word="all")
_TOLERANCE = _number("X", "a finite number, 0 or more", zero=True)
_SECONDS = _number("SECONDS|none", "a number of seconds above 0, or none", zero=False, word="none")
_FOLDER = Kind(type="path", metavar="FOLDER", allowed="the path of a folder", parse=_folder)
_INTERPRETER = Kind(
    type="text", metavar="PATH", allowed="the path or name of a Python interpreter", parse=_text
)
_SEED = Kind(
    type="integer",
    metavar="N|none",
    allowed=f"a whole number from 0 to {SEED_LIMIT - 1}",
    parse=_seed,
)
_RULES = Kind(
    type="text",
    metavar="RULE",
    allowed=f"one of {', '.join(FAIL_ON)}, or several with a comma between them",
    parse=_rules,
    choices=FAIL_ON,
)
_CONTROLS = Kind(
    type="list",
    metavar="NAME",
    allowed="names of controls, or none",
    parse=_names,
    choices=tuple(known.name for known in controls.table()),
)
VARIATIONS = "NAMES"
"""What stands for names of variations in help."""
_VARIATIONS = Kind(
    type="list",
    metavar=VARIATIONS,
    allowed="names of variations, default, all or none",
    parse=_variations,
    choices=(*variations.SETS, *(known.name for known in variations.table())),
)

OPTIONS: tuple[Option, ...] = (
    Option("runs", 2, _whole(2), "How often the script is run. Run 1 is the reference."),
    Option("steps", 10, _COUNT, "Stop each run after N iterations; all: the whole training."),
    Option(
        "rtol", BOUND, _TOLERANCE, "Relative tolerance: |a - b| <= atol + rtol*|b|, b of run 1."
    ),
    Option("atol", BOUND, _TOLERANCE, "Absolute tolerance."),
    Option("timeout", None, _SECONDS, "End a run that takes longer."),
    Option(
        "workdir",
        "inplace",
        _one_of("inplace", "copy"),
        "Where runs work: the working directory itself, or a copy of it for each run.",
    ),
    Option(
        "output", Path("reports"), _FOLDER, "Folder in which each check makes its report folder."
    ),
    Option(
        "keep",
        None,
        _COUNT,
        "Keep the newest N report folders of this entry point, remove older ones.",
    ),
    Option(
        "fail_on",
        FAIL_ON[0],
        _RULES,
        "What else fails the check: a difference in any recorded iteration (any-iteration),"
        " in any bit (bitwise), or in a series beside the loss (series:NAME); what should differ"
        " inside one run and is the same (mirrors); several with commas between them.",
    ),
    Option(
        "python",
        None,
        _INTERPRETER,
        "Interpreter that runs the script; reprocheck need not be installed in it.",
    ),
    Option("show_output", False, _SWITCH, "Show what the script prints while it runs."),
    Option("jobs", 1, _whole(1), "Runs side by side; more than 1 needs --workdir copy."),
    Option(
        "jobs_on_accelerator",
        False,
        _SWITCH,
        "Allow --jobs above 1 where an accelerator is visible; runs that share one can disturb"
        " each other.",
    ),
    Option(
        "level",
        "auto",
        _one_of("auto", "loss", "module", "op"),
        "What is recorded. loss: the losses alone; auto: also weights, batches, modules and"
        " gradients of the first iterations, to explain a check that fails; module and op: to"
        " show where the runs first differ even when the check passes, op with every operator.",
    ),
    Option(
        "draw",
        "failure",
        _DRAW,
        "Draw loss.png, loss.svg and difference.png also where the check passes; --no-draw: write"
        " report.json alone. `reprocheck report` draws the rest later.",
    ),
    Option(
        "explain",
        True,
        _SWITCH,
        "Find where and why the runs of a failed check diverge, with further runs where they"
        " are needed.",
    ),
    Option(
        "max_runs",
        None,
        _whole(2, word="all"),
        "End the search of `reprocheck explain` after N further runs; it says what is known then.",
    ),
    Option(
        "control",
        (),
        _CONTROLS,
        "Run under this control, which removes one source of differences; may be given several"
        " times.",
    ),
    Option("seed", None, _SEED, "Seed every generator with N (the control seed)."),
    Option(
        "deterministic",
        False,
        _SWITCH,
        "Ask the framework for deterministic algorithms (the control deterministic).",
    ),
    Option("no_dropout", False, _SWITCH, "Turn dropout off (the control dropout-off)."),
    Option(
        "all_controls", False, _SWITCH, "Run under every control that does not alter the training."
    ),
    Option(
        "vary",
        (),
        _VARIATIONS,
        "Give the second run other values of what must not matter: the order of folders, the hour,"
        " the path and more; NAMES, with commas between them, where not the default set is meant.",
    ),
    Option("vary_not", (), _VARIATIONS, "Leave this variation out; may be given several times."),
    Option(
        "vary_seed",
        None,
        _SEED,
        "Number that decides the values of the variations from run 3 on; none: a new one each"
        " time, which is printed.",
    ),
    Option(
        "must_differ",
        must_differ.NONE,
        _one_of(must_differ.NONE, *(row.name for row in must_differ.table())),
        "Make one more run with another seed, which must have other losses; {seed} in the command"
        " stands for the seed.",
    ),
    Option("quiet", False, _SWITCH, "No progress; the verdict in one line.", short="-q"),
    Option(
        "verbose",
        False,
        _SWITCH,
        "All details on the terminal, and tracebacks of reprocheck's own errors.",
        short="-v",
    ),
    Option("color", "auto", _one_of("auto", "always", "never"), "Colour in the terminal."),
    Option("lang", "en", _one_of(*LANGUAGES), "Language of the reports and of what is printed."),
)


def nearest(name: str, names: Iterable[str]) -> str:
    """Return the known name that is spelled most like `name`; "" if none is similar."""
    from difflib import get_close_matches

    return next(iter(get_close_matches(name, list(names), n=1, cutoff=0.5)), "")
