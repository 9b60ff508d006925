"""Compare what two runs were given from outside.

Arguments and environment variables of the training processes, and the files that they read.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, dropwhile, filterfalse, zip_longest
from pathlib import Path

from reprocheck.child.reprocheck_child.shared.variables import is_number_of_the_user
from reprocheck.model import Check, InputFile, Process, Run, Trace
from reprocheck.model.statements.inputs import BY_NUMBER, FileState, Given

VARIABLE = "variable."
"""The keys of environment variables among the facts of a run begin so."""

_NAMES = {
    name: frozenset(words.split())
    for name, words in tomllib.loads(
        Path(__file__).with_name("argument_names.toml").read_text(encoding="utf-8")
    ).items()
}
_NAMING = _NAMES["titles"] | _NAMES["results"]
"""Whole names of what says how a run is called, and where its results go: `--tag`, `--logdir`."""
_NAMING_BEHIND: Mapping[str, frozenset[str]] = {
    **dict.fromkeys(_NAMES["titles"], _NAMES["runs"]),
    **dict.fromkeys(_NAMES["folders"], _NAMES["parts_of_results"]),
}
"""The last part of such a name -> the parts of which one stands before it: `--run-name`,
`--output-dir`.
"""
_SPAWNED = (
    "from multiprocessing.spawn import",
    "from multiprocessing.forkserver import",
    "from multiprocessing.resource_tracker import",
)
_WORDS_OF_STARTERS = {"reprocheck_child.notebook": 2, "reprocheck_child.call": 3}
"""Modules of the recorder that start a notebook or a function -> the number of their words."""
_OF_FILES = frozenset({"", "hyper-parameters", "initial weights", "batch", "loss"})
"""Rungs that may hold what a training reads from files; "" where none of the training is known to
differ.
"""


def given_otherwise(check: Check, below: str = "", loaded: str = "") -> tuple[Given, ...]:
    """Return the input that differs between two runs: arguments, variables, then files.

    Input that only names the run, such as `--run-name`, comes last. Empty if there is no second
    run.

    below   the first rung of the training that differs; files that each run makes itself may hold a
            date, so they are left out unless that rung may hold what is read from files
    loaded  the file that this rung names as loaded with other weights; it is never left out
    """
    if len(check.runs) < 2:
        return ()
    first, second = check.runs[:2]
    read = list(_files(first, second))
    left_out = {one.name for one in read if one.made}
    if below in _OF_FILES:
        left_out &= {loaded}
    read = [one for one in read if one.name not in left_out]
    at_start = list(given_at_start(first, second))
    # two machines: each has variables of its own, which no training reads
    if check.record.compared:
        at_start = [one for one in at_start if one.kind != "variable" or not one.of_one_run]
    given = dict.fromkeys([*at_start, *read])
    return tuple(sorted(given, key=lambda one: one.names_the_run))


def given_at_start(first: Run, second: Run) -> tuple[Given, ...]:
    """Return the arguments, then the variables, that differ between the starts of two runs."""
    return tuple(dict.fromkeys([*_arguments(first, second), *_variables(first, second)]))


def of_the_user(key: str, *values: object) -> bool:
    """Return whether a fact of the environment is a variable that only the user's script reads."""
    name = key.removeprefix(VARIABLE)
    return name != key and any(is_number_of_the_user(name, str(value)) for value in values)


def made_by_each_run(check: Check, path: str) -> bool:
    """Return whether each of two runs made a file itself that both runs loaded.

    Run 1 made the file, and run 2 replaced it, or made it in its own copy of the working directory.
    """
    if len(check.runs) < 2:
        return False
    one, other = (run.record.files for run in check.runs[:2])
    return path in one.created and path in (*other.changed, *other.created)


def _arguments(first: Run, second: Run) -> Iterator[Given]:
    """Yield the arguments that differ, rank by rank."""
    for trace, other in rank_by_rank(first, second):
        unequal = _unequal_words(_words(first, trace), _words(second, other))
        yield from filterfalse(_is_harmless, unequal)


def rank_by_rank(first: Run, second: Run) -> Iterator[tuple[Trace, Trace]]:
    """Return pairs of traces of the same rank, for the ranks that both runs have."""
    others = {trace.rank: trace for trace in second.traces}
    return ((trace, others[trace.rank]) for trace in first.traces if trace.rank in others)


