"""Names of targets as names of folders."""

from __future__ import annotations

import doctest
import re

import pytest

from reprocheck.suite.targets import folder_name, selection


def test_the_examples_of_the_names_are_true() -> None:
    assert doctest.testmod(selection).failed == 0


@pytest.mark.parametrize(
    "name", ["../../etc", ".", "a/b", "größe", "x" * 300, "a b", "-a", "lm[lr=0.1]", "a.", "*"]
)
def test_a_name_that_no_folder_may_have_is_changed_and_stays_apart(name: str) -> None:
    folder = folder_name(name)
    assert re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_.=+-]{0,90}", folder)
    assert "/" not in folder
    assert folder == folder_name(name)
    assert folder != folder_name(name + "!")


@pytest.mark.parametrize("name", ["resnet", "a-b_c.d", "v2+x"])
def test_a_plain_name_stays(name: str) -> None:
    assert folder_name(name) == name
