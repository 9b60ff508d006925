"""README.md of an attachment: in plain words what is inside, and what was taken out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from reprocheck import rules
from reprocheck.bundle.source import FOLDER, LOGS
from reprocheck.language import english, sentences
from reprocheck.model import Cause, Check, Rung, SourceLine
from reprocheck.redaction import Redaction
from reprocheck.report import diffs
from reprocheck.report.markdown import Markdown, block, code, md, prose
from reprocheck.report.text import origin
from reprocheck.wording.fixes import translated

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
LOG = "the ends of the logs of the runs"
MEANS: Mapping[str, str] = {
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
"""By what `--redact` asks for."""
MOST_LINES = 100


def way(redaction: Redaction) -> str:
    """Return the value of `--redact` that leads to a redaction."""
    if redaction.level == "folder":
        return "none"
    return "strict" if redaction.strict else "default"


@dataclass(frozen=True, kw_only=True, slots=True)
class Subject:
    """What an attachment is about.

    title, where  the verdict, and the sentence that says where
    command       what shows it
    cited         the lines of the user's code that leave
    diffs         unified differences of it that leave
    losses        which losses are inside, where not all are
    """

    title: str
    where: str
    command: str
    cited: Iterable[SourceLine] = ()
    diffs: Iterable[str] = ()
    losses: str = ""


def lines(
    subject: Subject, files: Mapping[str, bytes], counts: Mapping[str, int], redact: str
) -> Iterator[str]:
    """Yield the text, line by line."""
    texts = [name for name in files if name.startswith(f"{FOLDER}/")]
    takes = "It takes the script, which is not inside."
    if texts:
        takes = f"It takes the script, which lies in `{FOLDER}/`."
    if "replay.py" in files:
        takes += " `python replay.py` takes the framework alone."
    yield from (Markdown("# What this is"), "")
    title, where = md("**{}.**", english(subject.title)), prose(english(subject.where))
    yield from (Markdown(sentences(title, where)), "")
    yield from ("The smallest command that shows it:", "")
    yield from (*block(subject.command, "sh"), "")
    yield from (takes, "", Markdown("## What is inside"), "")
    for name in HOLDS:
        if name in files or name == "README.md":
            yield md("- {}: {}", code(name), HOLDS[name])
    logs = [name for name in files if name.startswith(f"{LOGS}/")]
    for folder, holds, inside in ((FOLDER, SOURCE, texts), (LOGS, LOG, logs)):
        if inside:
            yield md("- {}: {}", code(f"{folder}/"), holds)
    values, tensors = "none but losses and series; no tensor", files.get("replay.safetensors")
    if tensors is not None:
        kilobytes = -(-len(tensors) // 1000)
        values = (
            f"yes, {kilobytes:,} KB of tensors in `replay.safetensors`, beside losses and series"
        )
    yield ""
    yield md("- log: {}", _files(logs) or "none; `--with-log` adds its end")
    yield md("- source: {}", _files(texts) or _source(subject))
    yield md("- values: {}", values)
    yield Markdown("- weights: none")
    if subject.losses:
        yield md("- losses: {}", subject.losses)
    yield from (
        "",
        md("## What was taken out (`--redact {}`)", redact),
        "",
        MEANS[redact],
        "",
    )
    yield from counted(counts)


def _files(texts: Sequence[str]) -> str:
    """Return the user's files that leave."""
    return Markdown(", ".join(map(code, texts)))


def counted(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each kind, the most frequent first."""
    if not counts:
        yield Markdown("- nothing")
    for kind, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield md("- {}: {}", kind, f"{number:,}")


def _source(subject: Subject) -> str:
    """Return the lines of the user's code whose text leaves."""
    cited = (*subject.cited, *chain.from_iterable(map(_lines_of, subject.diffs)))
    shown = [line for line in cited if line.text.strip()]
    shown.sort(key=lambda line: (line.file, line.line))
    places = list(dict.fromkeys(code(origin(line)) for line in shown))
    if not places:
        return "none; `--with-source` adds the files"
    if len(places) > MOST_LINES:
        places[MOST_LINES:] = [Markdown(f"and {len(places) - MOST_LINES} more")]
    return md("these lines: {}", Markdown(", ".join(places)))


def _lines_of(diff: str) -> Iterator[SourceLine]:
    """Yield the lines of the user's files that a unified difference shows, without added lines."""
    for line in diffs.lines(diff):
        if line.sign != "+":
            yield SourceLine(file=line.file, line=line.before, text=line.text)
        # stands before the name of a file in the second head of a patch, and of no other difference
        elif line.head != "b":
            yield SourceLine(file=line.file, line=line.after, text=line.text)


_REASONS: Mapping[str, str] = {
    "reproducible": "Both checks agree.",
    "not_reproducible": "A check differs by more than the tolerance allows.",
    "seed_without_effect": "Another seed changes no loss.",
    "inconclusive": "A check could not be made.",
    "script_failed": "A run ended with an error.",
    "timed_out": "A run took longer than the timeout.",
}


def in_plain_words(check: Check) -> Check:
    """Return the check with sentences that name nothing of the user's.

    They are made of a closed set of words, where sentences with names were left out.
    """
    ladder, lead = check.ladder, check.lead
    return replace(
        check,
        verdict=replace(check.verdict, reason=_REASONS[check.verdict.verdict]),
        ladder=None if ladder is None else replace(ladder, sentence=_where(ladder.first_rung)),
        lead=None if lead is None else replace(lead, sentence=_where(check.leading)),
        causes=tuple(map(_titled, check.causes)),
    )


def _where(rung: Rung | None) -> str:
    if rung is None:
        return "No rung of the ladder differs."
    if rung.iteration is None:
        return f"The runs first differ on the rung {rung.rung}."
    return f"The runs first differ on the rung {rung.rung}, in iteration {rung.iteration}."


def _titled(cause: Cause) -> Cause:
    found = rules.find(cause.code)
    if found is None:
        return cause
    entry = translated(found)
    fix = entry.fix if cause.fix_from == "catalogue" else ""
    return replace(cause, title=entry.title, fix=fix)
