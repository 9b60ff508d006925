"""Fingerprints of torch tensors: exact, for every kind of tensor, and unseen by the script."""

from __future__ import annotations

import os
import random
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from hypothesis import (  # noqa: E402
    given,
    settings,
    strategies as st,
)

from reprocheck.child.reprocheck_child.deep_levels import hashing  # noqa: E402
from reprocheck.child.reprocheck_child.frameworks.torch.fingerprint import Fingerprints  # noqa: E402
from tests.ladder.fingerprints import difference, recorded  # noqa: E402

pytestmark = pytest.mark.torch


class Recorder:
    """What fingerprints need of a recorder."""

    def __init__(self) -> None:
        self.on_fork: list[Any] = []
        self.events: list[dict[str, Any]] = []

    def emit(self, event: dict[str, Any]) -> None:
        self.events.append(event)


UNREAD: list[tuple[str, str]] = []
RECORDER = Recorder()
PRINTS = Fingerprints(torch, RECORDER, lambda where, why: UNREAD.append((where, why)))


def on_device(tensor: Any) -> dict[str, Any]:
    """The fingerprint that a device would compute."""
    with PRINTS.below(PRINTS.keys), PRINTS.functions():
        found = PRINTS._device(tensor)(True)
    assert found is not None
    return found


def generator(seed: int) -> Any:
    return torch.Generator().manual_seed(seed)


DTYPES = [
    torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.complex64, torch.complex128,
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64,
]  # fmt: skip


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (3, 7), (40, 60)], ids=str)
def test_every_dtype(dtype: Any, shape: tuple[int, ...]) -> None:
    tensor = (torch.rand(shape, generator=generator(1)) * 100).to(dtype)
    found = PRINTS.of(tensor)
    assert found["d"] == str(dtype).replace("torch.", "")
    assert found["s"] == list(shape)
    assert len(found["h"]) == 32
    assert ("k" in found) == (tensor.numel() > 0)
    assert ("v" in found) == (0 < tensor.numel() * (2 if dtype.is_complex else 1) <= 16)
    norm = tensor.to(torch.complex128).norm().item() if tensor.numel() else 0.0
    assert found["z"] == pytest.approx(norm, rel=1e-5 if tensor.numel() <= 500 else 0.2)
    assert PRINTS.of(tensor.clone()) == found
    other = on_device(tensor)
    assert (other["a"], other["d"], other["s"]) == ("sums-1", found["d"], found["s"])
    assert other["z"] == pytest.approx(norm, rel=1e-5)
    assert other.get("v") == found.get("v")


@settings(max_examples=60)
@given(
    size=st.integers(1, 5000),
    dtype=st.sampled_from(
        [torch.float32, torch.bfloat16, torch.float64, torch.uint8, torch.int32, torch.complex64]
    ),
    seed=st.integers(0, 2**31),
    data=st.data(),
)
def test_equal_bytes_and_only_they_hash_equally(
    size: int, dtype: Any, seed: int, data: st.DataObject
) -> None:
    raw = torch.randint(
        0, 256, (size * dtype.itemsize,), dtype=torch.uint8, generator=generator(seed)
    )
    tensor = raw.clone().view(dtype)
    whole, device = PRINTS.of(tensor)["h"], on_device(tensor)["h"]
    assert PRINTS.of(raw.clone().view(dtype))["h"] == whole
    changed = raw.clone()
    changed[data.draw(st.integers(0, len(raw) - 1))] ^= 1 << data.draw(st.integers(0, 7))
    assert PRINTS.of(changed.view(dtype))["h"] != whole
    assert on_device(changed.view(dtype))["h"] != device
    order = torch.randperm(size, generator=generator(seed + 1))
    permuted = tensor[order]
    same = bool((permuted.view(torch.uint8) == raw).all())
    assert (PRINTS.of(permuted)["h"] == whole) is same
    assert (on_device(permuted)["h"] == device) is same


@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.bfloat16, torch.uint8], ids=str
)
def test_a_device_sees_order_signs_and_structured_changes(dtype: Any) -> None:
    base = torch.zeros(300_000, dtype=dtype)
    seen = {on_device(base)["h"], on_device(torch.zeros(300_001, dtype=dtype))["h"]}
    bits = base.view(torch.uint8)
    width = dtype.itemsize
    top = 0x80
    changes = [
        [0],
        [1],
        [0, 1],
        [0, 65536],
        [65536, 131072],
        [0, 1, 65536, 65537],
        [299_999],
        [262_144, 262_145],
        list(range(64)),
    ]
    for places in changes:
        changed = bits.clone()
        for place in places:
            changed[place * width + width - 1] = top  # the sign
        seen.add(on_device(changed.view(dtype))["h"])
    assert len(seen) == len(changes) + 2


def test_cached_only_by_what_was_read() -> None:
    tensor = torch.randn(1000, generator=generator(2))
    first = PRINTS.of(tensor)
    assert PRINTS.of(tensor) is first
    tensor.data[7] += 1  # no version is counted for this
    assert PRINTS.of(tensor)["h"] != first["h"]
    tensor.data[7] -= 1
    shaped = PRINTS.of(tensor.view(10, 100))
    assert shaped["h"] == PRINTS.of(tensor)["h"]
    assert shaped["s"] == [10, 100]


