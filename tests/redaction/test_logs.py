"""Logs of runs are masked line by line, whatever their size, as the patterns mask them as a whole."""

from __future__ import annotations

import io

import pytest
from hypothesis import given, settings, strategies as st

from reprocheck.child.reprocheck_child.shared.masking import mask
from reprocheck.child.reprocheck_child.shared.redaction import SIGNS, Redactor
from reprocheck.redaction import logs, mask_stream
from reprocheck.redaction.signs import Signs
from tests.child.shared.test_redaction import KEY, MASKED

ANNA = ("/home/anna", "anna", "gpu7.example.org")
KNOWN = ("pa55word", "0123-abc-4567")
HELD = [text for text, _ in MASKED]
ORDINARY = [
    "step 12 loss 0.125 lr 1e-3 tokens/s 1234", "2026-11-22 07:40:01,123 INFO key=3", "the basic author signs in",
    '{"loss": 0.1, "t": [1, 2]}', "(fc): Linear(in=3)  # key_proj", "sk-3 task-2 disk-u std::vector", "1.2 1.3 1.4 v1.2.3.4", "",
]  # fmt: skip
NAMES = ["/home/anna/x.py", "anna", "annabel", "/mnt/home/anna", "on gpu7", "https://me:p@h/x", "ssh://home/anna", "s3://anna:p@h", "pa55word", "0123-abc-4567"]  # fmt: skip
LETTERS = "\n\r\t :=,(@./-_'\"<>1azKéÿZ"
PIECES = st.one_of(
    st.sampled_from([*HELD, *ORDINARY, *NAMES, *KEY.splitlines(), *SIGNS]),
    st.text(st.sampled_from(LETTERS), max_size=12),
    st.text(st.characters(max_codepoint=255), max_size=12),
)
TEXTS = st.lists(st.tuples(PIECES, st.sampled_from(["\n", "\r", "\r\n", " ", ":", ",\n", ""])), max_size=25)  # fmt: skip


def masked(text: str) -> tuple[str, int]:
    """A log as `mask_stream` writes it, and how much it counts."""
    target = io.BytesIO()
    count = mask_stream(io.BytesIO(text.encode("latin-1")), target, *ANNA, KNOWN)
    return target.getvalue().decode("latin-1"), count


def by_patterns(text: str) -> str:
    """The same, by the patterns alone."""
    return Redactor(KNOWN).text(mask(text, *ANNA))


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Texts of a few bytes are looked through as large ones are."""
    monkeypatch.setattr(logs, "SMALL", 0)


@pytest.mark.usefixtures("small")
@settings(max_examples=150)
@given(TEXTS)
def test_what_is_not_looked_at_holds_nothing(pieces: list[tuple[str, str]]) -> None:
    text = "".join(piece + end for piece, end in pieces)
    repeated = f"{text}\n{text}\n{text.replace('1', '7')}\n{text}"
    assert masked(repeated)[0] == by_patterns(repeated)


@pytest.mark.usefixtures("small")
def test_a_home_folder_within_a_longer_path_is_masked_before_the_name_in_it() -> None:
    text = "/mnt/home/anna/x of /home/anna and anna\n"
    assert masked(text)[0] == by_patterns(text) == "/mnt/~/x of ~ and <user>\n"


@pytest.mark.usefixtures("small")
@settings(max_examples=100)
@given(TEXTS, st.integers(1, 300))
def test_blocks_end_where_no_value_goes_on(pieces: list[tuple[str, str]], size: int) -> None:
    text = "".join(piece + end for piece, end in pieces) + "\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(logs, "_BLOCK", size)
        assert masked(text)[0] == by_patterns(text)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("text", HELD)
def test_each_secret_has_a_sign(text: str) -> None:
    for whole in (text, f"{text}\n", f"step 1\n{text.upper()}\nstep 2", f"x\r\n {text}\r\n"):
        assert masked(whole)[0] == by_patterns(whole)
    for ordinary in ("step 1 loss 0.5\n" * 2000, "step 1: 5 tokens/s, keys: 3\n" * 100):
        whole = f"{ordinary}{text}\n{ordinary}"
        assert masked(whole)[0] == by_patterns(whole)


def test_ordinary_text_has_few_signs() -> None:
    lines = "".join(
        f"[2026-11-22 07:40:{step % 60:02},123] INFO epoch {step} loss {step / 7} lr 1e-4 of it\n"
        for step in range(500)
    )
    assert not len(Signs(SIGNS, ["/home/anna", "://"]).find(lines.encode()).places)


def test_a_log_is_masked_across_the_borders_of_its_blocks() -> None:
    text = ("loss 0.5 /home/anna/data " + "x" * 1000 + "\n") * 9000
    assert masked(text) == (text.replace("/home/anna", "~"), 0)


def test_an_endless_line_is_masked_too() -> None:
    text = "".join(f"{number:06} /home/anna " for number in range(600_000))
    assert masked(text)[0] == text.replace("/home/anna", "~")


def test_a_log_without_names_stays_as_it_is() -> None:
    text = "loss 0.5\xff\n" * 1000
    assert masked(text) == (text, 0)


def test_secrets_of_a_log_are_counted_across_its_blocks() -> None:
    line = "https://me:pass@example.org token=hf_0123456789abcdefghijABCDEFGHIJ\n"
    shown, count = masked(line * 100_000)
    assert count == 200_000
    assert "hf_0" not in shown and "me:pass" not in shown


def test_bytes_of_any_encoding_stay_as_they_are() -> None:
    target = io.BytesIO()
    text = "\N{SNOWMAN} zoë".encode() + b" \xff"
    mask_stream(io.BytesIO(text), target, "", "zoë", "")
    assert target.getvalue() == "\N{SNOWMAN} <user>".encode() + b" \xff"
