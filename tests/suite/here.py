"""Checks of a suite in the process of the tests, where a test asks nothing of processes: each would
import reprocheck anew, which takes longer than both runs of a stand-in.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

from tests.conftest import main_here


@contextmanager
def checks_here() -> Iterator[None]:
    """Each check that begins within the block is made in this process."""
    with mock.patch("reprocheck.suite.execution.perform.GuardedProcess", CheckHere):
        yield


class CheckHere:
    """A check that has ended once it is entered, as the suite asks for a process."""

    def __init__(
        self,
        command: Sequence[str],
        *,
        cwd: Path,
        environment: Mapping[str, str],
        stdout: Path,
        stderr: Path,
        **_: Any,
    ) -> None:
        program, *words = command[3:]
        assert program == "reprocheck"
        with stdout.open("w", encoding="utf-8") as out, stderr.open("w", encoding="utf-8") as err:
            self.exit_status = main_here(words, cwd, environment, out, err)

    def __enter__(self) -> CheckHere:
        return self

    def __exit__(self, *_: object) -> None: ...

    def wait(self, seconds: float) -> bool:
        """It is done."""
        return True

    def end(self) -> None: ...
