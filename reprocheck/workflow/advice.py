"""What to type after a script failed in a way that another command line fixes, worked out once,
while the script's surroundings are there.

Each kind of failure is recognised by what Python recorded of the exception, or by the last line of
the script's own log. What was found is kept in the record, so that every later drawing of the
report says the same.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from reprocheck.errors import ReprocheckError
from reprocheck.model import Advice, Check, Run
from reprocheck.model.statements.check import AdviceReason
from reprocheck.redaction import Redaction, identity
from reprocheck.settings.options import OPTIONS

ANSWER_SECONDS = 30.0
_MOST_KEPT = 3
"""Files of those that run 1 left that the advice holds."""
_NO_MODULE = re.compile(r"ModuleNotFoundError: No module named '([\w.]+)'")
_RELATIVE = "ImportError: attempted relative import with no known parent package"
_END_OF_INPUT = "EOFError: EOF when reading a line"
_NO_LIBRARY = "ModuleNotFoundError: No module named 'encodings'"
_UNKNOWN_OPTION = re.compile(
    r"unrecognized|unrecognised|unknown|unexpected|no such option", re.IGNORECASE
)
_HAS = "import sys; from importlib.util import find_spec; sys.exit(find_spec(sys.argv[1]) is None)"


def note(check: Check, folder: Path) -> None:
    """Keep the advice for a check whose script failed, where there is any, in the record of its
    folder.
    """
    if check.verdict.verdict != "script_failed" or check.record.compared:
        return
    found = advice(check)
    if found is None:
        return
    from reprocheck.recording import record as records

    with suppress(ReprocheckError):
        records.write(folder, replace(records.read(folder), advice=found))


def advice(check: Check) -> Advice | None:
    """Return what fixes the failure of the first run that failed; None where no command line is
    known to.
    """
    run = next((run for run in check.runs if run.record.ended == "failed"), None)
    if run is None:
        return None
    found = (kind(check, run) for kind in KINDS)
    return next(filter(None, found), None)


def _wrong_home(check: Check, run: Run) -> Advice | None:
    """Python did not find its own library, where a variable said."""
    home = os.environ.get("PYTHONHOME")
    if run.processes or not home or _NO_LIBRARY not in run.stderr_tail:
        return None
    reason = AdviceReason(kind="wrong home", place=_masked(home))
    return Advice(reason=reason, before="env -u PYTHONHOME")


def _reads_input(check: Check, run: Run) -> Advice | None:
    """Return the script asked for a line of standard input, which is empty in a run."""
    if not _ended_by(run, _END_OF_INPUT):
        return None
    command = " ".join(map(_quoted, _started(check)))
    reason = AdviceReason(kind="reads input")
    return Advice(reason=reason, words=("--", "sh", "-c", f"{command} < answers.txt"))


def _lacks_module(check: Check, run: Run) -> Advice | None:
    """Return advice on a missing module that another active environment has."""
    found = next(filter(None, map(_NO_MODULE.match, _errors(run))), None)
    kind, own = check.record.entry_point.kind, check.record.entry_point.command[0]
    if found is None or kind == "command":
        return None
    module = found[1].partition(".")[0]
    other = interpreter_with(module, besides=_absolute(own))
    if other is not None:
        reason = AdviceReason(kind="module elsewhere", place=own, names=(module,))
        return Advice(reason=reason, options=("--python", _masked(other)))
    reason = AdviceReason(kind="module nowhere", place=own, names=(module,))
    return Advice(reason=reason, options=("--python", "PATH/TO/python"))


def _is_in_package(check: Check, run: Run) -> Advice | None:
    """Return a script imports its neighbours by relative names, which only a module of a package
    can.
    """
    if check.record.entry_point.kind != "script" or not _ended_by(run, _RELATIVE):
        return None
    script, *arguments = check.record.entry_point.words
    root, name = dotted_name(Path(_absolute(script)))
    before = ""
    if root != Path.cwd():
        before = f"cd {_quoted(_masked(os.path.relpath(root)))} &&"
    reason = AdviceReason(kind="in package")
    return Advice(reason=reason, before=before, words=("-m", name, *arguments))


def _got_our_options(check: Check, run: Run) -> Advice | None:
    """Return the script refused options of reprocheck that were written behind it."""
    words = check.record.entry_point.words
    refused = _last_line(run)
    if run.traces or not _UNKNOWN_OPTION.search(refused):
        return None
    ours, theirs = _apart(words, refused)
    if not ours:
        return None
    reason = AdviceReason(kind="our options", place=_first_word(words), names=ours)
    return Advice(reason=reason, options=ours, words=theirs)


def _apart(words: tuple[str, ...], refused: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the options of reprocheck that a script refused, with their values, and the other
    words.
    """
    ours: list[str] = []
    theirs: list[str] = []
    waiting = list(words)
    while waiting:
        word = waiting.pop(0)
        name, _, value = word.partition("=")
        if name not in TAKES_VALUE or name.lstrip("-") not in refused:
            theirs.append(word)
            continue
        ours.append(word)
        if TAKES_VALUE[name] and not value and waiting:
            ours.append(waiting.pop(0))
    return tuple(ours), tuple(theirs)


