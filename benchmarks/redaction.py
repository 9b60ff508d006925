"""How much of what is planted in a check comes out in its attachment: `python -m
benchmarks.redaction`.

1,000 secrets of 31 kinds (`benchmarks.planted`) in every place where text can enter; each file of
the attachment is searched for each of them, as it is and as JSON and HTML write it. `--write` puts
the table into docs/reference/bundle.md.
"""

from __future__ import annotations

import argparse
import html
import json
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.planted import KINDS, PLACES, Planted, Sown, sown
from reprocheck.bundle import made
from reprocheck.redaction import Level, Redaction, found_scanner, known_values

NUMBER = 1_000
SEED = 2026
LEVELS: tuple[Level, ...] = ("none", "default", "strict")
PAGE = Path("docs/reference/bundle.md")
BEGIN, END = "<!-- table of planted secrets -->", "<!-- end of the table -->"


@dataclass
class Result:
    """What came out at one level."""

    planted: int = 0
    out: Counter[str] = field(default_factory=Counter)
    by_place: Counter[str] = field(default_factory=Counter)
    examples: list[tuple[str, str, str, str]] = field(default_factory=list)

    @property
    def kept(self) -> int:
        """How many never came out."""
        return self.planted - sum(self.out.values())


def measured(number: int = NUMBER, seed: int = SEED) -> dict[Level, Result]:
    """The results of all levels."""
    results: dict[Level, Result] = {level: Result() for level in LEVELS}
    for one in sown(number, seed):
        for level, result in results.items():
            _search(one, level, result)
    return results


def attachment(one: Sown, level: Level) -> Mapping[str, bytes]:
    """The files of the attachment of a check, as its sender would make it."""
    redaction = Redaction(
        level,
        identity=(one.whose.home, one.whose.user, one.whose.host),
        known=known_values(one.check),
        scanner=found_scanner(),
    )
    return made(one.check, redaction).files


def _search(one: Sown, level: Level, result: Result) -> None:
    files = {name: data.decode() for name, data in attachment(one, level).items()}
    for place, secret in one.secrets.items():
        result.planted += 1
        found = next((name for name, text in files.items() if comes_out(secret, text)), "")
        if found:
            result.out[secret.kind] += 1
            result.by_place[place] += 1
            result.examples.append((secret.kind, place, found, secret.text))


def comes_out(secret: Planted, text: str) -> bool:
    """Whether any part of a secret that must not leave stands in a text."""
    return any(form in text for needle in secret.needles for form in _forms(needle))


def _forms(needle: str) -> Iterator[str]:
    """A text as it is, and as JSON, HTML, Markdown and a shell write it."""
    yield needle
    yield json.dumps(needle, ensure_ascii=False)[1:-1]
    yield html.escape(needle)
    yield "".join(f"\\{letter}" if letter in "\\`*_{}[]|~" else letter for letter in needle)


def table(results: Mapping[Level, Result]) -> str:
    """The results as Markdown."""
    lines = ["| came out at | " + " | ".join(results) + " |", "|---|" + "--:|" * len(results)]
    total = [f"{sum(result.out.values()):,} of {result.planted:,}" for result in results.values()]
    lines.append(f"| **in all** | {' | '.join(total)} |")
    for title, names, counts in (
        ("kind", KINDS, [result.out for result in results.values()]),
        ("place", PLACES, [result.by_place for result in results.values()]),
    ):
        for name in names:
            cells = " | ".join(str(count[name]) for count in counts)
            lines.append(f"| {title}: {name} | {cells} |")
    return "\n".join(lines)


def main() -> int:
    """Prints the table; exit 1 where more comes out than is allowed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--number", type=int, default=NUMBER)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument("--write", action="store_true", help=f"put the table into {PAGE}")
    asked = parser.parse_args()
    results = measured(asked.number, asked.seed)
    print(table(results))
    for kind, place, file, text in results["default"].examples + results["strict"].examples:
        print(f"came out: {kind}, {place}, in {file}: {text!r}", file=sys.stderr)
    if asked.write:
        before, _, rest = PAGE.read_text().partition(BEGIN)
        after = rest.partition(END)[2]
        PAGE.write_text(f"{before}{BEGIN}\n{table(results)}\n{END}{after}")
    enough = results["default"].kept >= 0.99 * results["default"].planted
    return 0 if enough and results["strict"].kept == results["strict"].planted else 1


if __name__ == "__main__":
    raise SystemExit(main())
