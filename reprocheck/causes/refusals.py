"""Find errors of frameworks that required deterministic operators raise.

The operator and the user's line are read from stderr.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from reprocheck.model import Check, Run, SourceLine
from reprocheck.model.statement import Statement
from reprocheck.model.statements.causes import Circumstance, EndedWith, RefusedOperator
from reprocheck.rules import operators

NO_KERNEL, WORKSPACE, UNSEEDED = (
    "no-deterministic-kernel",
    "cublas-workspace",
    "unseeded-in-deterministic-mode",
)

_TORCH = re.compile(
    r"^RuntimeError: (?P<operator>.+?) does not have a deterministic implementation, but you set",
    re.M,
)
_WORKSPACE = re.compile(r"^RuntimeError: .*CUBLAS_WORKSPACE_CONFIG", re.M)
_UNSEEDED = re.compile(
    r"^(?:[\w.]*Error): .*Random ops require a seed to be set when determinism is enabled", re.M
)
_TENSORFLOW = re.compile(
    r"^(?:tensorflow\.[\w.]*|\w*)(?:Unimplemented|FailedPrecondition)Error:"
    r" (?P<text>.*[Dd]eterminis.*)$",
    re.M,
)
_PATTERNS = (
    (_TORCH, NO_KERNEL, "torch"),
    (_WORKSPACE, WORKSPACE, "torch"),
    (_UNSEEDED, UNSEEDED, "tensorflow"),
    (_TENSORFLOW, NO_KERNEL, "tensorflow"),
)
_TENSORFLOW_NAMES = (
    re.compile(r"implementation (?:of|for) (?P<operator>[A-Za-z][\w.]*)"),
    re.compile(r"\[Op:(?P<operator>\w+)\]"),
    re.compile(r"\{\{node (?:\S*/)?(?P<operator>[A-Za-z]\w*?)(?:_\d+)?\}\}"),
    re.compile(r"^(?P<operator>\w+) cannot be called"),
)
_FRAME = re.compile(
    r'^\s*File "(?P<file>[^"]+)", line (?P<line>\d+), in .*\n(?:\s+(?P<text>(?!File ")\S.*))?', re.M
)
_FOREIGN = re.compile(
    r"(site-packages|dist-packages|/lib/python3|/lib64/python3|<frozen|<string>|reprocheck_child)"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusal:
    """An error that a framework raises in deterministic mode.

    name       the name of the catalogue entry
    operator   the operator as the message names it; "" if the message names none
    framework  the framework that raised the error
    message    the first sentence of the error
    source     the innermost line of the user's code in the traceback; None if there is none
    """

    name: str
    operator: str
    framework: str
    message: str
    source: SourceLine | None

    def statements(self, run: int) -> tuple[Statement, ...]:
        """Return the statements on this error, which ended the run of the given number."""
        statements: list[Statement] = [EndedWith(run=run, message=self.message)]
        if self.operator:
            at = self.source.at if self.source else ""
            statements.append(RefusedOperator(operator=self.operator, source=at))
        for operator in operators.raised(self.operator):
            if self.framework in operator.list.frameworks:
                statements.append(operator)
        if self.source and ".backward(" in self.source.text:
            statements.append(Circumstance(kind="raised in the backward pass"))
        return tuple(statements)


def refusal(check: Check) -> tuple[Run, Refusal] | None:
    """Return the first run that ended with an error of deterministic mode, and the error."""
    for run in check.runs:
        if run.record.ended == "failed" and (found := of_run(run)):
            return run, found
    return None


def of_run(run: Run) -> Refusal | None:
    """Return the error of deterministic mode that ended a run, with files named as in reports."""
    found = parse(run.stderr_tail)
    if found is None or found.source is None:
        return found
    return replace(found, source=replace(found.source, file=run.shown(found.source.file)))


def parse(text: str) -> Refusal | None:
    """Return the error of deterministic mode in the last lines of stderr.

    None for any other error.
    """
    for pattern, name, framework in _PATTERNS:
        errors = list(pattern.finditer(text))
        if not errors:
            continue
        last = errors[-1]
        groups = last.groupdict()
        matches = (one.search(groups.get("text") or "") for one in _TENSORFLOW_NAMES)
        named = (match["operator"].rstrip(".") for match in filter(None, matches))
        line = text[last.start() :].split("\n", 1)[0]
        sentence = re.split(r"(?<=[.'\]])\s", line, maxsplit=1)[0]
        return Refusal(
            name=name,
            operator=groups.get("operator") or next(named, ""),
            framework=framework,
            message=sentence[:300].rstrip(".") + ".",
            source=_own_line(text[: last.start()]),
        )
    return None


def _own_line(text: str) -> SourceLine | None:
    """Return the innermost frame of the last traceback whose file is the user's."""
    traceback = text[text.rfind("Traceback (most recent call last)") + 1 :]
    own = [frame for frame in _FRAME.finditer(traceback) if not _FOREIGN.search(frame["file"])]
    if not own:
        return None
    frame = own[-1]
    return SourceLine(
        file=frame["file"], line=int(frame["line"]), text=(frame["text"] or "").strip()[:200]
    )
