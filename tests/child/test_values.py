"""Values on disk, within a limit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reprocheck.child.reprocheck_child.deep_levels.tensor_files import Codec, Room


class Tensor:
    """Stands for what only the codec can write."""

    def __init__(self, content: bytes) -> None:
        self.content = content

    def __reduce__(self) -> Any:
        raise TypeError("no pickle")


def codec() -> Codec:
    made = Codec()
    made.add("fake", lambda value: value.content if isinstance(value, Tensor) else None, Tensor)
    made.add("other", lambda value: None, _never)
    return made


def _never(held: Any) -> Any:
    raise AssertionError(f"{held!r} is of another framework")


def test_tensors_are_written_wherever_they_are_held(tmp_path: Path) -> None:
    room = Room(str(tmp_path / "values"), 10_000)
    assert room.put(codec(), {"a": [Tensor(b"bytes")], "b": (1, 2)}, "state")
    found = codec().read(room.path("state"))
    assert found["a"][0].content == b"bytes" and found["b"] == (1, 2)


def test_what_is_larger_than_the_room_is_not_written(tmp_path: Path) -> None:
    room = Room(str(tmp_path), 1_000)
    assert room.put(codec(), b"x" * 600, "one")
    assert not room.put(codec(), b"x" * 600, "two")
    assert room.put(codec(), b"x" * 100, "three")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "three"]


def test_what_cannot_be_written_leaves_nothing(tmp_path: Path) -> None:
    room = Room(str(tmp_path), 1_000)
    with pytest.raises(TypeError):
        room.put(Codec(), Tensor(b""), "one")
    assert list(tmp_path.iterdir()) == []
