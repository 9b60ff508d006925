"""Names and credentials are masked, and nothing else is."""

from __future__ import annotations

import pytest

from reprocheck.child.reprocheck_child.shared.masking import identity, mask, unmask

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
        ("/mnt/home/anna/x", "/mnt/~/x"),
        ("copy/home/anna", "copy/~"),
        ("copy-/home/anna/x", "copy-/home/<user>/x"),
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
        ("s3://anna:pw@x smb://D;anna:pw@y", "s3://<credentials>@x smb://<credentials>@y"),
        ("://@ ://", "://@ ://"),
        ("", ""),
    ],
)
def test_what_is_masked(text: str, masked: str) -> None:
    assert mask(text, *ANNA) == masked
    assert mask(masked, *ANNA) == masked


def test_everyday_names_stay_and_unknown_ones_harm_nothing() -> None:
    assert (
        mask("/root/x root user admin localhost", "/root", "root", "localhost")
        == "~/x root user admin localhost"
    )
    in_urls = mask("mysql://root:pw@h ssh://root file:///root/x", "/root", "root", "localhost")
    assert in_urls == "mysql://<credentials>@h ssh://root file://~/x"
    assert mask("a / b", "/", "", "") == "a / b"
    assert mask("text", "", "", "") == "text"


def test_a_masked_path_is_found_again() -> None:
    for path in ("/home/anna/x", "/mnt/home/anna/x", "/mnt/home/anna", "/tmp/anna/x", "/x/~y/z"):
        assert unmask(mask(path, *ANNA), *ANNA) == path


def test_home_elsewhere_than_the_user_name() -> None:
    assert mask("/data/people/zoë/x zoë", "/data/people/zoë", "zoë", "") == "~/x <user>"


def test_the_identity_of_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/anna")
    monkeypatch.setenv("LOGNAME", "anna")
    home, user, host = identity()
    assert (home, user) == ("/home/anna", "anna")
    assert host
