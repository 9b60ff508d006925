"""What of a check is the sender's own: values of arguments and variables, folders, its log."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from reprocheck.model import Check, Recorded
from reprocheck.model.evidence import LeftBehind
from reprocheck.redaction import shapes
from reprocheck.redaction.detector import Scanner
from reprocheck.redaction.guard import Level, Redaction
from reprocheck.redaction.lists import VARIABLE

SHORTEST_LINE = 12
"""Letters of a line of a log that is looked for in sentences."""


def redaction_of(
    check: Recorded,
    level: Level,
    *,
    identity: tuple[str, str, str] = ("", "", ""),
    known: Iterable[str] = (),
    scanner: Scanner | None = None,
    strict: bool = False,
    with_log: bool = False,
) -> Redaction:
    """Return the redaction of a check, which knows what of it is the sender's own.

    known   further values that are taken out wherever they stand
    """
    return Redaction(
        level,
        identity=identity,
        known=chain(known, known_values(check)),
        quoted=quoted_lines(check),
        scanner=scanner,
        folders={run.workdir for run in check.runs if run.workdir.count("/")},
        strict=strict,
        with_log=with_log,
    )


def quoted_lines(check: Recorded) -> Iterator[str]:
    """List what sentences of reprocheck can quote of the logs.

    Lines of more than a word, and messages of errors, without their class where they are found
    again without it.
    """
    from reprocheck.redaction.detector import is_telling

    for text in filter(None, _said_by_the_script(check)):
        kind, _, message = text.partition(": ")
        is_error = message and kind.replace(".", "_").isidentifier()
        if is_error:
            yield message
        if not is_error or not is_telling(message):
            yield text


def _said_by_the_script(check: Recorded) -> Iterator[str]:
    for run in check.runs:
        yield from (process.error for process in run.processes)
        lines = map(str.strip, f"{run.stdout_tail}\n{run.stderr_tail}".splitlines())
        yield from (line for line in lines if len(line) >= SHORTEST_LINE and " " in line)
    if not isinstance(check, Check):
        return
    if check.search is not None:
        yield from (one.says for one in check.search.tried)
    if check.first_rung is not None and isinstance(check.first_rung.evidence, LeftBehind):
        yield check.first_rung.evidence.says


def known_values(check: Recorded) -> Iterator[str]:
    """Yield values that the sender gave the training, as arguments and variables.

    Text, no numbers and no options; none that the name of the script or module holds, without which
    nothing runs.
    """
    words = chain.from_iterable(map(shapes.words_of, _commands(check)))
    names = {word.value for word in words if word.kind != "text"}
    values = chain.from_iterable(map(shapes.values_of, _commands(check)))
    facts = chain.from_iterable(facts.items() for facts in _environments(check))
    variables = (str(value) for key, value in facts if key.startswith(VARIABLE))
    texts = (value for value in variables if shapes.shape(value) in ("<text>", "<path>"))
    for value in chain(values, texts):
        if not any(value in name for name in names):
            yield value


def _commands(check: Recorded) -> Iterator[Sequence[str]]:
    """Yield what was started, and what that started."""
    yield check.record.entry_point.command
    yield from (side.entry_point.command for side in check.record.compared)
    processes = chain.from_iterable(run.processes for run in check.runs)
    yield from (process.argv for process in processes)


def _environments(check: Recorded) -> Iterator[Mapping[str, object]]:
    """Yield the environments of all that ran, and what differs between them."""
    yield check.record.environment
    yield from (side.environment for side in check.record.compared)
    yield from (run.environment for run in check.runs)
    for run in check.runs:
        yield from (trace.environment for trace in run.traces)
    for one in check.environment_differences if isinstance(check, Check) else ():
        yield from ({one.key: one.reference}, {one.key: one.value})
