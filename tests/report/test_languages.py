"""A check in another language: the report of the sample, which was recorded in English."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from reprocheck.cli import main
from reprocheck.language import spoken
from reprocheck.model import Check
from reprocheck.recording import bundle
from reprocheck.report import FORMATS, next_command, to_json
from reprocheck.workflow import replay
from tests.conftest import ROOT

SAMPLE = ROOT / "reports" / "sample" / "recording.zip"
CHINESE = re.compile("[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def recorded() -> Iterator[tuple[Check, Check]]:
    """The check as it is read in English, and in Chinese."""
    with bundle.opened(SAMPLE) as folder:
        english = replay.load(folder)
        with spoken("zh"):
            chinese = replay.load(folder)
        yield english, chinese


def test_what_is_told_first_is_chinese(recorded: tuple[Check, Check]) -> None:
    english, chinese = recorded
    assert english.lead is not None and chinese.lead is not None
    (cause, *_), (other, *_) = chinese.causes, english.causes
    told = [chinese.verdict.title, chinese.verdict.reason, chinese.lead.sentence, cause.title]
    own = [english.verdict.title, english.verdict.reason, english.lead.sentence, other.title]
    with spoken("zh"):
        told += [next_command(chinese)[0], " ".join(cause.evidence)]
    own += [next_command(english)[0], " ".join(other.evidence)]
    assert [text for text in told if not CHINESE.search(text)] == []
    assert [text for text in own if CHINESE.search(text)] == []


def test_the_rest_is_english(recorded: tuple[Check, Check]) -> None:
    english, chinese = recorded
    assert chinese.coverage == english.coverage and english.coverage
    assert chinese.caveats == english.caveats
    assert chinese.changed_to_observe == english.changed_to_observe
    assert chinese.verdict.outcomes == english.verdict.outcomes
    assert chinese.ladder is not None and english.ladder is not None
    assert chinese.ladder.rungs == english.ladder.rungs
    assert chinese.search is not None and english.search is not None
    assert chinese.search.sentence == english.search.sentence


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
