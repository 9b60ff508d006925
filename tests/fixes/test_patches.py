"""Patches: each rule's wrong example is fixed, everything else stays as it was, and what cannot be
fixed safely is left alone.
"""

from __future__ import annotations

import ast
import difflib
import re
from collections import Counter
from dataclasses import replace
from itertools import chain
from pathlib import Path
from textwrap import dedent

import pytest

from reprocheck.fixes.patches import CODES, patch
from reprocheck.fixes.patches.text_changes import changes_of, is_whole
from reprocheck.rules import Entry, catalogue
from reprocheck.scan import patched, scan
from reprocheck.scan.finding import Finding
from reprocheck.scan.fix_words import in_words
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text
from tests.scan.snippets import WRONG, text as plain
from tests.scan.study import programs

FIXED = [entry for entry in catalogue() if entry.code in CODES]
BESIDE = "\n\n# a comment   that stays\nTABLE = {  'a':1,\n  'b' : 2 }  # odd, and kept\n"


def found(text: str) -> list[Finding]:
    return findings(of_text({"train.py": text}))


def fixed(text: str) -> str:
    return patch(text, [one for one in found(text) if one.patchable])


def shown(text: str) -> str:
    return dedent(text).lstrip("\n")


def test_the_rules_that_say_that_they_can_be_patched_are_those_with_a_patch() -> None:
    assert {entry.code for entry in catalogue() if entry.patch} == CODES


@pytest.mark.parametrize("entry", FIXED, ids=lambda entry: entry.code)
def test_the_wrong_example_is_fixed_and_nothing_else_is_touched(entry: Entry) -> None:
    before = entry.bad.rstrip("\n") + BESIDE
    wrong = [one for one in found(before) if one.code == entry.code]
    assert wrong and all(one.patchable for one in wrong)
    after = patch(before, wrong)
    ast.parse(after)
    assert [one.code for one in found(after)] == []
    touched = {line for one in wrong for line in range(one.line, one.end_line + 1)}
    matcher = difflib.SequenceMatcher(None, before.splitlines(), after.splitlines(), autojunk=False)
    removed = {
        line + 1
        for tag, first, last, _, _ in matcher.get_opcodes()
        if tag != "equal"
        for line in range(first, last)
    }
    assert removed <= touched
    assert after.endswith(BESIDE)
    assert patch(after, found(after)) == after
    assert patch(after, wrong) == after


UNTOUCHED = {
    "futures in a set have no order": """
        from concurrent.futures import ThreadPoolExecutor, as_completed
        pool = ThreadPoolExecutor()
        futures = {pool.submit(pow, base, 2) for base in range(8)}
        samples = [done.result() for done in as_completed(futures)]
        """,
    "futures from elsewhere": """
        from concurrent.futures import as_completed
        def samples(futures):
            return [done.result() for done in as_completed(futures)]
        """,
    "a function that takes no number": "import torch\ntorch.seed\n",
    "a state, and no number": "import torch\ntorch.set_rng_state\n",
    "nothing that a seed could be": "import numpy\nnumpy.random.seed = None\n",
}
"""Findings that no patch can fix."""


@pytest.mark.parametrize("text", UNTOUCHED.values(), ids=UNTOUCHED)
def test_what_cannot_be_fixed_is_not_offered(text: str) -> None:
    wrong = found(shown(text))
    assert wrong and not any(one.patchable for one in wrong)


