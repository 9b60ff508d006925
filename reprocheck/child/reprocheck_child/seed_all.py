"""`reprocheck.seed_all`: every seed and switch that fixes randomness, in one call.

Standard library only, and whatever frameworks the script has imported: none is imported here.
Python 3.9 and later, in any interpreter.
"""

from __future__ import annotations

import operator
import os
import random
import sys
import warnings
from dataclasses import dataclass

from .recorder import json_text, registry

TYPE_CHECKING = False  # importing `typing` would cost a process 10 ms
if TYPE_CHECKING:
    from typing import Any, Callable, Mapping

LIMIT = 1 << 32
"""Seeds are below it: numpy and the datasets of MindSpore take no larger ones."""
HASH_SEED = "PYTHONHASHSEED"
_TABLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "shared", "relations.json")


@dataclass(frozen=True)
class Seeded:
    """The account of what `seed_all` did.

    Attributes:
        seed: As it was given, 0 to 4294967295.
        mode: As it was given: whether deterministic algorithms were asked for.
        done: Calls made and values set, in order, as one would write them.
        too_late: What was set and cannot act any more in this process, each with the reason.
        kept: Environment variables with a value of the user's that contradicts; they were left
            alone.
        absent: Frameworks that are not imported, and devices that the framework was built without:
            nothing was set for them.
        failed: What could not be set, each with the error.
        advice: What no global seed reaches.

    Examples:
        >>> done = reprocheck.seed_all(1234)
        >>> done.seed, "random.seed(1234)" in done.done
        (1234, True)
    """

    seed: int
    mode: bool
    done: tuple[str, ...]
    too_late: tuple[str, ...]
    kept: tuple[str, ...]
    absent: tuple[str, ...]
    failed: tuple[str, ...]
    advice: tuple[str, ...]

    def __str__(self) -> str:
        """Return one line for each entry of the account."""
        rows = [
            ("done", self.done),
            ("too late", self.too_late),
            ("kept", self.kept),
            ("failed", self.failed),
            ("advice", self.advice),
            ("absent", tuple(filter(None, [", ".join(self.absent)]))),  # in one line
        ]
        return "\n".join("%-9s %s" % (label, text) for label, texts in rows for text in texts)


def seed_all(seed: int = 1234, mode: bool = False) -> Seeded:
    """Fix the randomness of this process, for the frameworks that are imported.

    Call it after the imports, before anything draws.

    Args:
        seed: A whole number from 0 to 4294967295.
        mode: Also deterministic algorithms, which are slower, and their environment variables.

    Returns:
        What was set, what came too late to matter here, and what was not there. A switch that a
        framework's version lacks is among what failed, and is not raised.

    Raises:
        ValueError: For another seed or mode.

    Examples:
        >>> print(reprocheck.seed_all(1234, mode=True))
        done      os.environ['PYTHONHASHSEED'] = '1234'
        ...
    """
    setter = Setter(_seed(seed), _mode(mode))
    _seed_python(setter)
    if mode:
        _set_environment(setter)
    frameworks = [framework for framework in registry.FRAMEWORKS if framework.seeding]
    for framework in frameworks:
        module = sys.modules.get(framework.name)
        if module is None:
            setter.absent.append(framework.name)
        else:
            registry.found(framework.seeding)(setter, module)
    if not any(framework.name in sys.modules for framework in frameworks):
        warnings.warn(
            "seed_all: no framework is imported yet, so only `random` is seeded; call it after the"
            " imports",
            stacklevel=2,
        )
    return setter.answer()


def _seed(seed: object) -> int:
    try:
        if isinstance(seed, bool):
            raise TypeError
        number = operator.index(seed)  # type: ignore[arg-type]
    except TypeError:
        raise ValueError(
            "seed must be a whole number from 0 to %d, not %r" % (LIMIT - 1, seed)
        ) from None
    if not 0 <= number < LIMIT:
        raise ValueError("seed must be from 0 to %d, not %d" % (LIMIT - 1, number))
    return number


def _mode(mode: object) -> bool:
    if not isinstance(mode, (bool, int)) or mode not in (0, 1):
        raise ValueError("mode must be True or False, not %r" % (mode,))
    return bool(mode)


