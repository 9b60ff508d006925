"""Which versions of a framework are recorded."""

from __future__ import annotations

import pytest

from reprocheck.child.reprocheck_child.bootstrap import is_older


@pytest.mark.parametrize(
    ("version", "oldest", "older"),
    [
        ("1.13.1", (2, 0), True),
        ("2.0.0", (2, 0), False),
        ("2.13.0+cpu", (2, 0), False),
        ("10.0", (2, 0), False),
        ("2.0rc1", (2, 0), False),
        ("0.4.29", (0, 4, 30), True),
        ("0.4.30.dev1", (0, 4, 30), False),
        ("0.10", (0, 4, 30), False),
        ("2", (2, 16), False),
        ("unknown", (2, 0), False),
        ("", (2, 0), False),
        ("1.0", (), False),
    ],
)
def test_only_what_is_surely_older_is_left_alone(
    version: str, oldest: tuple[int, ...], older: bool
) -> None:
    assert is_older(version, oldest) is older
