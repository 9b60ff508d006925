"""Which tensors of a replay have recorded values beside it: a file that may come from a stranger."""

from __future__ import annotations

from array import array
from pathlib import Path

import pytest
from hypothesis import given as for_any, settings, strategies as st

from reprocheck.model.replay import Replay, TensorArgument
from reprocheck.replay.values import NAME, wanted, with_values
from tests.replay.values_file import safetensors

TENSOR = TensorArgument(
    shape=(2, 3), strides=(3, 1), dtype="float32", fill="floats", fingerprint="ab"
)
INDEX = TensorArgument(shape=(4,), strides=(1,), dtype="int64", fill="integers", fingerprint="cd")
UNFILLED = TensorArgument(
    shape=(2,), strides=(1,), dtype="float32", fill="nothing", fingerprint="ef"
)
COMPLEX = TensorArgument(
    shape=(2,), strides=(1,), dtype="complex64", fill="floats", fingerprint="01"
)
REPLAY = Replay(
    framework="torch",
    name="aten.index_put.default",
    of="operator",
    arguments=(("self", TENSOR), ("indices", (None, INDEX)), ("values", UNFILLED)),
)
SELF = ("F32", [2, 3], array("f", range(6)))
PLACES = ("I64", [4], array("q", range(4)))


def names(folder: Path, data: bytes) -> tuple[str, ...]:
    (folder / NAME).write_bytes(data)
    return with_values(REPLAY, folder).values


def test_values_are_wanted_of_what_is_filled_and_of_a_type_that_the_format_has() -> None:
    assert wanted(REPLAY) == {"self": "ab", "indices.1": "cd"}
    drawn = Replay(framework="torch", name="a", of="operator", arguments=(("self", COMPLEX),))
    assert wanted(drawn) == {}


def test_the_tensors_of_a_file_are_known_by_their_paths(tmp_path: Path) -> None:
    assert with_values(REPLAY, tmp_path) == REPLAY
    both = safetensors(**{"indices.1": PLACES, "self": SELF})
    assert names(tmp_path, both) == ("self", "indices.1")
    assert names(tmp_path, safetensors(self=SELF, other=SELF)) == ("self",)


@pytest.mark.parametrize(
    "data",
    [
        safetensors(self=("F64", [2, 3], SELF[2])),
        safetensors(self=("F32", [3, 2], SELF[2])),
        safetensors(self=("F32", [2, 3], array("f", range(5)))),
        safetensors(self=SELF)[:-1],
        b"",
        b"\xff" * 8,
        (2).to_bytes(8, "little") + b"[]",
        (17).to_bytes(8, "little") + b'{"self": {"a": 1}}',
    ],
)
def test_what_is_not_as_the_replay_says_is_left_out(data: bytes, tmp_path: Path) -> None:
    assert names(tmp_path, data) == ()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(safetensors(self=SELF))
    (tmp_path / NAME).symlink_to("elsewhere")
    assert with_values(REPLAY, tmp_path).values == ()


JSON = st.recursive(
    st.none() | st.integers(-9, 1 << 70) | st.floats() | st.sampled_from(["F32", "dtype", ""]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["self", "indices.1", "dtype", "shape", "data_offsets"]), inner
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@for_any(header=st.fixed_dictionaries({"self": JSON, "indices.1": JSON}) | JSON)
def test_no_header_is_an_error(header: object, tmp_path_factory: pytest.TempPathFactory) -> None:
    import json

    text = json.dumps(header).encode()
    folder = tmp_path_factory.mktemp("values")
    assert names(folder, len(text).to_bytes(8, "little") + text) == ()