def _found_leftovers(check: Check, run: Run) -> Advice | None:
    """Return a later run failed where run 1 did not, in a folder in which run 1 had left
    something.
    """
    first = check.runs[0].record
    left = (*first.files.folders, *first.files.created, *first.files.changed)
    if run.record.number == 1 or first.ended == "failed" or first.files.copied or not left:
        return None
    error = _last_line(run)
    reason = AdviceReason(
        kind="found leftovers",
        run=run.record.number,
        names=left[:_MOST_KEPT],
        others=max(0, len(left) - _MOST_KEPT),
    )
    named = [path for path in left if path in error]
    if named:
        path = max(named, key=len)
        reason = AdviceReason(kind="failed on leftover", run=run.record.number, names=(path,))
    return Advice(reason=reason, options=("--workdir", "copy"))


KINDS: tuple[Callable[[Check, Run], Advice | None], ...] = (
    _wrong_home,
    _reads_input,
    _lacks_module,
    _is_in_package,
    _got_our_options,
    _found_leftovers,
)
TAKES_VALUE: Mapping[str, bool] = {
    **{option.flag: option.kind.type != "switch" for option in OPTIONS},
    **{f"--no-{option.key}": False for option in OPTIONS if option.kind.type == "switch"},
}
"""The options of reprocheck by name, and whether a value follows."""


def interpreter_with(module: str, *, besides: str) -> str | None:
    """Return the first interpreter of an active environment, other than `besides`, that has a
    module.
    """
    others = dict.fromkeys(_active_interpreters())
    others.pop(besides, None)
    return next((python for python in others if _has(python, module)), None)


def dotted_name(script: Path) -> tuple[Path, str]:
    """Return the folder above the outermost package that a script lies in, and the script's name as
    a module from there.

    A folder without `__init__.py` is a package of the working directory, where it lies in that.
    """
    here = Path.cwd()
    if not (script.parent / "__init__.py").exists() and here in script.parent.parents:
        root = here
    else:
        root = script.parent.parent
        while (root / "__init__.py").exists():
            root = root.parent
    return root, ".".join(script.relative_to(root).with_suffix("").parts)


def _active_interpreters() -> Iterator[str]:
    prefixes = filter(None, map(os.environ.get, ("VIRTUAL_ENV", "CONDA_PREFIX")))
    yield from (str(Path(prefix, "bin", "python")) for prefix in prefixes)
    yield from filter(None, map(shutil.which, ("python", "python3")))


def _has(python: str, module: str) -> bool:
    try:
        asked = subprocess.run(
            [python, "-c", _HAS, module],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=ANSWER_SECONDS,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return asked.returncode == 0


def _errors(run: Run) -> Iterator[str]:
    """Return the exceptions that ended the processes of a run, as they were recorded."""
    return filter(None, (process.error for process in run.processes))


def _ended_by(run: Run, error: str) -> bool:
    return any(found.startswith(error) for found in _errors(run))


def _last_line(run: Run) -> str:
    lines = reversed(run.stderr_tail.splitlines())
    return next(filter(str.strip, lines), "")


def _started(check: Check) -> tuple[str, ...]:
    """Return the command that was started; a script's interpreter by the name that it has on PATH,
    where that is the same.
    """
    interpreter, *rest = check.record.entry_point.command
    usual = shutil.which("python")
    if usual is not None and _absolute(interpreter) == usual:
        return ("python", *rest)
    return (interpreter, *rest)


def _first_word(words: tuple[str, ...]) -> str:
    if words[0] == "-m":
        return " ".join(words[:2])
    return words[0]


def _absolute(path: str) -> str:
    """Return a path of the record, in which the home folder is `~`."""
    return str(Path(path).expanduser().absolute())


def _masked(path: str) -> str:
    return Redaction("folder", identity=identity()).path(path)


def _quoted(word: str) -> str:
    """Return a word for a shell, in which the home folder stays `~`."""
    import shlex

    if word.startswith("~/"):
        return f"~/{shlex.quote(word[2:])}"
    return shlex.quote(word)
