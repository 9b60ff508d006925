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
FIXED = f"{NET}\nnet.weight = torch.nn.Parameter(torch.ones(1, 2))"
FORKED = f"{NET}\nwith torch.random.fork_rng():\n    torch.set_rng_state(state)"
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


@pytest.mark.parametrize("part", [f"{NET}\n{BOTH}", WRAPPED, FIXED])
def test_weights_that_a_checkpoint_replaces_have_no_finding(part: str) -> None:
    assert codes(TRAIN, part) == []


@pytest.mark.parametrize(
    "part", [NET, f"{NET}\n{ONE}", WRAPPED.replace("net.load", "nothing = "), FORKED]
)
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
    assert severities(tmp_path) == {"warning"}
    train.unlink()
    assert severities(tmp_path) == {"warning"}


LISTED = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.ParameterList()
        self.parts.append(nn.Parameter(torch.Tensor(3, 4)))

    def forward(self, x):
        return x @ self.parts[0]
"""
FILLS = """\
from torch import nn

import net


def init_weights(one):
    nn.init.normal_(one.parts[0])
"""


def test_what_another_module_fills_in_a_list_of_parameters_has_no_finding() -> None:
    train = TRAIN.replace("import torch\n", "import torch, net as nets, fill\n").replace(
        "NET", "torch.manual_seed(0)\nnet = nets.Net()\nnet.apply(fill.init_weights)"
    )
    files = {"train.py": train, "net.py": LISTED, "fill.py": FILLS}
    assert findings(of_text(files)) == []
    files["fill.py"] = FILLS.replace("one.parts[0]", "one.weight")
    assert [one.code for one in findings(of_text(files))] == ["RC303"]


FILES = """\
import glob
import torch

import nets


def load_samples():
    samples = []
    for name in glob.glob("*"):
        samples.append(torch.load(name))
    return samples
"""


def test_the_order_of_files_is_a_note_where_nothing_takes_them(tmp_path: Path) -> None:
    (tmp_path / "nets.py").write_text("SIZE = 3\n")
    (tmp_path / "files.py").write_text(FILES)
    train = tmp_path / "train.py"
    train.write_text("import nets, files\n" + TRAIN.replace("NET", SEEDED))
    assert [(one.code, one.severity) for one in scan([tmp_path]).findings] == [("RC104", "note")]
    train.write_text(train.read_text().replace("for row", "rows = files.load_samples()\nfor row"))
    found = scan([tmp_path]).findings
    assert [(one.code, one.severity) for one in found] == [("RC104", "warning")]


PORT = """\
import random
import time

import torch

port = random.Random(time.time()).randint(1, 9)
rng = random.Random(time.time())
KIND = rng.randint(1, 9)
"""
SEEDED = f"torch.manual_seed(0)\n{NET}\nnet.cuda()\n"
EVALUATED = """\
def evaluate(net):
    return net(torch.ones(2) * torch.rand(1))
evaluate(net)
"""
DECORATED = """\
@torch.no_grad()
def measure():
    return torch.nn.ReflectionPad2d(3)
measure()
"""
RANKED = """\
class Rows(torch.utils.data.Dataset):
    def __init__(self, shard):
        self.shard = shard

torch.distributed.init_process_group("gloo")
data = Rows(SHARE)
loader = DataLoader(data, shuffle=True)
"""
QUEUE = """\
import torch.multiprocessing as mp


def work(queue, rank):
    net(torch.ones(2)).sum().backward()
    queue.put((rank, net.bias.grad))


queue = mp.Queue()
for rank in range(2):
    mp.Process(target=work, args=(queue, rank)).start()
