"""Advise on a failed script that another command line fixes.

Worked out once, while the environment of the script still exists.

Each kind of failure is recognised by the exception that Python recorded, or by the last line of the
script's log. The advice is kept in the record, so that the report says the same whenever it is
drawn.
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
    """Store the advice for a check whose script failed in its record, if there is any."""
    if check.verdict.verdict != "script_failed" or check.record.compared:
        return
    found = advice(check)
    if found is None:
        return
    from reprocheck.recording import record as records

    with suppress(ReprocheckError):
        records.write(folder, replace(records.read(folder), advice=found))


def advice(check: Check) -> Advice | None:
    """Return advice on the first run that failed.

    None if no command line is known to fix the failure.
    """
    run = next((run for run in check.runs if run.record.ended == "failed"), None)
    if run is None:
        return None
    found = (kind(check, run) for kind in KINDS)
    return next(filter(None, found), None)


def _wrong_home(check: Check, run: Run) -> Advice | None:
    """Return advice if Python did not find its own library because of the variable `PYTHONHOME`."""
    home = os.environ.get("PYTHONHOME")
    if run.processes or not home or _NO_LIBRARY not in run.stderr_tail:
        return None
    reason = AdviceReason(kind="wrong home", place=_masked(home))
    return Advice(reason=reason, before="env -u PYTHONHOME")


def _reads_input(check: Check, run: Run) -> Advice | None:
    """Return advice if the script asked for a line of standard input, which is empty in a run."""
    if not _ended_by(run, _END_OF_INPUT):
        return None
    interpreter, *rest = check.record.entry_point.command
    usual = shutil.which("python")
    if usual is not None and _absolute(interpreter) == usual:
        interpreter = "python"
    command = " ".join(map(_quoted, (interpreter, *rest)))
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
    """Return advice for relative imports, which need the script to be run as a module.

    A module of a package.
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
    """Return advice if the script refused options of reprocheck written after its name."""
    words = check.record.entry_point.words
    refused = _last_line(run)
    if run.traces or not _UNKNOWN_OPTION.search(refused):
        return None
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
    if not ours:
        return None
    script = " ".join(words[:2]) if words[0] == "-m" else words[0]
    reason = AdviceReason(kind="our options", place=script, names=tuple(ours))
    return Advice(reason=reason, options=tuple(ours), words=tuple(theirs))


def _found_leftovers(check: Check, run: Run) -> Advice | None:
    """Return advice if a later run failed, but not run 1, which had left files in the folder."""
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
    """Return the first interpreter of an active environment that has a module.

    `besides` is left out.
    """
    prefixes = filter(None, map(os.environ.get, ("VIRTUAL_ENV", "CONDA_PREFIX")))
    in_prefixes = (str(Path(prefix, "bin", "python")) for prefix in prefixes)
    on_path = filter(None, map(shutil.which, ("python", "python3")))
    interpreters = dict.fromkeys((*in_prefixes, *on_path))
    interpreters.pop(besides, None)
    return next((python for python in interpreters if _has(python, module)), None)


def dotted_name(script: Path) -> tuple[Path, str]:
    """Return the folder above the outermost package of a script, and its module name.

    A folder without `__init__.py` counts as a package if it lies in the working directory.
    """
    here = Path.cwd()
    if not (script.parent / "__init__.py").exists() and here in script.parent.parents:
        root = here
    else:
        root = script.parent.parent
        while (root / "__init__.py").exists():
            root = root.parent
    return root, ".".join(script.relative_to(root).with_suffix("").parts)


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


def _absolute(path: str) -> str:
    """Return a path as an absolute one; in the record, the home folder is written as `~`."""
    return str(Path(path).expanduser().absolute())


def _masked(path: str) -> str:
    return Redaction("folder", identity=identity()).path(path)


def _quoted(word: str) -> str:
    """Return a word quoted for a shell; a leading `~/` stays outside of the quotation marks."""
    import shlex

    if word.startswith("~/"):
        return f"~/{shlex.quote(word[2:])}"
    return shlex.quote(word)
