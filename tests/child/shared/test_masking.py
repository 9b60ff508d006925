"""Names and credentials are masked, and nothing else is."""

from __future__ import annotations

import io

import pytest

from reprocheck.child.reprocheck_child.shared.masking import identity, mask, mask_bytes, mask_stream

ANNA = ("/home/anna", "anna", "gpu7.example.org")


@pytest.mark.parametrize(
    ("text", "masked"),
    [
        ("/home/anna/train.py", "~/train.py"),
        ("/home/anna", "~"),
        ("in /home/anna.", "in ~."),
        ("file:///home/anna/x", "file://~/x"),
        ("/home/annabel/x", "/home/annabel/x"),
        ("/home/anna-2/x", "/home/<user>-2/x"),
        ("/mnt/home/anna/x", "/mnt/home/<user>/x"),
        ("/tmp/torchinductor_anna/fx", "/tmp/torchinductor_<user>/fx"),
        ("anna_model.pt Joanna annas", "anna_model.pt Joanna annas"),
        ("anna@gpu7:~$ on gpu7.example.org", "<user>@<host>:~$ on <host>"),
        ("gpu70 gpu7", "gpu70 <host>"),
        ("https://me:secret@example.org/x?a=b@c", "https://<credentials>@example.org/x?a=b@c"),
        (
            "git+https://token@host/x and http://plain/x@y",
            "git+https://<credentials>@host/x and http://plain/x@y",
        ),
        ("https://a:p@ss@host", "https://<credentials>@host"),
        ("://@ ://", "://@ ://"),
        ("", ""),
    ],
)
def test_what_is_masked(text: str, masked: str) -> None:
    assert mask(text, *ANNA) == masked
    assert mask(masked, *ANNA) == masked
    assert mask_bytes(text.encode(), *ANNA) == masked.encode()


def test_everyday_names_stay_and_unknown_ones_harm_nothing() -> None:
    assert (
        mask("/root/x root user admin localhost", "/root", "root", "localhost")
        == "~/x root user admin localhost"
    )
    assert mask("a / b", "/", "", "") == "a / b"
    assert mask("text", "", "", "") == "text"


def test_home_elsewhere_than_the_user_name() -> None:
    assert mask("/data/people/zoë/x zoë", "/data/people/zoë", "zoë", "") == "~/x <user>"
    assert (
        mask_bytes("\N{SNOWMAN} zoë".encode() + b" \xff", "", "zoë", "")
        == "\N{SNOWMAN} <user>".encode() + b" \xff"
    )


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


def test_the_identity_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("LOGNAME", "anna")
    home, user, host = identity()
    assert (home, user) == ("/home/anna", "anna")
    assert host
