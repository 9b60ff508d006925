"""The environment key of a check, and the facts beside it.

In the key stands what may change numbers without a fault of anybody's, so that curves of another
key are not held against each other as if they were to agree:

framework  its name and version: a release changes kernels and defaults. Where the training uses
           none, NumPy; where it does not use that either, Python
device     the model of the accelerators that the training uses, else of the processor: kernels,
           widths of vectors and orders of sums are chosen by it
driver     of these accelerators, and CANN: it holds compilers and libraries of kernels
ranks      sums over ranks are added in another order
threads    sums over threads are added in another order
options    of the target: its arguments and variables, the number of iterations, controls
resume     of a check of a resume: where it stops, and how it goes on
digest of what is masked  of options and resume as they were typed, where a part of them is masked

Everything else (packages, variables, the kernel, the host's C library) is kept beside the key: it
is not to change numbers, and where numbers move it is what is looked at.
"""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache

from reprocheck.errors import UsageError
from reprocheck.model import FRAMEWORKS
from reprocheck.redaction import COMMANDS, MARKS, Redaction, identity, unmask
from reprocheck.settings import OPTIONS, plain
from reprocheck.suite.execution.job import option_words, resume_words
from reprocheck.suite.model import Key
from reprocheck.suite.target import Target

INSTEAD = ("numpy", "python")
"""What a training that uses none of them computes with."""
ACCELERATORS = ("torch.cuda.devices", "torch.npu.devices")
"""Facts with the models of all visible devices, a comma between them."""
DRIVERS = ("driver.nvidia", "driver.ascend", "torch.cuda.driver", "cann.version")
THREADS = ("torch.threads", "variable.OMP_NUM_THREADS", "cpu.usable")
"""Facts that say how many threads compute, the best one first."""
_OF_COMMIT = "git."
CHANGING = ("steps", "control", "seed", "deterministic", "no_dropout", "all_controls", "python")
"""Options of `run` that may change numbers."""
DIGEST = "digest of what is masked"
SALT, ROUNDS = b"reprocheck: environment key", 200_000
_FLAGS = {option.flag: option for option in OPTIONS if option.name in CHANGING}
_VARIABLE = re.compile(r"[^=/-][^=/]*=")


def key_of(
    facts: Mapping[str, str], ranks: int, settings: Mapping[str, object], target: Target
) -> Key:
    """Return the key of a check that was made of a target under these settings.

    facts  what its first run recorded of its environment
    """
    found = {
        **_frameworks(facts),
        "device": _device(facts),
        "driver": ", ".join(facts[name] for name in DRIVERS if name in facts),
        "ranks": str(ranks or 1),
        "threads": next((facts[name] for name in THREADS if name in facts), ""),
        "options": as_held(settings, target).text,
        "resume": shlex.join(resume_words(target.resume or {})),
    }
    return Key(facts=masked({name: value for name, value in found.items() if value}))


def masked(facts: Mapping[str, str]) -> dict[str, str]:
    """Mask secrets in the command of an environment key's facts, as `run` masks them.

    A digest stands for the masked text, so that checks of the same command share a key; facts that
    are masked already stay as they are.
    """
    redaction = Redaction("folder", identity=identity())
    given = {name: facts[name] for name in COMMANDS if name in facts}
    shown = {name: redaction.command(text) for name, text in given.items()}
    if shown == given:
        return dict(facts)
    return {**facts, **shown, DIGEST: _slow_digest(json.dumps(given, sort_keys=True))}


@cache
def _slow_digest(text: str) -> str:
    """Return 16 hexadecimal digits of a hash slow enough that nobody finds a password by trying."""
    return hashlib.pbkdf2_hmac("sha256", text.encode("utf-8", "surrogatepass"), SALT, ROUNDS).hex()[
        :16
    ]


def beside(facts: Mapping[str, str]) -> dict[str, str]:
    """Return the recorded environment facts that are not in the environment key.

    The commit is not among them, because each check has it by itself.
    """
    in_key = {
        *ACCELERATORS,
        *DRIVERS,
        *(f"{name}.version" for name in FRAMEWORKS),
        *(f"package.{name.replace('_', '-')}" for name in FRAMEWORKS),
    }
    return {
        name: value
        for name, value in facts.items()
        if name not in in_key and not name.startswith(_OF_COMMIT)
    }


