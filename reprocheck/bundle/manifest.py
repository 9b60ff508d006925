"""README.md of an attachment: in plain words what is inside, and what was taken out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from reprocheck.bundle.source import FOLDER, LOGS
from reprocheck.language import joined, mark, sentences, tr
from reprocheck.model import SourceLine
from reprocheck.redaction import Redaction
from reprocheck.report import diffs
from reprocheck.report.markdown import Markdown, block, code, md, prose, say
from reprocheck.report.text import origin

HOLDS: Mapping[str, str] = {
    "issue.md": mark("the text of the issue, ready to paste"),
    "report.html": mark("the whole report as one page; it needs no network"),
    "report.json": mark("the same for programs"),
    "losses.csv": mark("the losses and series of each run, with every bit"),
    "replay.py": mark("a script that shows the operation that differs, alone"),
    "replay.safetensors": mark("tensors of the training, which that script gives to the operation"),
    "README.md": mark("this text"),
}
SOURCE = mark("the user's files that the command needs, as far as the report folder keeps them")
LOG = mark("the ends of the logs of the runs")
MEANS: Mapping[str, str] = {
    "none": mark("Nothing was taken out beside what was masked when the check was recorded."),
    "default": mark(
        "Only fields of a list leave the machine, and all text in them went through a detector of"
        " secrets."
    ),
    "strict": mark(
        "Only numbers and words of closed lists leave the machine: free text is left out, and names"
        " are numbered."
    ),
}
"""By what `--redact` asks for."""
MOST_LINES = 100


def way(redaction: Redaction) -> str:
    """Return what `--redact` is asked for where this is what comes of it."""
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
    yield from (md("# {}", tr("What this is")), "")
    title = tr("{sentence}.", sentence=subject.title)
    yield from (Markdown(sentences(md("**{}**", title), prose(subject.where))), "")
    yield from (tr("The smallest command that shows it:"), "")
    yield from (*block(subject.command, "sh"), "")
    yield from (_takes(files), "", md("## {}", tr("What is inside")), "")
    for name in HOLDS:
        if name in files or name == "README.md":
            yield say("- {name}: {value}", name=code(name), value=tr(HOLDS[name]))
    texts = [name for name in files if name.startswith(f"{FOLDER}/")]
    logs = [name for name in files if name.startswith(f"{LOGS}/")]
    for folder, holds, inside in ((FOLDER, SOURCE, texts), (LOGS, LOG, logs)):
        if inside:
            yield say("- {name}: {value}", name=code(f"{folder}/"), value=tr(holds))
    yield ""
    yield say("- log: {lines}", lines=_files(logs) or tr("none; `--with-log` adds its end"))
    yield say("- source: {lines}", lines=_files(texts) or _source(subject))
    yield say("- values: {values}", values=_values(files))
    yield say("- weights: none")
    if subject.losses:
        yield say("- losses: {losses}", losses=subject.losses)
    yield from (
        "",
        md("## {} (`--redact {}`)", tr("What was taken out"), redact),
        "",
        tr(MEANS[redact]),
        "",
    )
    yield from counted(counts)


def _takes(files: Mapping[str, bytes]) -> str:
    """Return what the command takes."""
    said = tr("It takes the script, which is not inside.")
    if any(name.startswith(f"{FOLDER}/") for name in files):
        said = tr("It takes the script, which lies in `{folder}/`.", folder=FOLDER)
    if "replay.py" in files:
        said = sentences(said, tr("`python replay.py` takes the framework alone."))
    return said


def _files(texts: Sequence[str]) -> str:
    """Return the user's files that leave."""
    return Markdown(joined(tr(", "), map(code, texts)))


def _values(files: Mapping[str, bytes]) -> str:
    """Return which values leave."""
    tensors = files.get("replay.safetensors")
    if tensors is None:
        return tr("none but losses and series; no tensor")
    return tr(
        "yes, {kilobytes:,} KB of tensors in `replay.safetensors`, beside losses and series",
        kilobytes=-(-len(tensors) // 1000),
    )


def counted(counts: Mapping[str, int]) -> Iterator[str]:
    """Yield a line for each kind, the most frequent first."""
    if not counts:
        yield say("- nothing")
    for kind, number in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        yield say("- {name}: {value}", name=tr(kind), value=f"{number:,}")


def _source(subject: Subject) -> str:
    """Return the lines of the user's code whose text leaves."""
    cited = (*subject.cited, *chain.from_iterable(map(_lines_of, subject.diffs)))
    shown = sorted((one for one in cited if one.text.strip()), key=lambda one: (one.file, one.line))
    places = list(dict.fromkeys(code(origin(one)) for one in shown))
    if not places:
        return tr("none; `--with-source` adds the files")
    if len(places) > MOST_LINES:
        places[MOST_LINES:] = [say("and {number} more", number=len(places) - MOST_LINES)]
    return say("these lines: {places}", places=Markdown(joined(tr(", "), places)))


def _lines_of(diff: str) -> Iterator[SourceLine]:
    """Yield the lines of the user's files that a unified difference shows; what a patch adds is
    none of them.
    """
    for one in diffs.lines(diff):
        if one.sign != "+":
            yield SourceLine(file=one.file, line=one.before, text=one.text)
        # stands before the name of a file in the second head of a patch, and of no other difference
        elif one.head != "b":
            yield SourceLine(file=one.file, line=one.after, text=one.text)
