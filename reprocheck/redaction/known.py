"""What is the sender's own: values of arguments and of environment variables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain

from reprocheck.model import Check
from reprocheck.redaction.lists import VARIABLE
from reprocheck.redaction.shapes import shape


def known_values(check: Check) -> Iterator[str]:
    """Values that the sender gave the training: text, no numbers and no options."""
    yield from _of_arguments(check)
    for environment in _environments(check):
        yield from _of_variables(environment)


def _of_arguments(check: Check) -> Iterator[str]:
    for command in _commands(check):
        words = command[1:]
        behind_equals = (word.partition("=")[2] for word in words)
        for value in chain(words, behind_equals):
            if shape(value) in ("<text>", "<path>") and value[0] != "-":
                yield value


def _commands(check: Check) -> Iterator[Sequence[str]]:
    """What was started, and what that started."""
    yield check.record.entry_point.command
    for side in check.record.compared:
        yield side.entry_point.command
    for run in check.runs:
        yield from (process.argv for process in run.processes)


def _environments(check: Check) -> Iterator[Mapping[str, object]]:
    yield check.record.environment
    yield from (side.environment for side in check.record.compared)
    yield from (run.environment for run in check.runs)
    yield from (trace.environment for trace in check.traces)
    for differing in check.environment_differences:
        yield {differing.key: differing.reference}
        yield {differing.key: differing.value}


def _of_variables(environment: Mapping[str, object]) -> Iterator[str]:
    for key in filter(_is_variable, environment):
        value = str(environment[key])
        if shape(value) != value:
            yield value


def _is_variable(key: str) -> bool:
    return key.startswith(VARIABLE)
