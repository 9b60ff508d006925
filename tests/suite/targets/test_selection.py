"""Targets by name and tag."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.errors import SettingsError, UsageError
from reprocheck.suite.target import Target
from reprocheck.suite.targets import Suite

TARGETS = {
    "vit": ("vision", "gpu"),
    "lm[lr=0.1]": ("text",),
    "lm[lr=0.2]": ("text",),
    "lm-small": ("text", "cpu"),
    "resnet": ("vision",),
}


def suite(names: dict[str, tuple[str, ...]]) -> Suite:
    targets = [
        Target(name=name, words=("train.py",), workdir=Path("/"), tags=tags)
        for name, tags in names.items()
    ]
    here = Path("/s")
    return Suite(
        targets=tuple(targets), folder=here, history="sqlite:///x", file=here / "reprocheck.toml"
    )


def chosen(names: list[str] = [], tags: list[str] = []) -> list[str]:  # noqa: B006
    return [target.name for target in suite(TARGETS).select(names, tags)]


def test_all_targets_are_selected_by_name_where_nothing_is_asked() -> None:
    assert chosen() == sorted(TARGETS)


def test_names_are_exact_or_patterns_or_a_whole_matrix() -> None:
    assert chosen(["lm[lr=0.1]"]) == ["lm[lr=0.1]"]
    assert chosen(["lm"]) == ["lm[lr=0.1]", "lm[lr=0.2]"]
    assert chosen(["lm*"]) == ["lm-small", "lm[lr=0.1]", "lm[lr=0.2]"]
    assert chosen(["vit", "res*", "resnet"]) == ["resnet", "vit"]


def test_one_of_the_tags_is_enough_and_names_narrow_it() -> None:
    assert chosen(tags=["gpu", "cpu"]) == ["lm-small", "vit"]
    assert chosen(["lm*"], ["cpu"]) == ["lm-small"]


@pytest.mark.parametrize(
    ("names", "tags", "said"),
    [
        (["restnet"], [], "Did you mean resnet?"),
        (["zzz*"], [], "The targets are lm-small, "),
        ([], ["visoin"], "Did you mean vision?"),
        ([], ["zzz"], "The tags are cpu, gpu, text, vision."),
    ],
)
def test_an_unknown_name_or_tag_is_answered_with_the_nearest(
    names: list[str], tags: list[str], said: str
) -> None:
    with pytest.raises(UsageError) as caught:
        chosen(names, tags)
    assert said in caught.value.fix


def test_a_suite_without_targets_says_how_to_write_them() -> None:
    with pytest.raises(SettingsError) as caught:
        suite({}).select()
    assert "suite init" in caught.value.fix