class Setter:
    """Make calls and set values, and keep an account of both."""

    def __init__(self, seed: int, mode: bool) -> None:
        self.seed = seed
        self.mode = mode
        self.done: list[str] = []
        self.too_late: list[str] = []
        self.kept: list[str] = []
        self.absent: list[str] = []
        self.failed: list[str] = []
        self.advice: list[str] = []

    def call(self, text: str, function: Callable[[], Any], *arguments: Any) -> bool:
        """Call `function()(*arguments)`, which the account shows as `text`.

        An error is kept in the account, because a version may lack the function.
        """
        try:
            function()(*arguments)
        except Exception as error:
            self.failed.append("%s: %s: %s" % (text, type(error).__name__, error))
            return False
        self.done.append(text)
        return True

    def put(self, text: str, holder: Callable[[], Any], name: str, value: object) -> None:
        """Set an attribute that must exist already."""

        def assign() -> None:
            owner = holder()
            getattr(owner, name)
            setattr(owner, name, value)

        self.call(text, lambda: assign)

    def answer(self) -> Seeded:
        """Return the account."""
        return Seeded(
            seed=self.seed,
            mode=self.mode,
            done=tuple(self.done),
            too_late=tuple(self.too_late),
            kept=tuple(self.kept),
            absent=tuple(self.absent),
            failed=tuple(self.failed),
            advice=tuple(self.advice),
        )


def _seed_python(setter: Setter) -> None:
    at_start = _environment_at_start().get(HASH_SEED, "")
    os.environ[HASH_SEED] = str(setter.seed)
    setter.done.append("os.environ['%s'] = '%d'" % (HASH_SEED, setter.seed))
    if sys.flags.hash_randomization and not at_start.isdigit():
        setter.too_late.append(
            "%s reaches only processes that start from now on: the string hashes of this one are"
            " random already. Set it before Python starts: export %s=%d"
            % (HASH_SEED, HASH_SEED, setter.seed)
        )
    setter.call("random.seed(%d)" % setter.seed, lambda: random.seed, setter.seed)


def _environment_at_start() -> Mapping[str, str]:
    """Return the environment variables with which this process was started.

    They are the present ones where the system does not say.
    """
    try:
        with open("/proc/self/environ", "rb") as file:
            pairs = os.fsdecode(file.read()).split("\0")
    except OSError:
        return os.environ
    return dict(pair.split("=", 1) for pair in pairs if "=" in pair)


def _set_environment(setter: Setter) -> None:
    """Set the environment variables of the control `deterministic`.

    A user's value that serves as well stays; one that contradicts stays and is listed.
    """
    with open(_TABLE, encoding="utf-8") as file:
        table: list[dict[str, Any]] = json_text.loads(file.read())
    row = next(row for row in table if row["name"] == "deterministic")
    accepts, at_start = row.get("accepts", {}), _environment_at_start()
    for variable, value in row["environment"].items():
        if variable.startswith("TF_") and "tensorflow" not in sys.modules:
            continue  # unseeded random operators raise under it
        serving = (value.lower(), *accepts.get(variable, ()))
        present = os.environ.get(variable, "")
        if present and present.lower() not in serving:
            setter.kept.append(
                "%s=%s, where deterministic computing needs %s" % (variable, present, value)
            )
            continue
        if not present:
            os.environ[variable] = value
            setter.done.append("os.environ[%r] = %r" % (variable, value))
        reason = "" if at_start.get(variable, "").lower() in serving else _too_late(variable)
        if reason:
            setter.too_late.append(
                "%s: %s. Set it before Python starts: export %s=%s"
                % (variable, reason, variable, value)
            )


def _too_late(variable: str) -> str:
    """Return why setting a variable now has no effect in this process; "" if it has one."""
    family = variable.partition("_")[0]
    torch = sys.modules.get("torch")
    if family == "CUBLAS" and yes(lambda: torch.cuda.is_initialized()):  # type: ignore[union-attr]
        return "CUDA is initialised, and cuBLAS reads it when it takes its workspace"
    communicates = yes(lambda: torch.distributed.is_initialized()) or yes(_mindspore_communicates)  # type: ignore[union-attr]
    if family in ("NCCL", "HCCL", "LCCL") and communicates:
        return "the communicator exists, and reads it when it is made"
    if family in ("LCCL", "TE", "CLOSE", "ATB") and yes(lambda: torch.npu.is_initialized()):  # type: ignore[union-attr]
        return "the NPU is initialised"
    if family in ("FLASH", "MAMBA", "NVTE"):
        packages = {
            "FLASH": ("flash_attn",),
            "MAMBA": ("mamba_ssm",),
            "NVTE": ("transformer_engine",),
        }[family]
        if any(name in sys.modules for name in packages):
            return "%s is imported, and may have read it" % packages
    return ""


def _mindspore_communicates() -> bool:
    return bool(sys.modules["mindspore.communication._comm_helper"].GlobalComm.INITED)


def yes(question: Callable[[], Any]) -> bool:
    """Return whether a framework answers a question with yes; False if its version lacks it."""
    try:
        return bool(question())
    except Exception:  # not imported, or a version without it
        return False


def seed_numpy(setter: Setter, numpy: Any) -> None:
    setter.call("numpy.random.seed(%d)" % setter.seed, lambda: numpy.random.seed, setter.seed)