rows = sorted(queue.get() for _ in range(2))
"""


def test_a_clock_that_chooses_a_port_has_no_finding() -> None:
    assert codes(PORT.replace("KIND", "port")) == []
    assert codes(PORT.replace("KIND", "number")) == ["RC402"]


def test_what_an_evaluation_draws_has_no_finding() -> None:
    part = f"{NET}\nnet.load_state_dict(first)\n{EVALUATED}"
    assert codes(TRAIN, part) == []
    assert codes(TRAIN, part.replace("evaluate", "mixed")) == ["RC406"]
    assert codes(TRAIN, part.replace("return", "optimizer.zero_grad()\n    return")) == ["RC406"]


def test_a_layer_of_a_function_without_gradients_has_no_gradient_that_is_noisy() -> None:
    assert codes(TRAIN, SEEDED + DECORATED) == []
    assert codes(TRAIN, SEEDED + DECORATED.replace("@torch.no_grad()\n", "")) == ["RC701"]


def test_a_rank_that_is_given_its_share_does_not_overlap() -> None:
    assert codes(TRAIN, SEEDED + RANKED.replace("SHARE", "shard=rank")) == []
    assert codes(TRAIN, SEEDED + RANKED.replace("SHARE", "rank")) == ["RC510"]


def test_programs_that_are_named_after_tests_have_no_findings_in_folders(tmp_path: Path) -> None:
    text = "import random\nimport torch\nopen('x').write(str(random.random()))\n"
    (tmp_path / "tests").mkdir()
    for name in ("test_parts.py", "interactive.py", "image_sample.py", "tests/test_x.py"):
        (tmp_path / name).write_text(text)
    assert scan([tmp_path]).findings == ()
    (tmp_path / "train_test_split.py").write_text(text)
    assert [one.code for one in scan([tmp_path]).findings] == ["RC406"]


def test_results_that_are_sorted_may_arrive_in_any_order() -> None:
    assert "RC508" not in codes(TRAIN, SEEDED + QUEUE)
    assert "RC508" in codes(TRAIN, SEEDED + QUEUE.replace("sorted(", "list("))


def severities(path: Path) -> set[str]:
    found = [one for one in scan([path]).findings if one.code == "RC402"]
    assert found
    return {one.severity for one in found}


PUT_BACK = """\
import torch

net = torch.nn.Linear(2, 1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for row in rows:
    state = STATE
    net(row).sum().backward()
    torch.set_rng_state(state)
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("state", "wanted"), [("torch.get_rng_state()", "RC301"), ("torch.load('x')", "RC302")]
)
def test_a_state_that_is_put_back_is_no_seed(state: str, wanted: str) -> None:
    found = codes(PUT_BACK.replace("STATE", state))
    assert [code for code in found if code in ("RC301", "RC302")] == [wanted]


@pytest.mark.parametrize(("after", "wanted"), [("before", []), ("True", ["RC706"])])
def test_a_switch_that_is_put_back_is_no_finding(after: str, wanted: list[str]) -> None:
    text = f"""\
import torch
def measure(net, rows):
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    for row in rows:
        net(row).backward()
        optimizer.step()
    torch.backends.cudnn.benchmark = {after}
measure(torch.nn.Conv2d(1, 1, 1), rows)
"""
    found = codes(text)
    assert sorted({code for code in found if code == "RC706"}) == wanted


def test_an_object_of_fabric_seeds() -> None:
    text = """\
import lightning as L
import torch
fabric = L.Fabric(devices=1)
fabric.seed_everything(3)
net = torch.nn.Linear(2, 1)
for row in rows:
    fabric.backward(net(row))
"""
    assert "RC301" not in codes(text)


@pytest.mark.parametrize(
    ("beside", "wanted"), [("flash_attn_with_kvcache(q, k, v)", []), ("v", ["RC703"])]
)
def test_attention_of_a_branch_that_generates_has_no_gradient(
    beside: str, wanted: list[str]
) -> None:
    text = f"""\
from flash_attn import flash_attn_func, flash_attn_with_kvcache
def forward(q, k, v, kept):
    if kept is not None:
        if not kept:
            return flash_attn_func(q, k, v)
        return {beside}
    return q
"""
    assert [code for code in codes(text) if code == "RC703"] == wanted


@pytest.mark.parametrize(
    ("workers", "wanted"), [("num_workers=options.workers", 0), ("num_workers=0", 1), ("", 1)]
)
def test_workers_may_be_some_where_their_number_is_not_known(workers: str, wanted: int) -> None:
    text = f"import torch\ntorch.manual_seed(0)\n{NOISY}".replace("random.seed(0)", "pass")
    text = text.replace("num_workers=2", workers) + (
        "net = torch.nn.Linear(2, 1)\noptimizer = torch.optim.SGD(net.parameters(), 0.1)\n"
        "for row in loader:\n    net(row).sum().backward()\n    optimizer.step()\n"
    )
    assert codes(text.replace("random.shuffle(rows)", "pass")).count("RC511") == wanted
