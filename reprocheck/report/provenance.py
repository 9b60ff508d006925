"""Tell what was checked, and where, for the top of every report.

Command, machine, software and commit.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePath

from reprocheck.model import FRAMEWORKS, Check
from reprocheck.report import words
from reprocheck.report.blocks import Fact
from reprocheck.report.document import facts
from reprocheck.report.text import fact, joined, line, moment

COMMIT_LETTERS = 12

DEVICES = ("torch.cuda.devices", "torch.npu.devices")


def rows(check: Check) -> tuple[Fact, ...]:
    """Return facts of what was checked; unknown ones are left out.

    Of two recordings: the facts that they have in common.
    """
    if check.between is not None:
        return about(command(check), {}, "", check.record.started)
    return about(command(check), facts(check), software(check), check.record.started)


def about(
    command: str, known: Mapping[str, object], software: str, started: str
) -> tuple[Fact, ...]:
    """Return command, machine, software, commit and start as facts; unknown ones are left out."""
    every = (
        Fact("command", command, code=True),
        Fact("machine", machine(known)),
        Fact("software", software),
        Fact("commit", commit(known)),
        Fact("started", moment(started)),
    )
    return tuple(fact for fact in every if fact.value)


def command(check: Check) -> str:
    """Return the command as one would type it, without an interpreter that reprocheck chose."""
    entry = check.record.entry_point
    first, *rest = entry.command
    if entry.kind == "command":
        return line(shlex.join(entry.command))
    return line(shlex.join([PurePath(first).name, *rest]))


def machine(known: Mapping[str, object]) -> str:
    """Return the machine in words: `Linux x86_64, 2 × AMD EPYC, NVIDIA H100`."""
    system = " ".join(_known(known, "platform.system", "platform.machine"))
    model = _known(known, "cpu.model")
    processors = ""
    if model:
        processors = " × ".join((*_known(known, "cpu.count"), *model))
    return joined(", ", system, processors, *_known(known, *DEVICES))


def software(check: Check) -> str:
    """Return the main software: `Python 3.11.7, torch 2.13.0`."""
    python = [f"Python {version}" for version in _known(facts(check), "python.version")]
    return joined(", ", *python, words.frameworks(check))


def versions(known: Mapping[str, object], reprocheck_version: str) -> str:
    """Return the versions in use: `torch 2.13.0, Python 3.11.7, reprocheck 0.1.0, Linux x86_64`."""
    software = {**{name: name for name in FRAMEWORKS}, "python": "Python"}
    told = [
        f"{title} {version}"
        for name, title in software.items()
        for version in _known(known, f"{name}.version")
    ]
    system = " ".join(_known(known, "platform.system", "platform.machine"))
    return joined(", ", *told, f"reprocheck {reprocheck_version}", system, *_known(known, *DEVICES))


def commit(known: Mapping[str, object]) -> str:
    """Return the git commit: `5f2c9e10ab12, with changes that are not committed`.

    Empty outside of a repository.
    """
    commits = _known(known, "git.commit")
    if not commits:
        return ""
    shown = commits[0][:COMMIT_LETTERS]
    if known.get("git.dirty") is True:
        shown += ", with changes that are not committed"
    return shown


def _known(known: Mapping[str, object], *keys: str) -> list[str]:
    """Return the facts that are there, printable."""
    return [fact(known[key]) for key in keys if known.get(key) not in (None, "")]
