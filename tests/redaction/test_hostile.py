"""Hostile text in the fields of one class at a time of all that is reported: no format shows it as
more than text.

The fields are those of the list of `fields`; what it does not name reaches no report that leaves.
"""

from __future__ import annotations

import io
import json
import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from markdown_it import MarkdownIt

from benchmarks.sown import compared
from reprocheck.bundle import made
from reprocheck.model import Check, SourceLine
from reprocheck.redaction import Redaction, redacted
from reprocheck.redaction.fields import FIELDS, TABLES, Table, rows
from reprocheck.report import FORMATS
from reprocheck.resume import attachment
from reprocheck.resume.check import load
from reprocheck.resume.model import (
    Attempt,
    Confirmation,
    Mark,
    Mechanism,
    Option,
    OtherRanks,
    Repair,
    Reported,
    ReportedPair,
    ResumeCheck,
    Trial,
)
from reprocheck.resume.report.formats import FORMATS as OF_RESUME
from reprocheck.suite import texts
from reprocheck.suite.model import NightReport
from reprocheck.suite.pages import FORMATS as OF_SUITE, notices
from reprocheck.suite.reports import to_paste
from tests.report.samples import SAMPLES
from tests.resume.recorded import resumed
from tests.suite.pages.samples import one_of_each

WORD = "hostileword"
HOSTILE = (
    f"{WORD} <script>alert(1)</script> ]]> \x1b[31mred\x1b[0m \x1b]0;owned\x07 `tick | @someone #1 "
    "![x](http://h/x) \x00\x08\x85\u2028\udcff </pre hostile></details hostile> & \u202eevil **bold** =1+1\r\n::error::x\n# title"
)
CLOSED = {
    *(("Drift", name) for name in ("name", "title", "expects", "why", "reference")),
    *(("Rung", name) for name in ("rung", "status", "size")),
    *(("Cause", name) for name in ("confidence", "fix_from")),
    *(("StaticFinding", name) for name in ("severity", "fix_from", "executed")),
    *(("Ladder", name) for name in ("first", "level")), ("Lead", "rung"),
    *(("Verdict", name) for name in ("verdict", "failed_check")),
    *(("StateRung", name) for name in ("name", "status")),
    *(("TargetState", name) for name in ("state", "night", "since")),
    ("EntryPoint", "kind"), ("RunRecord", "ended"), ("Comparison", "kind"), ("Checked", "kind"),
    ("SeriesComparison", "state"), ("Outcome", "verdict"), ("DeeperPair", "level"), ("Night", "id"),
    ("Attempt", "rungs"), ("Attempt", "acted"), ("Attempt", "names"), ("Confirmation", "rungs"),
    ("Explained", "mechanisms"), ("Night", "shard"), ("CheckRecord", "controls"),
    ("Arm", "controls"), ("Arm", "rungs"), ("LossSeries", "exact"), ("LossSeries", "dtypes"),
    ("TargetCheck", "night"), ("Baseline", "night"), ("TargetReport", "green"), ("TargetReport", "last_checked"), ("KnownIssue", "until"), ("Outcomes", "statement"),
    ("CheckRecord", "started"), ("RunRecord", "started"), ("Side", "started"), ("Search", "smallest"),
    ("Tried", "controls"), ("Touch", "control"), ("Override", "control"), ("Conflict", "control"),
    ("Search", "cost_of"), ("Run", "level"), ("StaticFinding", "code"), ("StaticFinding", "name"),
    ("Mark", "role"), ("Ladder", "independent"), ("Process", "python"), ("ResumeRecord", "interrupt"),
}  # fmt: skip
"""Fields whose values are checked when they are read, or decide what is drawn."""


def planted(thing: Any, kind: str) -> Any:
    """The same with hostile text in the fields of all objects of a class."""
    if is_dataclass(thing) and not isinstance(thing, type):
        names = FIELDS_OF.get(kind, frozenset()) if type(thing).__name__ == kind else ()
        changed = {
            field.name: _shaped(old, field.name) if field.name in names else new
            for field in fields(thing)
            if (new := planted(old := getattr(thing, field.name), kind)) is not old
            or field.name in names
        }
        return replace(thing, **changed) if changed else thing
    if isinstance(thing, (tuple, list)):
        made = tuple(planted(one, kind) for one in thing)
        return made if any(map(lambda new, old: new is not old, made, thing)) else thing
    if isinstance(thing, Mapping):
        made_of = {key: planted(value, kind) for key, value in thing.items()}
        return made_of if any(made_of[key] is not thing[key] for key in thing) else thing
    return thing