MENDINGS = {
    "aliases are used, and imports between settings stay where they are": (
        """
        import os
        os.environ["A"] = "1"
        import numpy as np
        import torch
        x = torch.nn.Linear(2, 1)(torch.tensor(np.random.rand(2)).float())
        x.backward()
        """,
        """
        import os
        os.environ["A"] = "1"
        import numpy as np
        import torch

        np.random.seed(0)
        torch.manual_seed(0)
        x = torch.nn.Linear(2, 1)(torch.tensor(np.random.rand(2)).float())
        x.backward()
        """,
    ),
    "a call over several lines keeps its shape": (
        """
        from sklearn.model_selection import train_test_split

        train, test = train_test_split(
            list(range(8)),  # all
            test_size=0.2,
        )
        """,
        """
        from sklearn.model_selection import train_test_split

        train, test = train_test_split(
            list(range(8)),  # all
            test_size=0.2,
            random_state=0,
        )
        """,
    ),
    "a split gets a generator of its own, and the seed below it stays": (
        """
        import torch
        from torch.utils.data import random_split

        train, held_out = random_split(range(10), [8, 2])
        torch.manual_seed(0)
        """,
        """
        import torch
        from torch.utils.data import random_split

        train, held_out = random_split(range(10), [8, 2], generator=torch.Generator().manual_seed(0))
        torch.manual_seed(0)
        """,
    ),
    "each generator gets a number of its own": (
        """
        import numpy as np

        one, two = np.random.default_rng(), np.random.RandomState(None)
        print(one.normal(), two.rand())
        """,
        """
        import numpy as np

        one, two = np.random.default_rng(0), np.random.RandomState(1)
        print(one.normal(), two.rand())
        """,
    ),
    "a class that was imported by its name": (
        """
        from random import SystemRandom

        own = SystemRandom()
        print(own.random())
        """,
        """
        from random import SystemRandom
        import random

        own = random.Random(0)
        print(own.random())
        """,
    ),
    "the clock is taken out of the number where that is made": (
        """
        import time
        import random
        import torch

        rank = 3
        seed = rank + int(time.time() * 1000) % 2**32  # new
        torch.manual_seed(seed)
        random.seed(seed)
        """,
        """
        import time
        import random
        import torch

        rank = 3
        seed = rank + 0  # new
        torch.manual_seed(seed)
        random.seed(seed)
        """,
    ),
    "a part of the date": (
        """
        import datetime
        import numpy as np

        np.random.seed(datetime.datetime.now().microsecond)
        """,
        """
        import datetime
        import numpy as np

        np.random.seed(0)
        """,
    ),
    "a seed that is drawn": (
        """
        import random
        import torch

        seed = random.randint(0, 2**31)
        torch.manual_seed(seed)
        """,
        """
        import random
        import torch

        random.seed(0)

        seed = random.randint(0, 2**31)
        torch.manual_seed(seed)
        """,
    ),
    "a seed that is drawn for each sample, so that two draws are alike": (
        """
        import numpy as np
        import torch
        from torchvision.transforms import RandomHorizontalFlip

        class Pairs(torch.utils.data.Dataset):
            def __getitem__(self, at):
                seed = np.random.randint(0, 2**31)
                torch.manual_seed(seed)
                first = RandomHorizontalFlip()(at)
                torch.manual_seed(seed)
                return first, RandomHorizontalFlip()(at)

        for pair in torch.utils.data.DataLoader(Pairs()):
            model(pair).backward()
        """,
        """
        import numpy as np
        import torch
        from torchvision.transforms import RandomHorizontalFlip

        np.random.seed(0)

        class Pairs(torch.utils.data.Dataset):
            def __getitem__(self, at):
                seed = np.random.randint(0, 2**31)
                torch.manual_seed(seed)
                first = RandomHorizontalFlip()(at)
                torch.manual_seed(seed)
                return first, RandomHorizontalFlip()(at)

        for pair in torch.utils.data.DataLoader(Pairs()):
            model(pair).backward()
        """,
    ),
    "a seeding function that takes no number": (
        """
        import torch

        torch.seed()
        """,
        """
        import torch

        torch.manual_seed(0)
        """,
    ),
    "a list of a set is sorted where it is made": (
        """
        import random
        random.seed(0)
        names = list({"cat", "dog"})
        random.shuffle(names)
        """,
        """
        import random
        random.seed(0)
        names = sorted({"cat", "dog"})
        random.shuffle(names)
        """,
    ),
    "files in a list": (
        """
        import torch
        from pathlib import Path

        files = list(Path("data").glob("*.pt"))
        samples = [torch.load(file) for file in files]
        """,
        """
        import torch
        from pathlib import Path

        files = sorted(Path("data").glob("*.pt"))
        samples = [torch.load(file) for file in files]
        """,
    ),
    "results of a pool": (
        """
        from multiprocessing import Pool

        with Pool() as pool:
            samples = [one for one in pool.imap_unordered(abs, range(8))]
        """,
        """
        from multiprocessing import Pool

        with Pool() as pool:
            samples = [one for one in pool.imap(abs, range(8))]
        """,
    ),
}


@pytest.mark.parametrize("name", MENDINGS)
def test_a_patch(name: str) -> None:
    before, after = MENDINGS[name]
    assert fixed(shown(before)) == shown(after)
    assert fixed(shown(after)) == shown(after)


