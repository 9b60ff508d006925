"""The size of a difference, as fingerprints of torch tensors show it, and nested values."""

from __future__ import annotations

import copy
import dataclasses
import math
from typing import Any

import msgspec
import pytest

torch = pytest.importorskip("torch")

from hypothesis import (  # noqa: E402
    given,
    settings,
    strategies as st,
)

from reprocheck.child.reprocheck_child.deep_levels import leaves  # noqa: E402
from tests.child.frameworks.torch.test_fingerprints import PRINTS, generator, on_device  # noqa: E402
from tests.ladder.fingerprints import difference, recorded  # noqa: E402

pytestmark = pytest.mark.torch


@settings(max_examples=40)
@given(
    size=st.one_of(
        st.integers(200, 2000),
        st.integers(2000, 400_000),
        st.sampled_from([1024, 262_144, 262_145, 1_100_000]),
    ),
    relative=st.floats(-4, 0.5).map(lambda power: 10.0**power),
    kind=st.sampled_from(["noise", "shift", "permutation", "one block", "scaled"]),
    seed=st.integers(0, 1000),
    device=st.booleans(),
)
def test_size_of_a_difference(
    size: int, relative: float, kind: str, seed: int, device: bool
) -> None:
    source = generator(seed)
    tensor = torch.randn(size, generator=source)
    change = {
        "noise": lambda: torch.randn(size, generator=source),
        "shift": lambda: torch.ones(size),
        "permutation": lambda: tensor[torch.randperm(size, generator=source)] - tensor,
        "one block": lambda: torch.cat([torch.ones(size // 3), torch.zeros(size - size // 3)]),
        "scaled": lambda: tensor.clone(),
    }[kind]()
    other = (
        tensor + change * (relative * tensor.norm() / change.norm())
        if kind != "permutation"
        else tensor + change
    )
    truth = ((other.double() - tensor.double()).norm() / tensor.double().norm()).item()
    of = on_device if device else PRINTS.of
    found = difference(recorded(of(other)), recorded(of(tensor)))
    assert found.equal is False
    assert found.size == "gross"
    assert found.relative is not None
    assert 0.5 < found.relative / truth < 2


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.complex64], ids=str
)
@pytest.mark.parametrize("size", [10, 1000, 300_000, 1_200_000])
def test_rounding(dtype: Any, size: int) -> None:
    tensor = torch.randn(size, generator=generator(10)).to(dtype)
    step = torch.finfo(dtype).eps / 4
    rounded = tensor * (
        1 + 2 * step * torch.sign(torch.randn(size, generator=generator(11))).to(dtype)
    )
    assert difference(recorded(PRINTS.of(rounded)), recorded(PRINTS.of(tensor))).size == "rounding"
    assert (
        difference(recorded(PRINTS.of(tensor * 1.5)), recorded(PRINTS.of(tensor))).size == "gross"
    )


def test_masks_and_values_that_are_no_numbers() -> None:
    tensor = torch.randn(100, 100, generator=generator(12))
    tensor[:, 50:] = -math.inf
    other = tensor.clone()
    other[:, :50] *= 1.01
    found = difference(recorded(PRINTS.of(other)), recorded(PRINTS.of(tensor)))
    assert found.relative == pytest.approx(0.01, rel=0.5)
    for extreme in (torch.finfo(torch.float32).min, math.nan):
        masked = tensor.clamp(min=-10).masked_fill(tensor < -9, extreme)
        changed = masked.clone()
        changed[:, :50] *= 1.01
        found = difference(recorded(PRINTS.of(changed)), recorded(PRINTS.of(masked)))
        assert found.relative == pytest.approx(0.01, rel=0.5)
        changed = tensor.clamp(min=-10)
        found = difference(recorded(PRINTS.of(masked)), recorded(PRINTS.of(changed)))
        assert found.size == "gross"
    assert PRINTS.of(torch.tensor([math.nan, 1.0]))["z"] == "nan"
    assert PRINTS.of(torch.tensor([-math.inf, 1.0]))["v"] == ["-inf", 1.0]
    tiny = torch.full((40,), 1e-30)
    assert PRINTS.of(tiny)["z"] == pytest.approx(1e-30 * 40**0.5, rel=1e-4)


def test_host_device_and_numpy_make_one_sketch() -> None:
    for size in (3, 1023, 1024, 262_144, 262_145, 1_200_000):
        tensor = torch.randn(size, generator=generator(13))
        found = [
            recorded(one)
            for one in (PRINTS.of(tensor), on_device(tensor), leaves.array(tensor.numpy()))
        ]
        assert found[0].hash == found[2].hash
        for other in found[1:]:
            assert (
                difference(
                    found[0], msgspec.structs.replace(other, hash="other", algorithm="")
                ).relative
                < 1e-5
            )


# ------------------------------------------------------------------------------------ nested values


def test_leaves_of_torch_values() -> None:
    from torch.nn.utils.rnn import pack_sequence

    @dataclasses.dataclass
    class Output:
        logits: Any
        hidden: Any

    ones, zeros = torch.ones(2), torch.zeros(3)
    value = {
        "x": (ones, [zeros, 1]),
        "out": Output(ones, None),
        "packed": pack_sequence([ones]),
        "g": torch.Generator(),
        "d": torch.float32,
    }
    state = torch.get_rng_state()
    found = dict(PRINTS.leaves(value))
    assert list(found)[:5] == ["x.0", "x.1.0", "x.1.1", "out.logits", "out.hidden"]
    assert found["x.0"] == PRINTS.of(ones)
    assert found["x.1.1"] == {"v": 1}
    assert found["out.hidden"] == {"v": None}
    assert found["packed.data"]["h"] == PRINTS.of(ones)["h"]
    assert found["g"] == {"h": "", "d": "torch._C.Generator"}
    assert torch.equal(state, torch.get_rng_state())
    assert PRINTS.leaves(ones) == [["", PRINTS.of(ones)]]
    assert PRINTS.leaves(()) == []


def test_samples_follow_the_order_of_the_batch() -> None:
    images, labels = torch.randn(6, 3, 4, generator=generator(14)), torch.arange(6)
    found = PRINTS.samples(
        {"x": images, "y": labels, "names": list("abcdef"), "scale": torch.ones(2)}
    )
    assert found is not None
    assert len(set(found)) == 6
    order = torch.tensor([3, 1, 0, 2, 5, 4])
    other = PRINTS.samples(
        {"x": images[order], "y": labels[order], "names": list("dbacfe"), "scale": torch.ones(2)}
    )
    assert other == [found[index] for index in order]
    relabelled = PRINTS.samples(
        {"x": images, "y": labels.flip(0), "names": list("abcdef"), "scale": torch.ones(2)}
    )
    assert relabelled is not None
    assert not set(relabelled) & set(found)
    assert PRINTS.samples(images) == PRINTS.samples(copy.copy(images))
    assert PRINTS.samples(torch.tensor(1.0)) is None
    assert PRINTS.samples(torch.empty(0, 3)) is None
    assert PRINTS.samples("text") is None