def _shaped(old: object, name: str) -> object:
    """Hostile text as a field holds it."""
    if name == "measures":  # numbers by name
        return {**old, HOSTILE: 1.0}
    if isinstance(old, Mapping):
        value = (HOSTILE, HOSTILE) if name == "changed" else HOSTILE
        return {**old, HOSTILE: value, "torch": value}
    if isinstance(old, (tuple, list)) and old and isinstance(old[0], tuple):
        return ((HOSTILE, HOSTILE),)
    if isinstance(old, (tuple, list)):
        return (*old, HOSTILE)
    return HOSTILE


FIELDS_OF: dict[str, set[str]] = {}
for row in FIELDS:
    if row not in CLOSED:
        FIELDS_OF.setdefault(row[0], set()).add(row[1])


def of(table: Table) -> list[str]:
    """The classes of a table of which a field holds text."""
    return sorted({row[0] for row, _ in rows(table) if row not in CLOSED})


# ------------------------------------------------------------------------- what no format may show


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))


def html(data: bytes) -> None:
    text = plain(data)
    tags = _Tags()
    tags.feed(text)
    assert not any(key.startswith("on") for _, attributes in tags.found for key in attributes)
    assert "<script>alert" not in text and "</pre hostile" not in text
    assert not any(tag == "img" and "h/x" in str(a.get("src")) for tag, a in tags.found)


def markdown(data: bytes) -> None:
    text = plain(data)
    found = MarkdownIt("commonmark").enable("table").parse(text)
    tokens = [one for token in found for one in (token, *(token.children or ()))]
    written = " ".join(one.content for one in tokens if one.type in ("html_inline", "html_block"))
    allowed = {
        "<details>",
        "<summary>",
        "</summary>",
        "</details>",
        "<sub>",
        "</sub>",
        "<code>",
        "</code>",
    }
    assert set(re.findall(r"<[^!>]*>", written)) <= allowed
    assert text.count("\n<details>") == text.count("\n</details>")
    assert not {"link_open", "image"} & {one.type for one in tokens}
    shown = " ".join(one.content for one in tokens if one.type == "text")
    assert "@someone" not in shown and "#1" not in shown
    headings = [
        tokens[at + 1].content for at, one in enumerate(tokens) if one.type == "heading_open"
    ]
    assert "title" not in headings


def xml(data: bytes) -> None:
    plain(data)
    assert ElementTree.fromstring(data).find(".//script") is None


def as_json(data: bytes) -> None:
    plain(data)
    for text in _texts(json.loads(data)):
        _no_control(text.replace("\n", ""))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for one in (
        (*value, *value.values())
        if isinstance(value, dict)
        else value
        if isinstance(value, list)
        else ()
    ):
        yield from _texts(one)


def csv(data: bytes) -> None:
    plain(data)
    frame = pd.read_csv(io.BytesIO(data))
    for name in ("series", "by"):
        assert not any(str(one).startswith(("=", "+", "@", "-")) for one in frame[name])


def annotations(data: bytes) -> None:
    lines = plain(data).splitlines()
    assert all(re.match(r"::(error|warning) (file=|title=)", line) for line in lines)
    assert not any(line.count("\n") for line in lines) and len(lines) < 20


def plain(data: bytes) -> str:
    """The text of a file, in which nothing steers a terminal or turns text around."""
    text = data.decode()
    _no_control(text.replace("\n", "").replace("\t", ""))
    return text


def _no_control(text: str) -> None:
    found = {letter for letter in text if unicodedata.category(letter) in ("Cc", "Cs")} | (
        set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u2028\u2029") & set(text)
    )
    assert found == set()


OF_KIND: Mapping[str, Callable[[bytes], None]] = {
    "html": html, "md": markdown, "junit": xml, "json": as_json, "csv": csv, "github": annotations,
}  # fmt: skip
OF_SUFFIX = {".html": html, ".md": markdown, ".json": as_json, ".csv": csv}


