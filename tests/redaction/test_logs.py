"""Logs of runs are masked line by line, whatever their size."""

from __future__ import annotations

import io

from reprocheck.redaction import mask_stream

ANNA = ("/home/anna", "anna", "gpu7.example.org")


def test_a_log_is_masked_across_the_borders_of_its_blocks() -> None:
    line = b"loss 0.5 /home/anna/data " + b"x" * 1000 + b"\n"
    text = line * 9000
    target = io.BytesIO()
    mask_stream(io.BytesIO(text), target, *ANNA)
    assert target.getvalue() == text.replace(b"/home/anna", b"~")


def test_an_endless_line_is_masked_too() -> None:
    text = b"".join(b"%06d /home/anna " % number for number in range(600_000))
    target = io.BytesIO()
    mask_stream(io.BytesIO(text), target, *ANNA)
    assert target.getvalue() == text.replace(b"/home/anna", b"~")


def test_a_log_without_names_stays_as_it_is() -> None:
    target = io.BytesIO()
    text = b"loss 0.5\xff\n" * 1000
    assert mask_stream(io.BytesIO(text), target, *ANNA) == 0
    assert target.getvalue() == text


def test_secrets_of_a_log_are_counted_across_its_blocks() -> None:
    line = b"https://me:pass@example.org token=hf_0123456789abcdefghijABCDEFGHIJ\n"
    text = line * 100_000
    target = io.BytesIO()
    assert mask_stream(io.BytesIO(text), target, *ANNA) == 200_000
    assert b"hf_0" not in target.getvalue() and b"me:pass" not in target.getvalue()


def test_bytes_of_any_encoding_stay_as_they_are() -> None:
    target = io.BytesIO()
    text = "\N{SNOWMAN} zoë".encode() + b" \xff"
    mask_stream(io.BytesIO(text), target, "", "zoë", "")
    assert target.getvalue() == "\N{SNOWMAN} <user>".encode() + b" \xff"
