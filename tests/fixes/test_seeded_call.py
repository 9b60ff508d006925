"""How often a line runs at which a generator is made: one that runs often gets no fixed seed."""

from __future__ import annotations

import ast

import pytest

from reprocheck.fixes.seeds import _runs_often

MADE = "def make():\n    return qmc.Sobol(d=3)\n\n"


@pytest.mark.parametrize(
    ("text", "line", "often"),
    [
        ("rng = numpy.random.default_rng()\n", 1, False),
        (f"{MADE}pipeline = make()\n", 2, False),
        (f'{MADE}if __name__ == "__main__":\n    train(make())\n', 2, False),
        (f"{MADE}one, other = make(), make()\n", 2, True),
        (f"{MADE}all = [make() for _ in range(4)]\n", 2, True),
        (f"{MADE}for epoch in range(4):\n    train(make())\n", 2, True),
        (f"{MADE}def collate(batch):\n    return make()\n", 2, True),
        (f"{MADE}loader = DataLoader(data, worker_init_fn=make)\n", 2, True),
        (f"{MADE}", 2, True),
        ("class Data:\n    def __init__(self):\n        self.rng = default_rng()\ndata = Data()\n", 3, True),
        ("while True:\n    rng = default_rng()\n", 2, True),
    ],
)  # fmt: skip
def test_a_line_runs_often_in_a_loop_and_in_a_function_that_is_not_called_once(
    text: str, line: int, often: bool
) -> None:
    assert _runs_often(ast.parse(text), line) == often
