"""report.md, junit.xml and losses.csv."""

from __future__ import annotations

import io
import math
import re
from dataclasses import replace
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from reprocheck.model import Check
from reprocheck.report import FORMATS, losses, next_command, text
from reprocheck.report.markdown import block, cell, code, prose
from tests.report.parts import HOSTILE
from tests.report.samples import (
    SAMPLES,
    backward_fails,
    bitwise_equal,
    explained,
    hostile,
    inconclusive_nan,
    million,
    run,
    script_failed,
    series,
    three_runs,
    trace,
    two_ranks,
)


def cases(check: Check) -> dict[str, str]:
    suite = ElementTree.fromstring(FORMATS["junit"].render(check)).find("testsuite")
    assert suite is not None
    return {
        case.attrib["name"]: case[0].tag if len(case) else "passed"
        for case in suite.findall("testcase")
    }


# ----------------------------------------------------------------------------------------- Markdown


@pytest.mark.parametrize("sample", SAMPLES)
def test_markdown_snapshot(sample: str, snapshot: Any) -> None:
    assert FORMATS["md"].render(SAMPLES[sample]()).decode() == snapshot


def parsed(document: str) -> list[Token]:
    """The tokens of a document as CommonMark with tables has it, those inside of lines, too."""
    found = MarkdownIt("commonmark").enable("table").parse(document)
    return [one for token in found for one in (token, *(token.children or ()))]


def html_of(document: str) -> set[str]:
    """The HTML tags that a forge would find."""
    written = " ".join(
        token.content for token in parsed(document) if token.type in ("html_inline", "html_block")
    )
    return set(re.findall(r"<[^!>]*>", written))


def test_markdown_of_hostile_text_stays_text() -> None:
    document = FORMATS["md"].render(hostile()).decode()
    assert html_of(document) == {
        "<details>",
        "<summary>",
        "</summary>",
        "</details>",
        "<sub>",
        "</sub>",
    }
    assert document.count("\n<details>") == document.count("\n</details>")
    assert not {"strong_open", "link_open", "image"} & {
        token.type for token in parsed(prose(HOSTILE))
    }
    assert "\x1b" not in document and "\x00" not in document


@given(st.text(alphabet=st.sampled_from(list("`` \\|<>@#*_[]()~&ab1.-:/\n")), max_size=40))
def test_nothing_that_is_printed_becomes_markup(raw: str) -> None:
    inside = {
        "inline",
        "text",
        "code_inline",
        "paragraph_open",
        "paragraph_close",
        "html_inline",
        "text_special",
    }
    found = parsed(f"start {prose(raw)} end")
    assert {token.type for token in found} <= inside
    assert html_of(f"start {prose(raw)} end") == set()


@given(st.text(alphabet=st.sampled_from(list("`` \\|<>@#*ab1")), max_size=40))
def test_a_cell_stays_a_cell(raw: str) -> None:
    found = parsed(f"| a | b |\n|---|---|\n| {cell(raw)} | last |\n")
    assert sum(token.type == "td_open" for token in found) == 2
    assert [token.content for token in found if token.type == "inline"][-1] == "last"


def test_code_in_a_sentence_is_code_in_the_report() -> None:
    document = FORMATS["md"].render(explained()).decode()
    spans = [token.content for token in parsed(document) if token.type == "code_inline"]
    assert {
        "encoder.blocks.0.noise",
        "aten.randn.generator",
        "model/noise.py:14",
        "python train.py --lr 0.1",
    } <= set(spans)
    assert "\\`" not in document


def test_the_report_begins_with_verdict_command_machine_and_commit() -> None:
    document = FORMATS["md"].render(explained()).decode()
    head = document[: document.index("### Cause")]
    for said in (
        "- command: `python train.py --lr 0.1`",
        "- machine: Linux x86\\_64, 2 × Example CPU",
        "- software: Python 3.11.7, torch 2.13.0",
        "- commit: 5f2c9e10ab12, with changes that are not committed",
    ):
        assert said in head
    assert (
        document.index("### Cause")
        < document.index("| Largest difference in the checks |")
        < document.index("### Where the runs diverge")
    )


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        ("a|b", "a\\|b"),
        ("call `a|b` now", "call `a|b` now"),
        ("one ` alone", "one \\` alone"),
        ("<b>", "&lt;b&gt;"),
        ("@you #12", "@<!-- -->you #<!-- -->12"),
        ("- item", "\\- item"),
        ("1. item", "1\\. item"),
        ("# head", "\\# head"),
        ("two\nlines", "two lines"),
        ("https://example.org", "https:<!-- -->//example.org"),
        ("snake_case", "snake\\_case"),
        ("0.5 and -9", "0.5 and -9"),
        ("-9", "-9"),
        ("---", "\\---"),
    ],
)
def test_prose_is_escaped(raw: str, made: str) -> None:
    assert prose(raw) == made


def test_code_holds_backticks_and_pipes() -> None:
    assert code("a`b") == "``a`b``"
    assert code("`") == "`` ` ``"
    assert (code("a|b"), cell("`a|b`")) == ("`a|b`", "`a\\|b`")


@given(st.text())
def test_a_block_cannot_be_left(raw: str) -> None:
    lines = block(text.tail(raw, 30, 3000))
    fence = lines[-1]
    assert not any(line.lstrip().startswith(fence) for line in lines[1:-1])


# -------------------------------------------------------------------------------------------- JUnit