def test_logical_order() -> None:
    tensor = torch.randn(4, 6, 5, 3, generator=generator(3))
    whole = PRINTS.of(tensor)
    assert PRINTS.of(tensor.contiguous(memory_format=torch.channels_last)) == whole
    assert PRINTS.of(tensor.permute(3, 0, 1, 2).contiguous().permute(1, 2, 3, 0)) == whole
    assert PRINTS.of(tensor.transpose(0, 1))["h"] != whole["h"]
    assert (
        on_device(tensor.contiguous(memory_format=torch.channels_last))["h"]
        == on_device(tensor)["h"]
    )
    row = torch.randn(7, generator=generator(4))
    assert PRINTS.of(row.expand(5, 7)) == PRINTS.of(row.repeat(5, 1))
    number = torch.randn(9, dtype=torch.complex64, generator=generator(5))
    assert PRINTS.of(number.conj()) == PRINTS.of(number.conj().resolve_conj())
    assert PRINTS.of(number.conj().imag) == PRINTS.of(number.conj().imag.resolve_neg())


KINDS = (
    "bsr",
    "channels",
    "coo",
    "csc",
    "csr",
    "inference",
    "jagged",
    "mkldnn",
    "nested",
    "parameter",
    "part of a graph",
    "quantized",
)


def kinds_of_tensors() -> dict[str, Any]:
    """Tensors that are not plain, made of `values`; each with a second that differs from it in one
    value.
    """
    made = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, value in (("first", 1.0), ("second", 2.0)):
            base = torch.eye(4)
            base[2, 2] = value
            quantized = torch.quantize_per_tensor(base, 0.5, 1, torch.qint8)
            channels = torch.quantize_per_channel(
                base, torch.full((4,), 0.5), torch.zeros(4), 0, torch.qint8
            )
            kinds = {
                "coo": base.to_sparse(),
                "csr": base.to_sparse_csr(),
                "csc": base.to_sparse_csc(),
                "bsr": base.to_sparse_bsr((2, 2)),
                "quantized": quantized,
                "channels": channels,
                "nested": torch.nested.nested_tensor([base[0], base[2, 1:]]),
                "jagged": torch.nested.nested_tensor([base[0], base[2, 1:]], layout=torch.jagged),
                "parameter": torch.nn.Parameter(base.clone()),
                "part of a graph": base.clone().requires_grad_() * 1,
                "mkldnn": base.to_mkldnn(),
            }
            for kind, tensor in kinds.items():
                made.setdefault(kind, {})[name] = tensor
            with torch.inference_mode():
                made.setdefault("inference", {})[name] = base * 1
    return made


def test_every_kind_of_tensor_is_tried() -> None:
    assert set(KINDS) == set(kinds_of_tensors())


@pytest.mark.parametrize("kind", KINDS)
def test_kinds_of_tensors(kind: str) -> None:
    del UNREAD[:]
    once, again = kinds_of_tensors()[kind], kinds_of_tensors()[kind]
    first, second = PRINTS.of(once["first"]), PRINTS.of(once["second"])
    assert first["h"]
    assert first == PRINTS.of(again["first"])
    assert first["h"] != second["h"]
    assert first["d"] in ("float32", "qint8")
    compared = difference(recorded(first), recorded(second))
    assert compared.size == "gross", (first, second)
    assert not UNREAD


def test_tensors_without_bytes() -> None:
    del UNREAD[:]
    assert PRINTS.of(torch.empty(3, 4, device="meta")) == {
        "h": "",
        "d": "float32",
        "s": [3, 4],
        "dev": "meta",
    }
    from torch._subclasses import FakeTensorMode

    with FakeTensorMode():
        assert PRINTS.of(torch.ones(3))["h"] == ""
    assert not UNREAD
    freed = torch.ones(100)
    freed.untyped_storage().resize_(0)
    lazy = torch.nn.LazyLinear(3).weight
    wrapper = torch.Tensor._make_wrapper_subclass(Holder, (3,))
    for tensor in (freed, lazy, wrapper):
        assert PRINTS.of(tensor)["h"] == ""
    assert len(UNREAD) == 3
    assert PRINTS.of(torch._efficientzerotensor((5,))) == PRINTS.of(torch.zeros(5))


