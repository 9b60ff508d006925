"""What a target and its checks say by themselves."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.suite.target import Target

WORKDIR = Path("/data/vision")


@pytest.mark.parametrize(
    ("words", "script"),
    [
        (("train.py", "--data", "x.py"), "train.py"),
        (("-m", "package.train"), "package/train.py"),
        (("--", "torchrun", "--nproc-per-node", "2", "ddp.py"), "ddp.py"),
        (("--", "make", "train"), None),
    ],
)
def test_the_script_of_a_target_is_known(words: tuple[str, ...], script: str | None) -> None:
    target = Target(name="a", words=words, workdir=WORKDIR)
    expected = None if script is None else WORKDIR / script
    assert target.script == expected