MENDINGS |= {
    "a generator that the program's own function forgets is seeded there, with its number": (
        """
        import argparse
        import random
        import torch

        def set_seed(seed):
            torch.manual_seed(seed)

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=3)
        args = parser.parse_args()
        set_seed(args.seed)
        order = list(range(8))
        random.shuffle(order)
        torch.nn.Linear(8, 1)(torch.tensor(order).float()).backward()
        """,
        """
        import argparse
        import random
        import torch

        def set_seed(seed):
            torch.manual_seed(seed)
            random.seed(seed)

        parser = argparse.ArgumentParser()
        parser.add_argument("--seed", type=int, default=3)
        args = parser.parse_args()
        set_seed(args.seed)
        order = list(range(8))
        random.shuffle(order)
        torch.nn.Linear(8, 1)(torch.tensor(order).float()).backward()
        """,
    ),
    "two generators that it forgets, one of them without an import": (
        """
        import random

        import numpy as np
        from torch import nn

        def main(seed=7):
            random.seed(seed)  # all
            weights = np.random.rand(3)
            nn.Linear(3, 1)(weights).backward()

        if __name__ == "__main__":
            main()
        """,
        """
        import random

        import numpy as np
        from torch import nn
        import torch

        def main(seed=7):
            random.seed(seed)  # all
            np.random.seed(seed)
            torch.manual_seed(seed)
            weights = np.random.rand(3)
            nn.Linear(3, 1)(weights).backward()

        if __name__ == "__main__":
            main()
        """,
    ),
    "a seed that comes too late is set at the top as well, with its number": (
        """
        import torch

        net = torch.nn.Linear(3, 1)
        torch.manual_seed(1234)
        net(torch.ones(3)).backward()
        """,
        """
        import torch

        torch.manual_seed(1234)

        net = torch.nn.Linear(3, 1)
        torch.manual_seed(1234)
        net(torch.ones(3)).backward()
        """,
    ),
    "a number that is made once more is not taken": (
        """
        import random
        import torch

        def number():
            return 3

        random.seed(number())
        torch.nn.Linear(3, 1)(torch.ones(3)).backward()
        """,
        """
        import random
        import torch

        torch.manual_seed(0)

        def number():
            return 3

        random.seed(number())
        torch.nn.Linear(3, 1)(torch.ones(3)).backward()
        """,
    ),
    "a function that is assigned to is called, and nothing is seeded twice": (
        """
        import torch

        torch.manual_seed = 42
        torch.nn.Linear(3, 1)(torch.ones(3)).backward()
        """,
        """
        import torch

        torch.manual_seed(42)
        torch.nn.Linear(3, 1)(torch.ones(3)).backward()
        """,
    ),
    "a program that has Keras from TensorFlow gets no other one": (
        """
        from tensorflow.keras import layers, models

        net = models.Sequential([layers.Dense(1)])
        net.fit(x, y)
        """,
        """
        from tensorflow.keras import layers, models
        import tensorflow

        tensorflow.keras.utils.set_random_seed(0)

        net = models.Sequential([layers.Dense(1)])
        net.fit(x, y)
        """,
    ),
    "what is left of a clock is nothing": (
        """
        import random
        import time

        size = 1000
        random.seed(int(time.time()) % size)
        """,
        """
        import random
        import time

        size = 1000
        random.seed(0)
        """,
    ),
}

LEFT = {
    "a number for each name": """
        import random

        def voice(name: str) -> float:
            return random.Random(hash(name) % 1000).random()

        print(voice("ann"), voice("bob"))
        """,
    "a set of what the text does not show": """
        import json
        import torch

        labels = list(set(json.load(open("labels.json"))))
        index = {label: number for number, label in enumerate(labels)}
        torch.manual_seed(0)
        torch.nn.Linear(len(index), 1)(torch.ones(3)).backward()
        """,
    "in a loop each would draw the same": """
        import numpy

        for epoch in range(3):
            print(numpy.random.default_rng().normal())
        """,
    "a function that is called twice": """
        import numpy

        def noise():
            return numpy.random.default_rng().normal()

        print(noise(), noise())
        """,
    "the name is taken": """
        from random import SystemRandom

        random = SystemRandom()
        print(random.random())
        """,
    "arguments that the text does not show": """
        from sklearn.model_selection import train_test_split

        options = dict(zip(["test_size"], [0.5]))
        train, test = train_test_split(list(range(8)), **options)
        """,
    "futures in a set have no order of their own": """
        from concurrent.futures import ThreadPoolExecutor, as_completed

        with ThreadPoolExecutor() as pool:
            samples = [done.result() for done in as_completed({pool.submit(pow, base, 2) for base in range(8)})]
        """,
}


