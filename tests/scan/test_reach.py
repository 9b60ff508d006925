"""What no training comes to has no finding, or a note; what one comes to keeps its finding."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.scan import scan
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text

TRAIN = """\
import torch
from torch.utils.data import DataLoader

NET
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for row in DataLoader(rows):
    net(row).sum().backward()
    optimizer.step()
"""
NET = "net = torch.nn.Linear(2, 1)"
OWN_NET = """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.head = self.make()

    def make(self):
        return torch.nn.Linear(2, 1)

    def forward(self, x):
        return self.head(x)

"""
PRINTED = """\
import random

import torch
from torch.utils.data import DataLoader


def pick():
    return random.random()


def step():
    net(torch.ones(2) * random.random()).backward()


NET
optimizer = torch.optim.SGD(net.parameters(), 0.1)
"""
BOTH = "if resumes:\n    net.load_state_dict(last)\nelse:\n    net.load_state_dict(first)"
ONE = "if resumes:\n    net.load_state_dict(last)"
WRAPPED = f"{OWN_NET}net = Net()\nnet.load_state_dict(first)\nnet = torch.nn.DataParallel(net)"
ROWS = """\
import random

import torch
from torch.utils.data import DataLoader


class Rows(torch.utils.data.Dataset):
    def __init__(self):
        self.rows = self.prepare()

    def prepare(self):
        random.seed(0)
        rows = list(range(9))
        random.shuffle(rows)
        return rows

    def __getitem__(self, index):
        return self.rows[index]


loader = DataLoader(Rows(), num_workers=2)
"""
NOISY = ROWS.replace("return self.rows[index]", "return self.rows[index] + random.random()")
SEEDS = """\
import random

import torch


class Flip:
    def __init__(self):
        random.seed(None)


def shown():
    random.seed(None)
"""


def codes(text: str, part: str = NET) -> list[str]:
    whole = of_text({"train.py": text.replace("NET", part)})
    return [one.code for one in findings(whole)]


@pytest.mark.parametrize("part", [f"{NET}\n{BOTH}", WRAPPED])
def test_weights_that_a_checkpoint_replaces_have_no_finding(part: str) -> None:
    assert codes(TRAIN, part) == []


@pytest.mark.parametrize("part", [NET, f"{NET}\n{ONE}", WRAPPED.replace("net.load", "nothing = ")])
def test_weights_that_no_checkpoint_replaces_for_sure_have_one(part: str) -> None:
    assert codes(TRAIN, part) == ["RC301"]


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("test_loader = DataLoader(rows, shuffle=True)", []),
        ("train.valloader = DataLoader(rows, shuffle=True)", []),
        ("def val_dataloader():\n    return DataLoader(rows, shuffle=True)\nval_dataloader()", []),
        ("train_loader, test_loader = DataLoader(rows, shuffle=True), 1", ["RC501"]),
        ("latest = DataLoader(rows, shuffle=True)", ["RC501"]),
    ],
)
def test_the_order_of_an_evaluation_has_no_finding(line: str, wanted: list[str]) -> None:
    assert codes(TRAIN, f"{line}\n{NET}\nnet.load_state_dict(first)") == wanted


@pytest.mark.parametrize(
    ("line", "wanted"),
    [
        ("print(pick())", []),
        ("print(step())", ["RC406"]),
        ("args.exp_id = str(random.random())", []),
        ("rows = [pick()]", ["RC406"]),
    ],
)
def test_a_number_that_is_only_printed_has_no_finding(line: str, wanted: list[str]) -> None:
    """Nor has one that names an experiment."""
    assert codes(PRINTED, f"{NET}\nnet.load_state_dict(first)\n{line}") == wanted


def test_what_stands_in_a_folder_of_demonstrations_has_no_finding(tmp_path: Path) -> None:
    demo = tmp_path / "demo" / "model.py"
    demo.parent.mkdir()
    demo.write_text("import random\nimport torch\nopen('x').write(str(random.random()))\n")
    assert scan([tmp_path]).findings == ()
    demo.rename(tmp_path / "model.py")
    assert [one.code for one in scan([tmp_path]).findings] == ["RC406"]


def test_what_a_data_set_draws_when_it_is_made_is_not_drawn_in_workers() -> None:
    assert codes(ROWS) == []
    assert codes(NOISY) == ["RC503"]


def test_a_seed_in_what_nothing_uses_is_a_note_in_a_folder(tmp_path: Path) -> None:
    seeds, train = tmp_path / "seeds.py", tmp_path / "train.py"
    seeds.write_text(SEEDS)
    train.write_text("import seeds\n" + TRAIN.replace("NET", f"torch.manual_seed(0)\n{NET}"))
    assert severities(tmp_path) == {"note"}
    assert severities(seeds) == {"error"}
    train.write_text(train.read_text() + "flips = [seeds.Flip, seeds.shown]\n")
    assert severities(tmp_path) == {"error"}
    train.unlink()
    assert severities(tmp_path) == {"error"}


def severities(path: Path) -> set[str]:
    found = [one for one in scan([path]).findings if one.code == "RC402"]
    assert found
    return {one.severity for one in found}