class Holder(torch.Tensor):
    """A subclass without memory of its own."""

    @classmethod
    def __torch_dispatch__(
        cls, function: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise AssertionError("seen by a subclass")


def test_inside_function_transforms() -> None:
    seen: list[dict[str, Any]] = []

    def loss(value: Any) -> Any:
        seen.append(PRINTS.of(value))
        return (value * value).sum()

    tensor = torch.randn(3, 4, generator=generator(6))
    torch.func.vmap(torch.func.grad(loss))(tensor)
    assert seen[0]["h"] == PRINTS.of(tensor)["h"]


def test_distributed_tensors_are_read_as_their_shard(tmp_path: Any) -> None:
    from torch import distributed
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.tensor import Shard, distribute_tensor

    distributed.init_process_group(
        "gloo", store=distributed.FileStore(str(tmp_path / "store"), 1), rank=0, world_size=1
    )
    try:
        tensor = torch.randn(4, 4, generator=generator(7))
        found = PRINTS.of(distribute_tensor(tensor, init_device_mesh("cpu", (1,)), [Shard(0)]))
    finally:
        distributed.destroy_process_group()
    assert found == PRINTS.of(tensor)


def test_nothing_is_seen_of_the_work() -> None:
    from torch.overrides import TorchFunctionMode
    from torch.utils._python_dispatch import TorchDispatchMode

    seen = []

    class Dispatch(TorchDispatchMode):
        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(function)
            return function(*args, **(kwargs or {}))

    class Function(TorchFunctionMode):
        def __torch_function__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            seen.append(function)
            return function(*args, **(kwargs or {}))

    weight = torch.randn(300, 301, generator=generator(8), requires_grad=True)
    values = {"a": [weight, weight.t(), weight.detach().to(torch.bfloat16)], "b": torch.ones(3)}
    fresh = Fingerprints(torch, Recorder())
    expected = fresh.leaves(values), fresh.samples(values), on_device(weight)
    states = torch.get_rng_state(), random.getstate()
    version = weight._version
    hidden = Fingerprints(torch, Recorder())
    with torch.autocast("cpu"), torch.device("meta"), Dispatch(), Function():
        found = hidden.leaves(values), hidden.samples(values), on_device(weight)
    assert found == expected
    assert not seen
    assert torch.equal(torch.get_rng_state(), states[0])
    assert random.getstate() == states[1]
    assert weight._version == version
    assert weight.grad is None


def test_setting_for_matrix_products_rounds_no_sketch() -> None:
    tensor = torch.randn(300_000, generator=generator(9))
    exact = PRINTS.of(tensor)
    torch.set_float32_matmul_precision("medium")
    try:
        other = Fingerprints(torch, Recorder()).of(tensor + 1e-6 * tensor.norm() / 300_000**0.5)
    finally:
        torch.set_float32_matmul_precision("highest")
    assert difference(recorded(exact), recorded(other)).size == "rounding"


def test_a_device_of_its_own(tmp_path: Path) -> None:
    """On the fake NPU: computed there, by the same numbers as anywhere."""
    code = """
import torch
from reprocheck_child.frameworks.torch.fingerprint import Fingerprints
class Recorder:
    on_fork = []
    def emit(self, event): pass
prints = Fingerprints(torch, Recorder())
for tensor in (torch.ones(5), torch.randn(3000), torch.randn(600_000), torch.arange(40), torch.randn(100).bfloat16(), torch.empty(0)):
    read = prints.later(tensor.to("npu"))
    found = read(True)
    assert (found["dev"], found["a"], prints.unable) == ("npu:0", "sums-1", set()), found
    here = prints._device(tensor)(True)
    assert {**found, "dev": "cpu"} == here, (found, here)
    leaf, = prints.leaves([tensor.to("npu")])
    assert leaf[0] == "0" and leaf[1](True) == found
from torch_npu import fake
tensors = [torch.full((100,), float(index)).to("npu") for index in range(50)]
prints.later(tensors[0])
fake.reset()
reads = [prints.later(tensor) for tensor in tensors]
assert not fake.waits() and not fake.counts["to_host_later"], fake.counts
reads[0](False)
assert not fake.waits() and fake.counts["to_host_later"] == 1, fake.counts
found = [read(True) for read in reads]
assert found == [{**prints._device(tensor.cpu())(True), "dev": "npu:0"} for tensor in tensors]
assert fake.counts["to_host_later"] == 1 and fake.counts["synchronize"] <= 1, fake.counts
"""
    root = Path(__file__).parents[4]
    path = os.pathsep.join(
        [str(root / "tests" / "fakes" / "torch_npu"), str(root / "reprocheck" / "child")]
    )
    environment = {**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr


def test_a_device_that_cannot_is_read_from_a_copy() -> None:
    prints = Fingerprints(torch, Recorder())

    def unable(flat: Any) -> Any:
        raise RuntimeError("no 64-bit integers")

    prints.sums.of = unable
    tensor = torch.randn(20, generator=generator(15))
    for _ in range(2):
        assert prints._elsewhere(tensor) == {**PRINTS.of(tensor), "dev": "cpu"}
    assert prints.unable == {("cpu", torch.float32)}


def test_announced_once() -> None:
    recorder = Recorder()
    prints = Fingerprints(torch, recorder)
    assert not recorder.events
    prints.of(torch.ones(2))
    prints.of(torch.ones(3))
    assert recorder.events == [{"e": "fingerprints", "hash": hashing.NAME, "sketch": "signs-2"}]
    recorder.on_fork[0]()
    prints.of(torch.ones(2))
    assert len(recorder.events) == 2
