"""A check in another language: the report of the sample, which was recorded in English."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape

import pytest

from reprocheck.cli import main
from reprocheck.language import spoken
from reprocheck.model import Check
from reprocheck.recording import bundle
from reprocheck.report import FORMATS, next_command, to_json
from reprocheck.workflow import replay
from tests.conftest import ROOT

SAMPLE = ROOT / "reports" / "sample" / "recording.zip"
NOT_PROSE = re.compile(
    r"```.*?```|`[^`]*`|<(script|style|pre|code|svg)\b.*?</\1>|<[^>]*>", re.DOTALL
)
RECORDED = (
    "a seed of numpy.random",
    "random.Random without a seed",
    "the patch in a copy of the working directory, without any control",
)
"""What a control acted on, and what an arm of the sample was for: the recording holds these words."""
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


def english_in(check: Check, name: str) -> list[str]:
    """Sentences that are not Chinese, outside of code, logs, markup and what the scan says of a
    place.
    """
    report = FORMATS[name].render(check).decode()
    prose = unescape(NOT_PROSE.sub(" ", report))
    scanned = [NOT_PROSE.sub(" ", one.message) for one in check.scanned.findings]
    for kept in (*RECORDED, *scanned):
        prose = prose.replace(kept, "")
    return [found[0] for found in ENGLISH.finditer(prose)]


@pytest.mark.parametrize("name", ["md", "html"])
def test_a_report_in_chinese_holds_no_english_sentence(
    name: str, recorded: tuple[Check, Check]
) -> None:
    english, chinese = recorded
    assert english_in(english, name)
    with spoken("zh"):
        assert english_in(chinese, name) == []
        assert not ENGLISH.search(next_command(chinese)[0])


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
