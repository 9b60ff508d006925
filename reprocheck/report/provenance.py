"""What was checked, and where: command, machine, software and commit, for the top of every
report.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from pathlib import PurePath

from reprocheck.language import mark, tr
from reprocheck.model import FRAMEWORKS, Check
from reprocheck.report import words
from reprocheck.report.document import facts
from reprocheck.report.text import fact, joined, line, moment

COMMIT_LETTERS = 12

DEVICES = ("torch.cuda.devices", "torch.npu.devices")


def rows(check: Check) -> tuple[tuple[str, str], ...]:
    """(name, value) pairs, those that are not known left out.

    Of two recordings: what they have in common.
    """
    told = [(mark("command"), command(check))]
    if check.between is None:
        told += [
            (mark("machine"), machine(check)),
            (mark("software"), software(check)),
            (mark("commit"), commit(check)),
        ]
    told.append((mark("started"), moment(check.record.started)))
    return tuple((name, value) for name, value in told if value)


def command(check: Check) -> str:
    """Return the command as one would type it: without the place of the interpreter where
    reprocheck chose that.
    """
    entry = check.record.entry_point
    first, *rest = entry.command
    if entry.kind == "command":
        return line(shlex.join(entry.command))
    return line(shlex.join([PurePath(first).name, *rest]))


def machine(check: Check) -> str:
    """`Linux x86_64, 2 × AMD EPYC, NVIDIA H100`."""
    known = facts(check)
    system = " ".join(_known(known, "platform.system", "platform.machine"))
    model = _known(known, "cpu.model")
    processors = ""
    if model:
        processors = " × ".join((*_known(known, "cpu.count"), *model))
    return joined(", ", system, processors, *_known(known, *DEVICES))


def software(check: Check) -> str:
    """`Python 3.11.7, torch 2.13.0`."""
    python = [f"Python {version}" for version in _known(facts(check), "python.version")]
    return joined(", ", *python, words.frameworks(check))


def versions(known: Mapping[str, object], reprocheck_version: str) -> str:
    """`torch 2.13.0, Python 3.11.7, reprocheck 0.1.0, Linux x86_64`."""
    software = {**{name: name for name in FRAMEWORKS}, "python": "Python"}
    told = [
        f"{title} {version}"
        for name, title in software.items()
        for version in _known(known, f"{name}.version")
    ]
    system = " ".join(_known(known, "platform.system", "platform.machine"))
    return joined(", ", *told, f"reprocheck {reprocheck_version}", system, *_known(known, *DEVICES))


def commit(check: Check) -> str:
    """`5f2c9e10ab12, with changes that are not committed`; empty outside of a repository."""
    known = facts(check)
    found = _known(known, "git.commit")
    if not found:
        return ""
    shown = found[0][:COMMIT_LETTERS]
    if known.get("git.dirty") is True:
        shown += tr(", with changes that are not committed")
    return shown


def _known(known: Mapping[str, object], *keys: str) -> list[str]:
    """Return the facts that are there, printable."""
    return [fact(known[key]) for key in keys if known.get(key) not in (None, "")]
