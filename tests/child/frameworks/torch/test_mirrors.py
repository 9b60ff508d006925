"""Mirrors: what should differ inside one run and is the same is found, and its twins are not."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.model import RunRecord
from reprocheck.model.mirrors import Mirrors
from reprocheck.trace import read_run
from reprocheck.verdict.mirrors import mirrors_of
from tests.child.frameworks.torch.levels import record

SCRIPTS = Path(__file__).parent / "scripts"
pytestmark = pytest.mark.torch


def mirrors(script: str, folder: Path, *arguments: str, level: str = "auto") -> Mirrors:
    """The mirrors of one run of a script at level `auto`."""
    copy = folder / script
    copy.write_text((SCRIPTS / script).read_text(encoding="utf-8"))
    recorded = record(copy, level, *arguments)
    assert recorded.problems == []
    traces = [entry for entry in folder.iterdir() if entry.name.startswith("trace-")]
    record_of_run = RunRecord(
        number=1, exit_status=0, ended="completed", seconds=1.0, started="", trace=traces[0].name,
        stdout="", stderr="",
    )  # fmt: skip
    return mirrors_of(read_run(folder, record_of_run))


def kinds(found: Mirrors) -> set[tuple[str, str, str]]:
    """Kind, place and line of each mirror that is no question."""
    return {(one.kind, one.place, one.line) for one in found.faults}


def test_each_fault_of_loaders_is_found_with_its_place_and_line(tmp_path: Path) -> None:
    found = mirrors("mirror_loaders.py", tmp_path, "faults")
    script = (SCRIPTS / "mirror_loaders.py").read_text(encoding="utf-8").splitlines()

    def line_of(text: str, after: str = "") -> str:
        start = next((at for at, line in enumerate(script) if after in line), 0)
        return f"mirror_loaders.py:{next(at for at, line in enumerate(script, 1) if text in line and at > start)}"

    loop = line_of("for batch in loader:")
    assert kinds(found) == {
        ("worker-draws", "OwnGenerator", line_of("__getitem__", "class OwnGenerator")),
        ("worker-draws", "Flipped", line_of("__getitem__", "class Flipped")),
        ("worker-draws", "NoisyStream", line_of("__iter__", "class NoisyStream")),
        ("worker-samples", "DataLoader[2] (loader)", loop),
        ("epoch-draws", "Flipped", line_of("__getitem__", "class Flipped")),
        ("epoch-order", "DataLoader[5] (loader)", loop),
        ("epoch-order", "DataLoader[6] (loader)", loop),
    }
    assert found.faults == found.found
    assert set(found.not_seen) >= {"rank-samples", "rank-noise", "shard-noise", "replicas"}


def test_twins_of_these_loaders_have_no_mirror(tmp_path: Path) -> None:
    found = mirrors("mirror_loaders.py", tmp_path, "clean")
    assert found.found == ()
    assert not {"worker-draws", "worker-samples", "epoch-order", "epoch-draws"} & set(
        found.not_seen
    )


def test_each_fault_of_ranks_is_found_and_is_asked_where_their_groups_are_unknown(
    tmp_path: Path,
) -> None:
    found = mirrors("mirror_ranks.py", tmp_path, "faults", level="module")
    assert {(kind, place.rpartition(".")[2]) for kind, place, _ in kinds(found)} == {
        ("rank-noise", "1"),
        ("rank-samples", "DataLoader[1] (loader)"),
        ("rank-noise", ""),
        ("rank-noise", "net[2]"),
        ("shard-noise", "inner"),
        ("replicas", "outer"),
        ("replicas", "DataLoader[5] (loader)"),
        ("step-noise", "1"),
    }
    assert [one.place for one in found.found if one.asked] == ["by_hand.1"]


def test_twins_of_these_ranks_have_no_mirror_and_a_shared_decision_is_asked(
    tmp_path: Path,
) -> None:
    found = mirrors("mirror_ranks.py", tmp_path, "clean", level="module")
    assert found.faults == ()
    assert [one.kind for one in found.found] == ["rank-noise"]
    assert found.found[0].asked