@pytest.mark.parametrize("name", LEFT)
def test_what_cannot_be_fixed_safely_is_left_alone(name: str) -> None:
    text = shown(LEFT[name])
    assert fixed(text) == text


DATA = "from torch.utils.data import DataLoader\n\n\ndef loader():\n    return DataLoader(range(8), shuffle=True)\n"
SEEDS = "import random\n\n\ndef set_seed(seed):\n    random.seed(seed)\n"
DRAWS_ELSEWHERE = {
    "a program without a seed is seeded at its top": (
        {
            "train.py": "from data import loader\n\nfor batch in loader():\n    batch.backward()\n",
            "data.py": DATA,
        },
        {
            "train.py": (
                "from data import loader\nimport torch\n\ntorch.manual_seed(0)\n\nfor batch in loader():\n    batch.backward()\n"
            )
        },
    ),
    "a program with a function that seeds is seeded there": (
        {
            "train.py": "from data import loader\nfrom seeds import set_seed\n\nset_seed(3)\nfor batch in loader():\n    batch.backward()\n",
            "data.py": DATA,
            "seeds.py": SEEDS,
        },
        {
            "seeds.py": SEEDS.replace("import random\n", "import random\nimport torch\n")
            + "    torch.manual_seed(seed)\n"
        },
    ),
}


