"""How far apart two states of a generator are."""

from __future__ import annotations

import random
from base64 import b64encode

import pytest

from reprocheck.child.reprocheck_child.deep_levels.generator_states import NumpyState, PythonState
from reprocheck.resume.gap.mersenne_twister import MOST, Counter, Twister, ahead, seeded, state_of


def text(state: bytes) -> str:
    return b64encode(state).decode()


def python_state() -> Twister:
    state = state_of("python", text(PythonState()()))
    assert isinstance(state, Twister)
    return state


@pytest.mark.parametrize("draws", [0, 1, 2, 623, 624, 625, 5_000, 99_000])
def test_the_distance_of_two_states_is_the_number_of_draws_between_them(draws: int) -> None:
    kept = random.getstate()
    try:
        random.seed(7)
        before = python_state()
        for _ in range(draws):
            random.getrandbits(32)
        after = python_state()
    finally:
        random.setstate(kept)
    assert before == seeded("python", 7)
    assert ahead(before, after) == draws
    assert ahead(after, before) == -draws


def test_states_of_other_seeds_are_in_no_ones_future() -> None:
    assert ahead(seeded("torch", 0), seeded("torch", 1)) is None


def test_a_distance_beyond_the_limit_is_not_known() -> None:
    state = seeded("torch", 3)
    later = state
    for _ in range(MOST // 624 + 3):
        later = later.after()
    assert ahead(state, later) is None


def test_states_of_numpy_are_read_and_a_double_takes_two_draws() -> None:
    numpy = pytest.importorskip("numpy")
    kept = numpy.random.get_state()
    read = NumpyState()
    try:
        numpy.random.seed(11)
        before = state_of("numpy", text(read()))
        numpy.random.rand(3)
        after = state_of("numpy", text(read()))
    finally:
        numpy.random.set_state(kept)
    assert before == seeded("numpy", 11)
    assert before is not None and after is not None
    assert ahead(before, after) == 6


@pytest.mark.torch
def test_states_of_torch_are_read_and_the_seed_of_workers_is_one_64_bit_draw() -> None:
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(5)

    def state() -> Twister:
        found = state_of("torch", text(bytes(generator.get_state().tolist())))
        assert isinstance(found, Twister)
        return found

    before = state()
    torch.empty((), dtype=torch.int64).random_(generator=generator)
    assert before == seeded("torch", 5)
    assert ahead(before, state()) == 2
    torch.rand(1_000, generator=generator)
    assert ahead(before, state()) == 1_002


def test_a_counter_is_ahead_by_its_offset() -> None:
    raw = (5).to_bytes(8, "little") + (16).to_bytes(8, "little")
    state = state_of("cuda:0", text(raw))
    assert state == Counter(5, 16)
    assert ahead(Counter(5, 4), Counter(5, 16)) == 12
    assert ahead(Counter(6, 4), Counter(5, 16)) is None


@pytest.mark.parametrize(
    ("generator", "raw"),
    [
        ("torch", "not base64"),
        ("python", text(b"short")),
        ("numpy", text(b"short")),
        ("mlx", text(b"x")),
    ],
)
def test_a_state_of_another_form_is_not_guessed(generator: str, raw: str) -> None:
    assert state_of(generator, raw) is None
