"""What is said where a run was about to write a checkpoint that no snapshot would hold."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from glob import escape
from itertools import takewhile
from pathlib import Path

from reprocheck.errors import UsageError
from reprocheck.resume.external_checkpoint import Elsewhere, absolute

NUMBERED = re.compile(
    r"\d+|(?:[a-z]*[-_]?(?:ckpt|checkpoint|step|epoch|iter(?:ation)?)[-_=]?\d+[-_,]?)+",
    re.IGNORECASE,
)
"""Names of folders that each checkpoint has anew. Those of a run or a job are no such names: the
folder beside one is that of another training.
"""


def outside(path: str, allowed: Elsewhere) -> UsageError:
    """Return the error that says with which pattern a checkpoint outside is allowed.

    path     as a trace has it
    allowed  what is allowed already
    """
    patterns = _patterns(Path(escape(path)))
    if allowed.pattern:
        own = str(Path(escape(path)).expanduser())
        start = _common(allowed.pattern, own)
        rests = (text[len(start) :][::-1] for text in (allowed.pattern, own))
        patterns = iter([f"{start}*{_common(*rests)[::-1]}"])
    advice = "Have the script write to a folder of its own: files of yours have such names, too."
    for pattern in patterns:
        if not any(Elsewhere(absolute(pattern, Path.cwd())).matching()):
            advice = (
                f"Allow it with --checkpoint {shlex.quote(pattern)}: what the runs write there is"
                " removed afterwards."
            )
            break
    return UsageError(
        f"The checkpoint is written outside of the working directory: {path}. The run was ended"
        " before, so no file there has changed.",
        advice,
    )


def _patterns(file: Path) -> Iterator[str]:
    """Patterns of a checkpoint and of those that follow, the widest first."""
    numbered = takewhile(lambda folder: NUMBERED.fullmatch(folder.name), file.parents)
    for folder in reversed([*numbered]):
        yield f"{folder.parent}/*"
        yield f"{folder.parent}/{_any_number(folder.name)}/*"
    yield f"{file.parent}/*"
    # with other ends; a hidden file is the draft of another one
    stem = file.name.lstrip(".")
    hidden = "*" * (stem != file.name)
    any_end = f"{hidden}{_any_number(stem.partition('.')[0])}*".replace("**", "*")
    yield f"{file.parent}/{any_end}"
    yield f"{file.parent}/{_any_number(file.name)}"
    yield str(file)


def _any_number(name: str) -> str:
    return re.sub(r"\d+", "*", name)


def _common(one: str, other: str) -> str:
    """Return what both begin with."""
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in pairs)
