"""What of the secrets that commands are given stands in the files that they write, against what may
stand there at the level of these files.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks import commands
from benchmarks.commands import Level, Secrets, Written
from benchmarks.planted import Planted, comes_out

IN_A_FOLDER = frozenset(
    (
        "AWS secret access key",
        "Weights & Biases key",
        "person with an e-mail address",
        "user of a service",
        "bucket of a cloud store",
        "groups of a user",
        "path of Windows",
        "host of a cluster in a message",
        "bank account (IBAN)",
        "payment card",
        "phone number",
    )
)
"""Kinds that a folder may show: no form says of them that they are secret. A key of letters alone
is masked where a name or an option says what it is.
"""


@dataclass(frozen=True, kw_only=True, slots=True)
class Leak:
    """A secret that stands in a file. `place`: where the command was given it."""

    command: str
    level: Level
    file: str
    place: str
    secret: Planted

    @property
    def is_allowed(self) -> bool:
        """Whether files of this level may show it: the names of files stand in the record of a
        folder as they are, since the files are found again by them.
        """
        return self.level == "folder" and (self.secret.kind in IN_A_FOLDER or self.place == "file")


def leaks(written: Written, secrets: Secrets) -> Iterator[Leak]:
    """Find each secret once in the files of a command."""
    texts = {name: data.decode(errors="replace") for name, data in written.files.items()}
    whole = "\0".join(texts.values())
    for place, planted in secrets.items():
        for one in planted:
            if not comes_out(one, whole):
                continue
            file = next(name for name, text in texts.items() if comes_out(one, text))
            yield Leak(
                command=written.command, level=written.level, file=file, place=place, secret=one
            )


def measured(number: int, seed: int) -> tuple[int, list[Written], list[Leak]]:
    """Start all commands with so many secrets and more; what they wrote, and what stands in it."""
    draw = random.Random(seed)
    planted, every, found = 0, [], []
    while planted < number:
        secrets = commands.sown(draw)
        planted += sum(map(len, secrets.values()))
        with tempfile.TemporaryDirectory() as place:
            searched = {**secrets, **commands.of_machine(Path(place))}
            for written in commands.written(Path(place), secrets, seed):
                every.append(written)
                found += leaks(written, searched)
    return planted, every, found


def table(planted: int, every: Sequence[Written], found: Sequence[Leak]) -> str:
    """The results as Markdown: a row a command, and a row a kind that stands anywhere."""
    files: Counter[tuple[str, Level]] = Counter()
    for written in every:
        files[written.command, written.level] += len(written.files)
    lines = ["| of a command | level | files | may stand there | leaks |", "|---|---|--:|--:|--:|"]
    for (command, level), number in files.items():
        of_it = [leak for leak in found if (leak.command, leak.level) == (command, level)]
        lines.append(f"| {command} | {level} | {number:,} | {_counts(of_it)} |")
    total = f"{sum(files.values()):,} | {_counts(found)}"
    lines.append(f"| **in all**, of {planted:,} secrets | | {total} |")
    for kind in sorted({leak.secret.kind for leak in found}):
        of_it = [leak for leak in found if leak.secret.kind == kind]
        lines.append(f"| kind: {kind} | | | {_counts(of_it)} |")
    return "\n".join(lines)


def _counts(found: Iterable[Leak]) -> str:
    counts = Counter(leak.is_allowed for leak in found)
    return f"{counts[True]:,} | {counts[False]:,}"