@pytest.mark.parametrize("name", DRAWS_ELSEWHERE)
def test_what_draws_in_a_module_of_its_own_needs_a_seed_in_the_program(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files, expected = DRAWS_ELSEWHERE[name]
    for path, text in files.items():
        Path(path).write_text(text)
    result = scan([tmp_path])
    assert [(one.path, one.code, one.patchable) for one in result.findings] == [
        ("data.py", "RC501", True)
    ]
    after = {path.name: text for path, text in patched(result).items()}
    assert after == expected
    for path, text in after.items():
        Path(path).write_text(text)
    assert scan([tmp_path]).findings == ()


def programs_with_findings() -> dict[str, dict[str, str]]:
    """Every wrong program that the tests of the rules know, by name."""
    known = {entry.code: {"train.py": entry.bad} for entry in catalogue() if entry.scan}
    for name, (source, _) in WRONG.items():
        known[name] = source if isinstance(source, dict) else {"train.py": plain(source)}
    known |= {program.name: program.files for program in programs("wrong")}
    return {
        name: files
        for name, files in known.items()
        if not any(path.endswith(".ipynb") for path in files)
    }


@pytest.mark.parametrize("name", list(programs_with_findings()))
def test_a_fixed_program_has_only_findings_that_it_had_and_each_promise_is_kept(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for path, text in programs_with_findings()[name].items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text)
    before = scan([tmp_path])
    changed = patched(before)
    assert bool(changed) is any(one.patchable for one in before.findings)
    for path, text in changed.items():
        path.write_text(text)
    again = scan([tmp_path])
    had, has = (Counter(one.code for one in result.findings) for result in (before, again))
    promised = Counter(one.code for one in before.findings if one.patchable)
    assert has <= had - promised
    assert patched(again) == {}
    told = (
        re.findall("(?:write|add) `([^`]+)`", one.fix, re.IGNORECASE) for one in before.findings
    )
    assert [code for code in chain.from_iterable(told) if not is_whole(code)] == []


def test_a_patch_within_a_call_of_several_lines_is_told_as_the_whole_statement() -> None:
    before = "import x\n\nout = x.attend(\n    q,\n    scale=1.0,  # scaled already\n)\n"
    after = before.replace("already\n", "already\n    deterministic=True,\n")
    told = "Write `out = x.attend(q, scale=1.0, deterministic=True)` in line 3."
    assert in_words(changes_of(before, after), 5) == told
    loop = "for row in load(\n    'a',  # rows\n):\n    print(row)\n"
    after = loop.replace("# rows\n", "# rows\n    shuffle=False,\n")
    assert in_words(changes_of(loop, after), 1) == "Write `for row in load('a', shuffle=False):`."
    assert not changes_of("x = 1\n", "x = 1\ndef f(y):\n    if y:\n        return y\n")


def test_a_fix_in_words_names_the_import_that_its_line_needs() -> None:
    before = "import random\n\nlabel = hash(name)\n"
    after = "import random\nimport zlib\n\nlabel = zlib.crc32(name.encode())\n"
    assert (
        in_words(changes_of(before, after), 3)
        == "Write `label = zlib.crc32(name.encode())`, and add `import zlib` at the top."
    )
    assert (
        in_words(changes_of(before, before.replace("hash(name)", "0")), 3) == "Write `label = 0`."
    )


def test_the_fix_that_is_printed_is_what_the_patch_does(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import random, time\nimport numpy as np\n\nrandom.seed(time.time())\nnp.random.shuffle([1, 2])\n"
    )
    found = {one.code: one.fix for one in scan([script]).findings}
    assert found == {
        "RC402": "Write `random.seed(0)`.",
        "RC501": "Add `np.random.seed(0)` below line 2.",
    }


def test_a_finding_that_the_fix_of_another_settles_says_that_fix(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(
        "import torch\ntorch.manual_seed = 42\ntorch.nn.Linear(4, 1)(torch.ones(4)).backward()\n"
    )
    result = scan([script])
    assert {one.code: (one.fix, one.patchable) for one in result.findings} == {
        "RC409": ("Write `torch.manual_seed(42)`.", True),
        "RC301": ("Write `torch.manual_seed(42)` in line 2.", True),
    }
    assert patched(result)[script].count("manual_seed") == 1


def test_a_place_that_would_need_other_spaces_is_left_alone_and_the_rest_fixed() -> None:
    text = shown(
        """
        import torch

        torch.backends.cudnn.enable = False
        names = {"cat", "dog"}
        labels = []
        for name in(names):
            labels.append(name)
        """
    )
    assert {one.code for one in found(text)} == {"RC010", "RC505"}
    assert fixed(text) == text.replace("enable ", "enabled ")


def test_line_ends_and_wide_characters_are_kept() -> None:
    text = (
        'import torch\r\n\r\nname = "größe"; scale = torch.nn.Parameter(torch.empty(64))  # ü\r\n'
    )
    assert fixed(text) == text.replace("empty", "zeros")


def test_text_that_is_no_python_or_not_that_of_the_findings_is_left_alone() -> None:
    text = "import torch\n\ntorch.backends.cudnn.enable = False\n"
    wrong = found(text)
    assert patch("print 'two'\n" + text, wrong) == "print 'two'\n" + text
    assert patch("#\n" + text, wrong) == "#\n" + text
    assert patch(text, [replace(one, cell=1) for one in wrong]) == text
    assert patch(text, []) == text


ENVIRONMENT = """
import gymnasium as gym
import torch

torch.manual_seed(0)
environment = gym.make("CartPole-v1")
state, _ = environment.reset()
model = torch.nn.Linear(4, 2)
model(torch.tensor(state)).sum().backward()
"""
EPISODES = """
import gymnasium as gym
import torch

torch.manual_seed(0)
environment = gym.make("CartPole-v1")
model = torch.nn.Linear(4, 2)
for episode in range(4):
    state, _ = environment.reset()
    model(torch.tensor(state)).sum().backward()
"""


def test_the_first_reset_of_an_environment_takes_a_seed_and_episodes_stay_different() -> None:
    assert "state, _ = environment.reset(seed=0)\n" in fixed(shown(ENVIRONMENT))
    assert fixed(shown(EPISODES)) == shown(EPISODES), "each episode would begin in the same way"
    (wrong,) = found(shown(EPISODES))
    assert (wrong.code, wrong.fix) == (
        "RC407",
        "Call `environment.reset(seed=0)` once before the loop.",
    )


PIPELINE = """
import albumentations as A
import torch

torch.manual_seed(0)
changed = A.Compose([A.HorizontalFlip(p=0.5)])
model = torch.nn.Linear(4, 2)
model(torch.tensor(changed(image=image)["image"])).sum().backward()
"""


def test_a_pipeline_with_a_generator_of_its_own_takes_a_seed() -> None:
    assert "changed = A.Compose([A.HorizontalFlip(p=0.5)], seed=0)\n" in fixed(shown(PIPELINE))
