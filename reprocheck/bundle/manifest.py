"""README.md of an attachment: in plain words what is inside, and what was taken out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from reprocheck.bundle.source import FOLDER
from reprocheck.model import Check, SourceLine
from reprocheck.redaction import Level
from reprocheck.report import smallest
from reprocheck.report.markdown import block, code, prose
from reprocheck.report.text import count
from reprocheck.report.why import lead, origin

HOLDS: Mapping[str, str] = {
    "issue.md": "the text of the issue, ready to paste",
    "report.html": "the whole report as one page; it needs no network",
    "report.json": "the same for programs",
    "losses.csv": "the losses and series of each run, with every bit",
    "replay.py": "a script that shows the operation that differs, alone",
    "replay.safetensors": "tensors of the training, which that script gives to the operation",
    "README.md": "this text",
}
SOURCE = "the user's files that the command needs, as far as the report folder keeps them"
MEANS: Mapping[Level, str] = {
    "none": "Nothing was taken out beside what was masked when the check was recorded.",
    "default": (
        "Only fields of a list leave the machine, and all text in them went through a detector of"
        " secrets."
    ),
    "strict": (
        "Only numbers and words of closed lists leave the machine: free text is left out, and names"
        " are numbered."
    ),
}
MOST_LINES = 20


def lines(
    check: Check,
    files: Mapping[str, bytes],
    counts: Mapping[str, int],
    level: Level,
    kept: Sequence[int] | None,
) -> Iterator[str]:
    """The text, line by line. `kept`: the iterations in losses.csv where not all are there."""
    yield from ("# What this is", "")
    where = lead(check) or check.verdict.reason
    yield from (f"**{prose(check.verdict.title)}.** {prose(where)}".rstrip(), "")
    yield from ("The smallest command that shows it:", "")
    yield from (*block(smallest.command(check), "sh"), "")
    yield from (_takes(files), "", "## What is inside", "")
    for name in HOLDS:
        if name in files or name == "README.md":
            yield f"- `{name}`: {HOLDS[name]}"
    texts = [name for name in files if name.startswith(f"{FOLDER}/")]
    if texts:
        yield f"- `{FOLDER}/`: {SOURCE}"
    yield ""
    yield f"- source: {_files(texts) or _source(check)}"
    yield f"- values: {_values(files)}"
    yield "- weights: none"
    if kept is not None:
        yield (
            f"- losses: {count(len(kept), 'iteration')} of {_longest(check):,}: the first ones,"
            " those around the first difference, the last, and evenly spaced ones between"
        )
    yield from ("", f"## What was taken out (`--redact {level}`)", "", MEANS[level], "")
    yield from counted(counts)


def _takes(files: Mapping[str, bytes]) -> str:
    """What the command takes."""
    said = "It takes the script, which is not inside."
    if any(name.startswith(f"{FOLDER}/") for name in files):
        said = f"It takes the script, which lies in `{FOLDER}/`."
    if "replay.py" in files:
        said += " `python replay.py` takes the framework alone."
    return said


def _files(texts: Sequence[str]) -> str:
    """The user's files that leave."""
    return ", ".join(map(code, texts))


def _values(files: Mapping[str, bytes]) -> str:
    """Which values leave."""
    tensors = files.get("replay.safetensors")
    if tensors is None:
        return "none but losses and series; no tensor"
    size = f"{-(-len(tensors) // 1000):,} KB"
    return f"yes, {size} of tensors in `replay.safetensors`, beside losses and series"


def counted(counts: Mapping[str, int]) -> Iterator[str]:
    """A line for each kind, the most frequent first."""
    if not counts:
        yield "- nothing"
    for kind, number in sorted(counts.items(), key=_most_first):
        yield f"- {kind}: {number:,}"


def _most_first(item: tuple[str, int]) -> tuple[int, str]:
    kind, number = item
    return -number, kind


def _source(check: Check) -> str:
    """The lines of the user's code whose text leaves."""
    places = [code(origin(one)) for one in dict.fromkeys(_cited(check)) if one.text]
    if check.search is not None and check.search.patch:
        places.append("the lines of the patch")
    if not places:
        return "none"
    if len(places) > MOST_LINES:
        places[MOST_LINES:] = [f"and {len(places) - MOST_LINES} more"]
    return f"these lines: {', '.join(places)}"


def _cited(check: Check) -> Iterator[SourceLine]:
    """All lines of the user's that a report shows."""
    sources: list[SourceLine | None] = [cause.source for cause in check.causes]
    sources += [finding.source for finding in check.scanned.findings]
    if check.ladder is not None:
        sources += [rung.source for rung in check.ladder.rungs]
    yield from filter(None, sources)


def _longest(check: Check) -> int:
    return max((run.longest for run in check.runs), default=0)
