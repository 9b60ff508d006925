"""How much of what is planted in a check comes out of what is sent or written: `python -m
benchmarks.redaction`.

Of fields: 1,000 secrets of 38 kinds (`benchmarks.planted`) in every place where text can enter what
a report shows (`benchmarks.sown`); each file of the attachment is searched for each of them, as it
is and as JSON and HTML write it. With one row a seed, so that it can be seen whether patterns were
made for the secrets of one. Of commands: 1,000 secrets are given to a training in each way in which
a user can, each command is started (`benchmarks.commands`), and all that it writes is searched
(`benchmarks.leaks`). `--write` puts both tables into docs/reference/bundle.md.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks import leaks
from benchmarks.planted import KINDS, Planted, comes_out
from benchmarks.sown import PLACES, Sown, sown
from reprocheck.bundle import made
from reprocheck.redaction import Redaction, found_scanner, redaction_of

NUMBER = 1_000
SEEDS = (2026, 4711)
LEVELS = ("none", "paste", "default", "strict")
PAGE = Path("docs/reference/bundle.md")


@dataclass(frozen=True, slots=True)
class Found:
    """A secret that came out, and the file that shows it."""

    place: str
    secret: Planted
    file: str


@dataclass
class Result:
    """What came out at one level."""

    planted: int = 0
    out: Counter[str] = field(default_factory=Counter)
    by_place: Counter[str] = field(default_factory=Counter)
    examples: list[Found] = field(default_factory=list)

    def add(self, one: Sown, found: Iterable[Found]) -> None:
        """Counts what was planted in a check, and what of it was found."""
        self.planted += len(one.secrets)
        out = [each for each in found if each.place in one.secrets]
        self.out.update(each.secret.kind for each in out)
        self.by_place.update(each.place for each in out)
        self.examples += out

    @property
    def kept(self) -> int:
        """How many never came out."""
        return self.planted - sum(self.out.values())


def measured(number: int, seed: int) -> dict[str, Result]:
    """The results of all levels, of so many secrets that come out where nothing is taken out: what
    no file shows anyway is not counted.
    """
    results: dict[str, Result] = {level: Result() for level in LEVELS}
    checks = sown(seed)
    while results["none"].planted < number:
        one = next(checks)
        shown = [found.place for found in _search(one, "none")]
        left = number - results["none"].planted
        counted = {place: one.secrets[place] for place in shown[:left]}
        for level, result in results.items():
            result.add(replace(one, secrets=counted), _search(one, level))
    return results


def attachment(one: Sown, level: str) -> Mapping[str, bytes]:
    """The files of the attachment of a check, as its sender would make it."""
    if level == "none":
        return made(one.check, Nothing()).files
    redaction = redaction_of(
        one.check,
        "paste" if level == "paste" else "attachment",
        identity=(one.whose.home, one.whose.user, one.whose.host),
        scanner=found_scanner(),
        strict=level == "strict",
        with_log=level != "strict",
    )
    return made(one.check, redaction).files


class _AsItIs:
    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()

    def masked(self, text: str) -> str:
        return text

    path = masked

    def arguments(self, words: Sequence[str]) -> tuple[str, ...]:
        return tuple(words)


class Nothing(Redaction):
    """Takes out nothing: what no file shows then is not counted."""

    def __init__(self) -> None:
        super().__init__("folder")
        self._masking = self._detector = _AsItIs()  # type: ignore[assignment]


def _search(one: Sown, level: str) -> list[Found]:
    """The secrets that come out at a level."""
    files = {name: data.decode() for name, data in attachment(one, level).items()}
    found = []
    for place, secret in one.secrets.items():
        file = next((name for name, text in files.items() if comes_out(secret, text)), None)
        if file is not None:
            found.append(Found(place, secret, file))
    return found


def table(by_seed: Mapping[int, Mapping[str, Result]]) -> str:
    """The results as Markdown: a row a seed, and of the first seed a row a kind and a place."""
    results = next(iter(by_seed.values()))
    lines = ["| came out at | " + " | ".join(results) + " |", "|---|" + "--:|" * len(results)]
    for seed, found in by_seed.items():
        total = (f"{sum(one.out.values()):,} of {one.planted:,}" for one in found.values())
        lines.append(f"| **in all**, seed {seed} | {' | '.join(total)} |")
    for title, names, counts in (
        ("kind", KINDS, [result.out for result in results.values()]),
        ("place", PLACES, [result.by_place for result in results.values()]),
    ):
        for name in names:
            if not any(count[name] for count in counts):
                continue
            cells = " | ".join(str(count[name]) for count in counts)
            lines.append(f"| {title}: {name} | {cells} |")
    return "\n".join(lines)


def enough(results: Mapping[str, Result]) -> bool:
    """Whether no more comes out than is allowed."""
    default, strict = results["default"], results["strict"]
    return default.kept >= 0.99 * default.planted and strict.kept == strict.planted


def of_fields(number: int, seeds: Iterable[int]) -> tuple[str, bool]:
    """The table of what comes out of an attachment, and whether that is no more than is allowed."""
    by_seed = {seed: measured(number, seed) for seed in seeds}
    for seed, results in by_seed.items():
        for one in results["default"].examples + results["strict"].examples:
            said = f"{one.secret.kind}, {one.place}, {one.file}: {one.secret.text!r}"
            print(f"came out: seed {seed}, {said}", file=sys.stderr)
    return table(by_seed), all(map(enough, by_seed.values()))


def of_commands(number: int, seeds: Sequence[int]) -> tuple[str, bool]:
    """The table of what stands in the files of each command, and whether all of it may."""
    planted, every, found = leaks.measured(number, seeds[0])
    wrong = [leak for leak in found if not leak.is_allowed]
    for one in wrong:
        said = f"{one.secret.kind}, given as {one.place}: {one.secret.text!r}"
        print(f"leaks: {one.command} ({one.level}), {one.file}, {said}", file=sys.stderr)
    return leaks.table(planted, every, found), not wrong


TABLES = {"fields": of_fields, "commands": of_commands}


def main() -> int:
    """Prints the tables; exit 1 where more comes out than is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=NUMBER)
    parser.add_argument("--seeds", type=int, nargs="+", default=SEEDS)
    parser.add_argument("--only", choices=TABLES, help="one of the tables")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE}")
    asked = parser.parse_args()
    right = True
    for name in [asked.only] if asked.only else TABLES:
        text, is_right = TABLES[name](asked.number, asked.seeds)
        print(text, end="\n\n", flush=True)
        right = right and is_right
        if asked.write:
            begin, end = f"<!-- table of {name} with secrets -->", f"<!-- end of {name} -->"
            before, _, rest = PAGE.read_text().partition(begin)
            PAGE.write_text(f"{before}{begin}\n{text}\n{end}{rest.partition(end)[2]}")
    return 0 if right else 1


if __name__ == "__main__":
    raise SystemExit(main())