def _words(run: Run, trace: Trace) -> list[str]:
    """Return the arguments after the program on the command line of a training process.

    A spawned process has those of the process that spawned it.
    """
    process = trace.process
    by_pid = {one.pid: one for one in run.processes}
    # each parent is taken once: a number that the system gave twice can make a circle
    while _is_spawned(process) and process.ppid in by_pid:
        process = by_pid.pop(process.ppid)
    if _is_spawned(process):
        return []
    started = list(dropwhile(lambda word: word.startswith("-") and word != "-m", process.argv[1:]))
    own_words = 1
    if started[:1] == ["-m"]:
        module = "".join(started[1:2])
        own_words = 2 + _WORDS_OF_STARTERS.get(module, 0)
    words = []
    for word in started[own_words:]:
        # each run may have had a copy of the working directory of its own
        key, sign, value = word.rpartition("=")
        if value.startswith(("/", "~")):
            value = run.shown(value)
        words.append(f"{key}{sign}{value}")
    return words


def _is_spawned(process: Process) -> bool:
    words = "\n".join(process.argv)
    return any(text in words for text in _SPAWNED)


def _unequal_words(one: Sequence[str], other: Sequence[str]) -> Iterator[Given]:
    before = ""
    for number, (word, another) in enumerate(zip_longest(one, other), start=1):
        if word != another:
            name, first, second = _named(before, word, another, number)
            yield Given(
                kind="argument",
                name=name,
                first=first,
                second=second,
                names_the_run=names_the_run(name),
            )
        before = word


def _named(
    before: str, word: str | None, another: str | None, number: int
) -> tuple[str, str | None, str | None]:
    """Return the name of an argument and its value in each run.

    Known forms are `--seed 3`, `--seed=3` and `seed=3`; another word is named by its position.
    """
    if word is None or another is None:
        return f"{BY_NUMBER}{number}", word, another
    key, sign, value = word.partition("=")
    other_key, other_sign, other_value = another.partition("=")
    if sign and (key, sign) == (other_key, other_sign):
        return key, value, other_value
    behind_option = before.startswith("-") and "=" not in before
    if behind_option and not word.startswith("--"):
        return before, word, another
    return f"{BY_NUMBER}{number}", word, another


def _is_harmless(argument: Given) -> bool:
    parts = _parts(argument.name)
    of_launchers = "_".join(parts) in _NAMES["of_launchers"]
    of_launchers = of_launchers or not _NAMES["parts_of_launchers"].isdisjoint(parts)
    # one that a run was not given at all is no path
    values = map(str, (argument.first, argument.second))
    folders = ("/tmp/", "/var/tmp/", "/dev/shm/", "/run/")
    temporary = all(value.startswith(folders) for value in values)
    return of_launchers or temporary


def names_the_run(name: str) -> bool:
    """Return whether an argument or variable only names the run or the place of its results.

    Such a value changes no number by itself.
    """
    *before, last = _parts(name)
    joined = "_".join([*before, last])
    if joined in _NAMING:
        return True
    stand_before = _NAMING_BEHIND.get(last, frozenset())
    return not stand_before.isdisjoint(before)


def _parts(name: str) -> list[str]:
    """Return the parts of the name of an argument: `run` and `name` of `--run-name`."""
    return name.lstrip("-").replace("-", "_").replace(".", "_").lower().split("_")


def _variables(first: Run, second: Run) -> Iterator[Given]:
    """Yield the environment variables with numbers that differ, rank by rank.

    Variables that the program sets itself for the ranks that it starts are no input, and are left
    out.
    """
    own = first.own_variables.keys() | second.own_variables.keys()
    for trace, other in rank_by_rank(first, second):
        # where one has none, the environment was not recorded
        one, another = trace.environment, other.environment
        if not one or not another:
            continue
        for key in sorted(one.keys() | another.keys()):
            name = key.removeprefix(VARIABLE)
            values = one.get(key), another.get(key)
            if values[0] == values[1] or name in own or not of_the_user(key, *values):
                continue
            first_text, second_text = (None if value is None else str(value) for value in values)
            yield Given(
                kind="variable",
                name=name,
                first=first_text,
                second=second_text,
                names_the_run=names_the_run(name),
            )


def _files(first: Run, second: Run) -> Iterator[Given]:
    """Yield the files that both runs read with different content.

    Files that one of the runs left are skipped, unless both runs made them.
    """
    of_runs = (run.record.files for run in (first, second))
    left = set(chain.from_iterable((*files.created, *files.changed) for files in of_runs))
    for name, one in first.inputs.items():
        other = second.inputs.get(name)
        if other is None or one.same(other):
            continue
        is_made = one.made and other.made
        if name in left and not is_made:
            continue
        yield Given(
            kind="input",
            name=name,
            first=_state(one, other),
            second=_state(other, one),
            made=is_made,
            line=one.line,
            written=one.written,
        )


def _state(file: InputFile, other: InputFile) -> FileState:
    """Return what distinguishes a file from the other: its size, else hash and time."""
    if file.size != other.size:
        return FileState(size=file.size)
    return FileState(size=file.size, hash=file.hash[:8], time=file.time or None)
