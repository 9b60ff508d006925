"""Places of a program that are not the same in each run."""

from __future__ import annotations

import pytest

from reprocheck.scan.places import Place, feeding, places
from reprocheck.scan.programs import of_text


def found(text: str) -> tuple[Place, ...]:
    """The places of a program of one file."""
    modules = list(of_text({"train.py": text}))
    return places([order for module in modules for order in module.orders], modules)


def lines_of(kind: str, text: str) -> list[int]:
    """The lines of the places of a kind."""
    return [place.line for place in found(text) if place.kind == kind]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("for x in data:\n    if time.time() % 2 < 1:\n        continue\n    step(x)\n", 3),
        (
            "start = time.perf_counter()\nwhile time.perf_counter() - start < BUDGET:\n    step()\n",
            3,
        ),
        ("end = time.monotonic() + 60\nwhile data and time.monotonic() < end:\n    step()\n", 3),
        ("start = time.time()\nspent = time.time() - start\nif spent > LIMIT:\n    save()\n", 4),
        (
            "class Loop:\n    def run(self):\n        self.end = time.time() + 5\n        if time.time() > self.end:\n            return\n",
            5,
        ),
        ("value = one() if int(time.time()) % 2 else other()\n", 2),
        (
            "last = time.time()\nif time.time() - last > 5:\n    print('busy')\n    last = time.time()\n",
            None,
        ),
        ("start = time.time()\nstep()\nprint(time.time() - start)\n", None),
        ("if seconds(time.time()):\n    step()\n", None),
    ],
)
def test_branches_that_the_clock_decides(text: str, line: int | None) -> None:
    assert lines_of("clock path", f"import time\n{text}") == ([line] if line else [])


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("lr = 0.1 + time.time() % 1", "clock"),
        ("lr = 0.1 + time.perf_counter() % 1", "monotonic"),
        ("start = time.time()", ""),
        ("lr = 0.1 * (time.time() - start)", "elapsed"),
        ("lr = 0.1 * (time.monotonic() - start)", "monotonic elapsed"),
        ("print(f'{time.time() - start} s')", ""),
        ("time.sleep(random.SystemRandom().uniform(0, 1))", ""),
        ("rng = np.random.default_rng()", "generator"),
        ("rng = np.random.default_rng(0)", ""),
        ("np.random.seed()", "generator"),
        ("seed = os.getpid()", "system"),
        ("seed = int.from_bytes(os.urandom(4), 'big')", "system"),
        ("noise = np.random.rand()", "draw"),
        ("rows = np.empty((8, 4))", "memory"),
        ("names = os.listdir('data')", "listing"),
        ("names = sorted(os.listdir('data'))", ""),
        ("order = sorted(parts, key=id)", "address"),
        ("bucket = hash(name) % 10", "hash"),
        ("for name in set(names): pass", "set order"),
    ],
)
def test_the_kind_of_a_place(line: str, kind: str) -> None:
    kinds = [
        place.kind
        for place in found(f"import os, random, time\nimport numpy as np\n{line}\n")
        if place.line == 3
    ]
    assert kinds == ([kind] if kind else [])


def test_a_draw_from_a_generator_without_a_seed_is_found_through_an_attribute() -> None:
    text = (
        "import random\n\nclass Noise:\n    def __init__(self):\n        self.rng = random.Random()\n\n"
        "    def draw(self):\n        return self.rng.random()\n\nprint(Noise().draw())\n"
    )
    assert [(place.kind, place.name, place.line) for place in found(text)] == [
        ("generator", "random.Random", 5),
        ("private", "self.rng.random", 8),
    ]


def test_a_line_is_fed_by_what_made_its_values_and_what_changed_them() -> None:
    text = (
        "import time, torch\ng = torch.Generator()\ng.manual_seed(time.time_ns())\n"
        "other = time.time()\nmask = torch.rand(3, generator=g)\n"
    )
    project = of_text({"train.py": text})
    (module,) = project
    fed = set(feeding(module.orders, module, 5))
    clocks = {node.lineno: id(node) for node in module.calls("time.time", "time.time_ns")}
    assert clocks[3] in fed and clocks[4] not in fed