# ---------------------------------------------------------------------------------------- the tests


@pytest.fixture(scope="module")
def resume(tmp_path_factory: pytest.TempPathFactory) -> ResumeCheck:
    """A check of a resume with something in each part of its model."""
    check = load(resumed(tmp_path_factory.mktemp("resume") / "run"))
    (outcome,) = check.outcomes
    explained = replace(
        outcome.explained,
        beside=("x",),
        coverage=("x",),
        other_ranks=OtherRanks(ranks=(1, 2), samples=(1, 2)),
    )
    mark = Mark(role="saves", source=SourceLine(file="x", line=1, text="x"))
    pair = ReportedPair(iteration=3, continued=1.0, resumed=2.0)
    attempt = Attempt(
        rungs=("weights",), run=2, agrees=True, names={"weights": ("x",)}, unavailable=("x",)
    )
    confirmation = Confirmation(
        sentence="x", rungs=("weights",), attempts=(attempt,), mechanisms=tuple(outcome.causes)
    )
    outcome = replace(
        outcome,
        explained=replace(
            explained,
            mechanisms={"weights": Mechanism(code="SEED", title="x", fix="x", marks=(mark,))},
        ),
        option=Option(words="--x", source=SourceLine(file="x", line=1, text="x")),
        reported=(Reported(name="x", by="keras", rank=0, pairs=(pair,)),),
        confirmation=confirmation,
        repair=Repair(patch="x", sentence="x"),
        read=("x",),
    )
    asked = replace(
        check.asked,
        resume_with="--x",
        pattern="x",
        missed=("x",),
        trial=Trial(of=0, patch="x"),
    )
    return replace(check, outcomes=(outcome,), asked=asked, caveats=("x",), coverage=("x",))


@pytest.mark.parametrize("kind", of(TABLES.check))
def test_no_format_of_a_check_shows_hostile_text_as_more(kind: str) -> None:
    checks = SAMPLES["explained"](), compared(), SAMPLES["with_series"]()
    planted_in = (planted(check, kind) for check in checks)
    (hostile, *_) = (one for one, check in zip(planted_in, checks, strict=True) if one is not check)
    _is_only_text(hostile)


def test_no_format_of_a_check_with_series_shows_hostile_text_as_more() -> None:
    hostile = planted(SAMPLES["with_series"](), "SeriesComparison")
    _is_only_text(hostile)
    text = FORMATS["md"].render(redacted(hostile, Redaction("folder"))).decode()
    assert WORD in text.splitlines()[0] and "&lt;script&gt;" in text.splitlines()[0]


def _is_only_text(hostile: Check) -> None:
    for name, form in FORMATS.items():
        if name in OF_KIND:
            OF_KIND[name](form.render(hostile))
    for name, data in made(hostile, Redaction()).files.items():
        if Path(name).suffix in OF_SUFFIX:
            OF_SUFFIX[Path(name).suffix](data)


@pytest.mark.parametrize("kind", of(TABLES.resume))
def test_no_format_of_a_resume_shows_hostile_text_as_more(kind: str, resume: ResumeCheck) -> None:
    hostile = planted(resume, kind)
    assert hostile is not resume
    for name, form in OF_RESUME.items():
        OF_KIND[name](form.render(hostile))
    for name, data in attachment.made(hostile, Redaction(), {}).files.items():
        OF_SUFFIX[Path(name).suffix](data)


@pytest.mark.parametrize("kind", of(TABLES.night))
def test_no_text_of_a_night_shows_hostile_text_as_more(kind: str) -> None:
    report: NightReport = one_of_each()
    hostile = planted(report, kind)
    assert hostile is not report
    for name, form in OF_SUITE.items():
        OF_KIND[name](form.render(hostile))
    for one in hostile.targets:
        markdown(texts.issue(hostile.night, one))
    pasted = to_paste(hostile, *hostile.targets)
    sent = notices.payload(pasted, notices.changes(pasted), {})
    as_json(json.dumps(sent).encode())
    assert len(str(sent["text"]).splitlines()) <= 1 + len(report.targets)
