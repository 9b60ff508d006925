"""One matter is one finding, and its sentence keeps the names of code as they are written."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.language.letters import capital, small
from reprocheck.scan.finding import Finding
from reprocheck.scan.formats import sentence, text
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text
from tests.scan.samples import RESULT, SEED

TRAINS = "torch.nn.Linear(1, 1)(torch.ones(1)).backward()\n"
ONCE = {
    "the clock and the process id in one seed": "torch.manual_seed(os.getpid() + int(time.time()))\n",
    "one line that is given either": "def start(x):\n    torch.manual_seed(x)\nstart(os.getpid())\nstart(int(time.time()))\n",
    "a seed from the operating system's generator": "torch.manual_seed(random.SystemRandom().randint(0, 9))\n",
    "the same in two lines": "system = random.SystemRandom()\ntorch.manual_seed(system.randint(0, 9))\n",
    "a seed from the hash of a string": "torch.manual_seed(hash('name') % 100)\n",
    "the same by a variable": "number = hash('name') % 100\ntorch.manual_seed(number)\n",
}


def found(source: str) -> list[Finding]:
    project = of_text({"main.py": f"import os, random, time, torch\n{source}{TRAINS}"})
    return [one for one in findings(project) if one.suppressed is None]


@pytest.mark.parametrize("name", ONCE)
def test_a_seed_is_one_matter(name: str) -> None:
    assert [one.code[:3] for one in found(ONCE[name])] == ["RC4"], name


def test_a_worker_that_is_seeded_anew_is_one_matter() -> None:
    said = found(
        "from torch.utils.data import DataLoader\ntorch.manual_seed(0)\ndef start(number):\n"
        "    random.seed(random.SystemRandom().getrandbits(48))\n"
        "for batch in DataLoader(samples, num_workers=2, worker_init_fn=start):\n    net(batch).backward()\n"
    )
    assert [(one.code, one.line) for one in said] == [("RC503", 5)]


def test_a_generator_beside_a_seed_is_a_matter_of_its_own() -> None:
    said = found(
        "torch.manual_seed(int(time.time()))\norder = random.SystemRandom().sample(range(9), 9)\n"
    )
    assert [(one.code, one.line) for one in said] == [("RC402", 2), ("RC407", 3)]
    both = found(
        "system = random.SystemRandom()\ntorch.manual_seed(system.randint(0, 9))\norder = system.sample(range(9), 9)\n"
    )
    assert [(one.code, one.line) for one in both] == [("RC407", 2), ("RC402", 3)]


def test_two_lines_that_say_different_things_stay_two() -> None:
    said = found("torch.manual_seed(os.getpid())\nrandom.seed(time.time())\n")
    assert [(one.code, one.line) for one in said] == [("RC404", 2), ("RC402", 3)]


def test_code_names_keep_their_letters_in_front_of_a_sentence() -> None:
    source = "from torch.utils.data import random_split\nfirst, second = random_split(samples, [1, 2])\nnoise = torch.randn(3)\n"
    said = [sentence(one) for one in found(source)]
    assert said[:2] == [
        "`random_split` chooses samples at random, and nothing seeds torch in this program.",
        "`torch.randn` draws here, and nothing seeds torch in this program.",
    ]
    assert said[2].startswith("The weights of `nn.Linear` are drawn here")
    shown = text.render(
        replace(
            RESULT,
            findings=(replace(SEED, message="random_split draws, and no word stands in front"),),
        )
    )
    assert "  random_split draws, and no word stands in front.\n" in shown


def test_what_is_done_where_no_patch_is_made_names_the_call() -> None:
    (one,) = found(
        "def start():\n    random.seed(time.time())\nfor _ in range(3):\n    start()\n    torch.manual_seed(1)\n"
    )
    assert one.code == "RC402"
    assert one.fix.startswith("Give `random.seed` a number from a generator that is seeded")


@pytest.mark.parametrize(
    "name",
    [
        "torch.rand",
        "cuDNN",
        "random_split",
        "XLA",
        "TensorFlow",
        "`x`",
        "hash()",
        "2 runs",
        "NumPy's",
    ],
)
def test_names_keep_their_first_letter(name: str) -> None:
    assert capital(f"{name} draws") == small(f"{name} draws") == f"{name} draws"


def test_words_get_theirs() -> None:
    assert (
        capital("the seed") == "The seed"
        and small("A seed") == "a seed"
        and small("The seed") == "the seed"
    )
    assert capital("") == small("") == "" and small("Weights, drawn") == "weights, drawn"
