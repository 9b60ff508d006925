"""What the plain script of every way to train prints, once for all tests."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import clean_environment, mindspore_python

EVERY_WAY = Path(__file__).parent / "scripts" / "every_way.py"


@pytest.fixture(scope="session")
def every_way(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """What `every_way.py MODE` prints without a recorder, one thread at work."""

    @cache
    def output(mode: str) -> str:
        command = [mindspore_python(), str(EVERY_WAY), mode]
        folder = tmp_path_factory.mktemp("plain")
        environment = clean_environment(OMP_NUM_THREADS="1")
        return subprocess.run(
            command,
            cwd=folder,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        ).stdout

    return output
