"""A check in another language: the report of the sample, which was recorded in English."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from reprocheck.cli import main
from reprocheck.language import spoken
from reprocheck.model import Check
from reprocheck.recording import bundle
from reprocheck.report import FORMATS, content, to_json
from reprocheck.report.blocks import CausePanel
from reprocheck.workflow import replay
from tests.conftest import ROOT

SAMPLE = ROOT / "reports" / "sample" / "recording.zip"
RECORDED = (
    "a seed of numpy.random",
    "random.Random without a seed",
    "the patch in a copy of the working directory, without any control",
)
"""What a control acted on, and what an arm of the sample was for: the recording holds these words."""
CODE = re.compile(r"`[^`]*`")
ENGLISH = re.compile(r"[A-Za-z]+(?:,? [a-z]+){3,}")
"""Four words and more: names of operators, modules and products are shorter."""


@pytest.fixture(scope="module")
def recorded() -> Iterator[tuple[Check, Check]]:
    """The check as it is read in English, and in Chinese."""
    with bundle.opened(SAMPLE) as folder:
        english = replay.load(folder)
        with spoken("zh"):
            chinese = replay.load(folder)
        yield english, chinese


def top_layer(check: Check) -> list[str]:
    """Verdict, lead, causes with what shows them and what to do, next step, and headings."""
    report = content.report(check)
    panels = [
        block
        for section in report.sections
        for block in section.blocks
        if isinstance(block, CausePanel)
    ]
    repairs = [panel.repair for panel in panels if panel.repair is not None]
    return [
        *(report.title, report.lead, *report.reasons, report.next[0]),
        *(section.title for section in report.sections),
        *(text for panel in panels for text in (panel.heading, panel.title, panel.badge)),
        *(sentence for panel in panels for sentence in panel.evidence),
        *(repair.said or repair.text for repair in repairs if repair.kind != "code"),
    ]


def english_in(check: Check) -> list[str]:
    """The English sentences of the top layer, outside of code and what the scan says of a place."""
    texts = [CODE.sub(" ", text) for text in top_layer(check)]
    scanned = [CODE.sub(" ", finding.message) for finding in check.scanned.findings]
    for recorded in (*RECORDED, *scanned):
        texts = [text.replace(recorded, "") for text in texts]
    return [match[0] for text in texts for match in ENGLISH.finditer(text)]


def test_what_a_report_tells_first_is_chinese(recorded: tuple[Check, Check]) -> None:
    english, chinese = recorded
    assert len(english_in(english)) > 5
    with spoken("zh"):
        assert english_in(chinese) == []


def test_the_page_says_in_which_language_it_is(recorded: tuple[Check, Check]) -> None:
    english, chinese = recorded
    assert b'<html lang="en">' in FORMATS["html"].render(english)
    with spoken("zh"):
        assert b'<html lang="zh-CN">' in FORMATS["html"].render(chinese)


def test_the_report_for_programs_is_the_same_in_every_language(
    recorded: tuple[Check, Check],
) -> None:
    english, chinese = recorded
    with spoken("zh"):
        assert to_json(chinese) == to_json(english)


def test_the_variable_chooses_the_language_and_the_flag_goes_first(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("REPROCHECK_LANG", "zh")
    assert main(["report", str(SAMPLE), "--format", "md"]) == 0
    assert "不可复现" in capsys.readouterr().out
    assert main(["report", str(SAMPLE), "--format", "md", "--lang", "en"]) == 0
    assert "不可复现" not in capsys.readouterr().out