@pytest.mark.parametrize("sample", SAMPLES)
def test_junit_is_valid_and_counts(sample: str) -> None:
    root = ElementTree.fromstring(FORMATS["junit"].render(SAMPLES[sample]()))
    suite = root.find("testsuite")
    assert suite is not None
    for key, tag in (("failures", "failure"), ("errors", "error"), ("skipped", "skipped")):
        assert (
            int(suite.attrib[key]) == len(suite.findall(f"testcase/{tag}")) == int(root.attrib[key])
        )
    assert int(suite.attrib["tests"]) == len(suite.findall("testcase"))


def test_junit_snapshot(snapshot: Any) -> None:
    assert FORMATS["junit"].render(script_failed()).decode() == snapshot


def test_junit_hostile_snapshot(snapshot: Any) -> None:
    assert FORMATS["junit"].render(hostile()).decode() == snapshot


@pytest.mark.parametrize(
    ("sample", "script", "forward", "backward"),
    [
        ("bitwise_equal", "passed", "passed", "passed"),
        ("forward_fails", "passed", "failure", "failure"),
        ("backward_fails", "passed", "passed", "failure"),
        ("inconclusive_nan", "passed", "passed", "error"),
        ("nothing", "passed", "error", "error"),
        ("script_failed", "error", "skipped", "skipped"),
        ("timed_out", "error", "passed", "skipped"),
    ],
)
def test_junit_cases(sample: str, script: str, forward: str, backward: str) -> None:
    assert cases(SAMPLES[sample]()) == {
        "script": script,
        "forward check": forward,
        "backward check": backward,
    }


def test_a_stricter_rule_is_a_case_of_its_own() -> None:
    assert cases(two_ranks())["stricter rule (--fail-on)"] == "failure"


# ---------------------------------------------------------------------------------------------- CSV


def read(data: bytes) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(data))


@pytest.mark.parametrize(
    "sample", [backward_fails, three_runs, two_ranks, inconclusive_nan, lambda: million(120_001)]
)
def test_csv_gives_every_loss_back(sample: Any) -> None:
    check = sample()
    frame = read(FORMATS["csv"].render(check))
    assert list(frame.columns) == list(losses.COLUMNS)
    for each in check.runs:
        for one in each.traces:
            mine = frame[(frame.run == each.number) & (frame["rank"] == one.rank)]
            assert mine.value.to_numpy().tobytes() == np.asarray(one.losses.values).tobytes()
            assert mine.iteration.iloc[-1] == len(one.losses)
            assert set(mine.dtype) == {"float32"}


def test_csv_counts_the_losses_of_an_iteration_and_keeps_every_bit() -> None:
    values = [0.1, 1e-7, 1e300, -0.0, math.nan, math.inf, -math.inf, 5e-324, 123456789.0]
    found = run(1, [trace(series(values, per_iteration=3))])
    check = replace(bitwise_equal(), runs=(found,))
    frame = read(FORMATS["csv"].render(check))
    assert frame.value.to_numpy().tobytes() == np.array(values).tobytes()
    assert frame["index"].tolist() == [0, 1, 2] * 3
    assert frame.iteration.tolist() == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    some = read(b"".join(losses.chunks(check, [2])))
    assert some.value.to_numpy().tobytes() == np.array(values[3:6]).tobytes()


def test_csv_of_nothing_is_its_head() -> None:
    assert (
        FORMATS["csv"].render(SAMPLES["nothing"]())
        == b"run,rank,series,by,iteration,index,step,value,dtype\n"
    )
    empty = run(1, [trace(series([]))])
    assert (
        list(
            losses.chunks(
                Check(record=bitwise_equal().record, runs=(empty,), verdict=bitwise_equal().verdict)
            )
        )[1:]
        == []
    )


# -------------------------------------------------------------------------------------------- words


@pytest.mark.parametrize(
    ("raw", "made"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;title\x07after", "after"),
        (" 10%\r 50%\r100%\n", "100%\n"),
        ("a\r\nb", "a\nb"),
        ("\x00\x08", "��"),
        ("\udcff", "�"),
        ("\u202eevil", "�evil"),
        ("tab\tkept", "tab\tkept"),
    ],
)
def test_printable(raw: str, made: str) -> None:
    assert text.printable(raw) == made


@given(st.text(alphabet=st.characters()))
def test_printable_text_can_stand_in_xml(raw: str) -> None:
    element = ElementTree.Element("x")
    element.text = text.printable(raw)
    assert ElementTree.fromstring(ElementTree.tostring(element, encoding="utf-8")).text == (
        element.text or None
    )


@pytest.mark.parametrize("sample", SAMPLES)
def test_next_command_names_the_entry_point(sample: str) -> None:
    why, command = next_command(SAMPLES[sample]())
    assert why.endswith(":")
    assert "\n" not in command
    if sample in ("explained", "hostile"):
        assert command.startswith("reprocheck explain ")
    else:
        assert command.startswith("reprocheck run --") or sample in (
            "script_failed",
            "inconclusive_nan",
        )


def test_next_command_keeps_the_flags_that_were_given() -> None:
    assert (
        next_command(bitwise_equal())[1]
        == "reprocheck run --runs 5 --timeout 600 train.py --lr 0.1"
    )
    assert next_command(two_ranks())[1].endswith("-- torchrun --nproc-per-node 2 train.py")


@pytest.mark.parametrize("sample", SAMPLES)
def test_a_pass_is_never_called_deterministic(sample: str) -> None:
    for name in ("md", "html", "junit"):
        assert "is deterministic" not in FORMATS[name].render(SAMPLES[sample]()).decode().lower()
