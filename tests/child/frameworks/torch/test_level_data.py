"""What is recorded of loaders, seeds and checkpoints at level `module`; nothing that a script
prints changes.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.child.frameworks.torch.levels import Level, plain, record

SCRIPT = Path(__file__).parent / "scripts" / "loaders.py"
KINDS = (
    "shuffled",
    "private",
    "own",
    "pairs",
    "single",
    "workers",
    "persistent",
    "unordered",
    "subset",
    "weighted",
)
NAMES = [*KINDS, "replacement", "dropped", "stream"]
"""The loaders of the script, in the order in which it makes them."""

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copy(SCRIPT, tmp_path_factory.mktemp("loaders")))


@pytest.fixture(scope="module")
def level(script: Path) -> Level:
    return record(script, "module")


def place(name: str) -> str:
    return f"DataLoader[{NAMES.index(name)}]"


def test_the_script_prints_what_it_prints_without_a_recorder(level: Level, script: Path) -> None:
    assert len(level.printed) == len(NAMES) + 4
    assert level.printed == plain(script)
    assert level.problems == []


def test_order_of_the_epoch_is_known_and_is_what_the_batches_hold(level: Level) -> None:
    for name in set(NAMES) - {"stream", "replacement"}:
        epochs, batches = level.seen("epoch", place(name)), level.seen("batch", place(name))
        handed = [index for batch in batches for index in batch["idx"]]
        known = [index for epoch in epochs for index in epoch["idx"]]
        assert len(known) == len(epochs) * (14 if name == "subset" else 24), name
        assert not any("cut" in epoch for epoch in epochs)
        if name == "unordered":
            handed.sort()
        assert handed == known[: len(handed)], name
        assert len(known) - len(handed) == (4 if name == "dropped" else 0), name
    assert [epoch["p"] for epoch in level.seen("epoch", place("shuffled"))] == [
        "DataLoader[0] (loader)"
    ] * 2


def test_order_that_is_drawn_in_pieces_is_not_taken_for_a_whole_epoch(level: Level) -> None:
    (epoch,) = level.seen("epoch", place("replacement"))
    assert epoch["cut"] is True
    assert len(epoch["idx"]) == 32
    (stream,) = level.seen("epoch", place("stream"))
    assert "idx" not in stream
    assert stream["dataset"] == "Stream"


def test_draws_belong_to_the_epoch_that_they_order_or_to_the_batch(level: Level) -> None:
    drawn = {
        name: set().union(*(epoch.get("g2", {}) for epoch in level.seen("epoch", place(name))))
        for name in NAMES
    }
    assert (
        drawn["shuffled"]
        == drawn["weighted"]
        == drawn["subset"]
        == drawn["replacement"]
        == {"torch"}
    )
    assert drawn["own"] == drawn["pairs"] == {"python"}
    assert drawn["private"] == drawn["single"] == drawn["stream"] == set()
    assert drawn["workers"] == drawn["unordered"] == {"torch"}
    assert all(
        set(batch["g2"]) == {"torch", "python", "numpy"}
        for batch in level.seen("batch", place("shuffled"))
    )
    assert not any(
        "g2" in batch
        for name in ("workers", "stream")
        for batch in level.seen("batch", place(name))
    )
    (private,) = level.seen("epoch", place("private"))
    assert set(private["private"]) == {"generator", "batch_sampler.sampler.generator"}


def test_workers_and_their_seed(level: Level) -> None:
    for name in ("workers", "persistent", "unordered"):
        assert {batch["w"] for batch in level.seen("batch", place(name))} == {0, 1}, name
        assert all(isinstance(epoch["seed"], int) for epoch in level.seen("epoch", place(name)))
    assert [epoch.get("drawn_for") for epoch in level.seen("epoch", place("persistent"))] == [
        "workers",
        None,
    ]
    assert "drawn_for" not in level.seen("epoch", place("workers"))[0]
    assert "w" not in level.seen("batch", place("shuffled"))[0]


def test_batches_have_their_leaves_and_a_hash_for_each_sample(level: Level) -> None:
    batch = level.seen("batch", place("shuffled"))[0]
    paths = [path for path, _ in batch["out"]]
    assert paths[0] == "x"
    assert paths[-1] == "y"
    assert len(set(batch["n"])) == len(batch["idx"]) == 6


def test_seeds_with_their_lines(level: Level) -> None:
    lines = SCRIPT.read_text().splitlines()
    seeds = {seed["p"]: seed for seed in level.seen("seed")}
    assert {name: seed["out"] for name, seed in seeds.items()} == {
        "python": [["seed", {"v": 3}]],
        "numpy": [["seed", {"v": 4}]],
        "torch": [["seed", {"v": 5}]],
    }
    for name, call in (
        ("python", "random.seed(3)"),
        ("numpy", "np.random.seed(4)"),
        ("torch", "torch.manual_seed(5)"),
    ):
        assert seeds[name]["l"] == f"loaders.py:{lines.index('    ' + call) + 1}"


def test_checkpoints_with_their_keys(level: Level) -> None:
    read, taken = level.seen("load")
    assert (read["p"], read["k"]) == ("last.pt", "torch.load")
    assert (taken["p"], taken["k"]) == ("model", "load_state_dict")
    assert dict(taken["in"]) == {
        "missing": {"v": "bias"},
        "unexpected": {"v": "more"},
        "strict": {"v": False},
        "entries": {"v": 2},
    }


UNSEEDED = """
import sys, torch
from torch.utils.data import DataLoader, RandomSampler, TensorDataset
rng = torch.Generator()
rng.seed()
class Noisy(TensorDataset):
    def __getitem__(self, index):
        item = super().__getitem__(index)[0]
        return item + torch.rand(item.shape) if "augment" in sys.argv else item
if __name__ == "__main__":
    torch.manual_seed(0)
    data = Noisy(torch.randn(64, 4))
    if "augment" in sys.argv:
        torch.seed()
        loader = DataLoader(data, 8, num_workers=2)
    else:
        loader = DataLoader(data, 8, sampler=RandomSampler(data, generator=rng))
    for batch in loader:
        pass
"""


def test_two_runs_of_an_unseeded_private_generator_differ_in_order_alone(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(UNSEEDED)
    (first, second) = (record(script, "module") for _ in range(2))
    (one,), (other,) = first.seen("epoch"), second.seen("epoch")
    assert one["private"] != other["private"]
    assert "g2" not in one
    assert one["idx"] != other["idx"]
    assert one["order"] != other["order"]
    assert sorted(one["idx"]) == sorted(other["idx"]) == list(range(64))
    hashes = [
        sorted(hash_ for batch in run.seen("batch") for hash_ in batch["n"])
        for run in (first, second)
    ]
    assert hashes[0] == hashes[1]


def test_two_runs_of_unseeded_workers_differ_in_content_alone(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(UNSEEDED)
    (first, second) = (record(script, "module", "augment") for _ in range(2))
    (one,), (other,) = first.seen("epoch"), second.seen("epoch")
    assert one["idx"] == other["idx"]
    assert one["seed"] != other["seed"]
    assert one["g"]["torch"] != other["g"]["torch"]
    assert one["drawn_for"] == "workers"
    batches = list(zip(first.seen("batch"), second.seen("batch")))
    assert len(batches) == 8
    assert all(
        one["idx"] == other["idx"] and not set(one["n"]) & set(other["n"]) for one, other in batches
    )
    assert [
        seed["out"] != again["out"] for seed, again in zip(first.seen("seed"), second.seen("seed"))
    ] == [False, True]
