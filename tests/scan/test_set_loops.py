"""Loops over sets of strings whose bodies keep the order: in a list, in an object of one's own, in
one of a library.
"""

from __future__ import annotations

import pytest

from reprocheck.fixes.fixability import promised
from reprocheck.scan.finding import Finding
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

TRAIN = "torch.manual_seed(0)\ntorch.nn.Linear(3, 1)(x).backward()\n"
HEAD = "import torch\nfrom queue import Queue\nfrom words import Vocabulary\n\n"
OWN = """\
class Index:
    def __init__(self):
        self.of, self.words = {}, []

    def number(self, word):
        self.of[word] = len(self.of)

    def keep(self, word):
        self._keep(word)

    def _keep(self, word):
        self.words.append(word)

    def count(self, word):
        self.of[word] = self.of.get(word, 0) + 1


index = Index()
"""
BODIES = {
    "index.number(word)": ("error", "`number` numbers its elements in that order"),
    "index.keep(word)": ("warning", "`_keep` collects its elements in that order"),
    "vocabulary.add_token(word)": ("warning", "its elements are put somewhere in that order"),
    "queue.put(word)": ("warning", "its elements are put somewhere in that order"),
    "kept.append(word)": ("warning", "its elements are collected in that order"),
}


def found(body: str, taken: str = "set(open('corpus.txt').read().split())") -> list[Finding]:
    start = "vocabulary, queue, kept = Vocabulary(), Queue(), []\n"
    return findings(
        of_text({"train.py": f"{HEAD}{OWN}{start}for word in {taken}:\n    {body}\n{TRAIN}"})
    )


@pytest.mark.parametrize("body", BODIES)
def test_a_body_that_keeps_the_order_is_found(body: str) -> None:
    severity, how = BODIES[body]
    assert [(one.code, one.severity) for one in found(body)] == [("RC505", severity)]
    assert found(body)[0].message.endswith(how)
    assert found(body, "sorted(set(open('corpus.txt').read().split()))") == []


@pytest.mark.parametrize(
    "body", ["index.count(word)", "print(word)", "kept.append(word)\nkept.sort()"]
)
def test_a_body_that_is_blind_to_the_order_has_no_finding(body: str) -> None:
    assert found(body) == []


def test_in_a_function_that_no_program_reaches_it_is_a_note() -> None:
    library = "def build(path):\n    out = []\n    for word in set(open(path).read().split()):\n        out.append(word)\n    return out\n"
    assert [
        (one.code, one.line, one.severity) for one in findings(of_text({"words.py": library}))
    ] == [("RC505", 3, "note")]
    used = {
        "words.py": library,
        "train.py": f"import torch\nfrom words import build\nx = build('corpus.txt')\n{TRAIN}",
    }
    assert [(one.code, one.line, one.severity) for one in findings(of_text(dict(used)))] == [
        ("RC505", 3, "warning")
    ]


def test_where_the_text_does_not_show_what_a_set_holds_the_line_is_told_with_its_sort_and_nothing_is_promised() -> (
    None
):
    text = f"{HEAD}import json\nwords = set(json.load(open('words.json')))\nlabels = list(words)\nx = torch.tensor(labels)\n{TRAIN}"
    project = of_text({"train.py": text})
    ((found,),) = promised([(project, findings(project))])
    assert found.code == "RC505" and not found.patchable
    assert found.fix == (
        "Write `labels = sorted(words)`. The text does not show what the set holds, and `sorted` takes only what can be compared."
    )


ASKED = """
if not (folder.exists() and list(NAMES)): raise SystemExit
assert list(NAMES) or folder.exists()
empty = not [name for name in NAMES if str(name)]
number = 3 if list(NAMES) else 4
names = list(NAMES); print(len(names)) if names else print("none")
names = list(NAMES); found = "a" in names and len(names) > 3
while list(NAMES) and folder.exists(): break
numbers = [one for one in range(3) if not list(NAMES)]
print(len(names)) if (names := list(NAMES)) else print("none")
names = list(NAMES) if folder.exists() else []; assert not names
"""
ORDERED = """
names = list(NAMES) or [1]; torch.save([torch.load(name) for name in names], "a.pt")
names = list(NAMES); assert names; torch.save([torch.load(name) for name in names], "a.pt")
names = folder.exists() and list(NAMES); torch.save([torch.load(name) for name in names], "a.pt")
first = torch.load(list(NAMES)[0])
"""
READING = """\
from pathlib import Path
import torch
folder = Path("data")
words = set(Path("words.txt").read_text().split())
LINE
torch.manual_seed(0)
torch.nn.Linear(4, 1)(torch.ones(2, 4)).sum().backward()
"""


@pytest.mark.parametrize("names", ["folder.iterdir()", "words"])
def test_truth_tests_lengths_and_membership_are_no_order(names: str) -> None:
    def number(line: str) -> int:
        text = READING.replace("LINE", line.replace("NAMES", names))
        return len(findings(of_text({"train.py": text})))

    assert [line for line in ASKED.strip().splitlines() if number(line)] == []
    assert [line for line in ORDERED.strip().splitlines() if not number(line)] == []