def _frameworks(facts: Mapping[str, str]) -> dict[str, str]:
    """Return framework name -> version."""
    used = {name: facts[f"{name}.version"] for name in FRAMEWORKS if f"{name}.version" in facts}
    if used:
        return used
    for name in INSTEAD:
        if f"{name}.version" in facts:
            return {name: facts[f"{name}.version"]}
    return {}


def _device(facts: Mapping[str, str]) -> str:
    """Return the device model: `NVIDIA H100`; several models joined by commas."""
    models = [
        model.strip() for name in ACCELERATORS for model in facts.get(name, "").split(",") if model
    ]
    if models:
        return ", ".join(dict.fromkeys(models))
    target = facts.get("mindspore.device_target", "CPU")
    processor = facts.get("cpu.model", "")
    if target == "CPU":
        return processor
    return f"{target}, {processor}"


@dataclass(frozen=True, kw_only=True, slots=True)
class AsRun:
    """Hold the parsed fact `options` of an environment key.

    environment  the variables of the target
    options      settings of `run` that may change numbers, by name, as a settings file has them;
                 those with their defaults are not there
    words        the words after `reprocheck run OPTIONS`: the script and its arguments
    """

    environment: Mapping[str, str]
    options: Mapping[str, object]
    words: tuple[str, ...]

    @property
    def text(self) -> str:
        """Format the fact: `SIZE=2 --steps 20 train.py --lr 0.1`."""
        variables = [f"{name}={value}" for name, value in sorted(self.environment.items())]
        return shlex.join((*variables, *option_words(self.options), *self.words))


def as_run(key: Key) -> AsRun | None:
    """Return the options, variables and words that a check was run with.

    They are read from its key; None if the key does not tell.
    """
    words = deque(shlex.split(key.facts.get("options", "")))
    environment = {}
    while words and _VARIABLE.match(words[0]):
        name, _, value = words.popleft().partition("=")
        environment[name] = value
    options = {}
    while words and words[0] in _FLAGS:
        option = _FLAGS[words.popleft()]
        options[option.name] = True if option.kind.type == "switch" else words.popleft()
    if not words:
        return None
    return AsRun(environment=environment, options=options, words=tuple(words))


def as_typed(was: AsRun, now: AsRun) -> AsRun:
    """Return what a check was made of with what is masked in it as it is typed now.

    Raises UsageError if that is not known: the key holds no secret.
    """
    known = dict(zip(_with_before(as_masked(now).words), now.words, strict=True))
    pairs = zip(_with_before(was.words), was.words, strict=True)
    words = tuple(known.get(pair) or unmask(word, *identity()) for pair, word in pairs)
    shown = as_masked(now).environment
    environment = {
        name: now.environment[name] if shown.get(name) == value else value
        for name, value in was.environment.items()
    }
    for word in (*words, *environment.values()):
        if any(mark in word for mark in MARKS):
            raise UsageError(
                f"What stood in place of {word} in that night is not known: secrets are masked.",
                "Search with the options of a night that has the command as it is now.",
            )
    return replace(was, words=words, environment=environment)


def as_masked(run: AsRun) -> AsRun:
    """Return the options and words of a run with secrets masked, as in the fact of a key."""
    return as_run(Key(facts=masked({"options": run.text}))) or run


def _with_before(words: Sequence[str]) -> list[tuple[str, str]]:
    """Yield each word together with the word before it."""
    return list(zip(("", *words), words, strict=False))


def as_held(settings: Mapping[str, object], target: Target) -> AsRun:
    """Return the options, variables and words that a target is run with.

    They are those under these settings, wherever they were set.
    """
    given = {}
    for option in OPTIONS:
        value = settings.get(option.name)
        if option.name in CHANGING and value != plain(option, option.default):
            given[option.name] = value
    return AsRun(environment=target.environment, options=given, words=target.words)
