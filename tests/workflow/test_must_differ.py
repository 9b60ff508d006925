"""Another seed must change the losses: where it does not, the call that overrides it is named with
its line; a script whose seed reaches the training passes.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest

from tests.conftest import ROOT, UNCOMPILED, Outcome, check, mindspore_python, reprocheck_here

PARSER = """
import argparse
parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int, default=42)
args = parser.parse_args()
"""
PLAIN = """
import numpy as np
import reprocheck
SEEDING
weight = DRAW
for step in range(3):
    loss = (weight - step) ** 2
    reprocheck.log_loss(float(loss))
    weight -= 0.1 * weight
"""
TORCH = """
import torch
SEEDING
model = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = model(torch.ones(2, 4)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""
LIGHTNING = """
import lightning
import torch
SEEDING

class Model(lightning.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch, _):
        return self.layer(batch[0]).square().mean()
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)

data = torch.utils.data.TensorDataset(torch.ones(8, 4))
trainer = lightning.Trainer(max_steps=3, logger=False, enable_checkpointing=False,
    enable_progress_bar=False, accelerator="cpu")
trainer.fit(Model(), torch.utils.data.DataLoader(data, batch_size=2))
"""
TRAINER = """
import torch
import transformers

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.ones_(self.layer.weight)
    def forward(self, x):
        return {"loss": self.layer(x).square().mean()}

data = [{"x": torch.tensor([float(number)])} for number in range(16)]
settings = transformers.TrainingArguments(
    output_dir="out",
    seed=args.seed,
    SEEDING
    per_device_train_batch_size=2,
    max_steps=3,
    report_to=[],
    use_cpu=True,
    save_strategy="no",
    disable_tqdm=True,
)
trainer = transformers.Trainer(model=Model(), args=settings, train_dataset=data)
trainer.train()
"""
KERAS = """
import os
os.environ["KERAS_BACKEND"] = "jax"
import keras
import numpy as np
SEEDING
model = keras.Sequential([keras.layers.Dense(1)])
model.compile("sgd", "mse")
model.fit(np.ones((6, 4)), np.ones((6, 1)), batch_size=2, shuffle=False, verbose=0)
"""
JAX = """
import jax
import jax.numpy as jnp
key = jax.random.key(args.seed)
SEEDING
weights = jax.random.normal(key, (4,))
step = jax.value_and_grad(lambda weights: (weights ** 2).mean())
for _ in range(3):
    loss, gradient = step(weights)
    weights = weights - 0.1 * gradient
"""
MINDSPORE = """
import mindspore
from mindspore import nn, ops
SEEDING
net = nn.Dense(4, 1)
optimizer = nn.SGD(net.trainable_params(), 0.1)
step = mindspore.value_and_grad(lambda x: net(x).pow(2).mean(), None, optimizer.parameters)
for _ in range(3):
    loss, gradients = step(ops.ones((2, 4), mindspore.float32))
    optimizer(gradients)
"""


@dataclass(frozen=True)
class Case:
    """A script with a fault, the text of the line that overrides the seed, and a clean twin."""

    script: str
    fault: str
    clean: str
    overriding: str
    arguments: tuple[str, ...] = ("--seed", "5")
    draw: str = "np.random.rand()"

    def source(self, seeding: str) -> str:
        parsed = PARSER if "args." in self.script + self.fault + self.clean else ""
        indent = "    " if self.script == TRAINER else ""
        seeding = seeding.replace("\n", f"\n{indent}")
        return (parsed + self.script).replace("SEEDING", seeding).replace("DRAW", self.draw)


CASES = {
    "seeded again": Case(
        PLAIN,
        "np.random.seed(args.seed)\nnp.random.seed(0)",
        "np.random.seed(args.seed)",
        "np.random.seed(0)",
    ),
    "parsed and not read": Case(
        PLAIN, "np.random.seed(3)", "np.random.seed(args.seed)", "np.random.seed(3)", ()
    ),
    "a helper": Case(
        PLAIN,
        "def seed_all(seed):\n    np.random.seed(seed)\nseed_all(args.seed)\nseed_all(1)",
        "def seed_all(seed):\n    np.random.seed(seed)\nseed_all(args.seed)",
        "seed_all(1)",
    ),
    "a helper that ignores its seed": Case(
        PLAIN,
        "def seed_all(seed):\n    np.random.seed(7)\nseed_all(args.seed)",
        "def seed_all(seed):\n    np.random.seed(seed + 7)\nseed_all(args.seed)",
        "    np.random.seed(7)",
    ),
    "a private generator": Case(
        PLAIN,
        "np.random.seed(args.seed)\nrng = np.random.default_rng(0)",
        "np.random.seed(args.seed)\nrng = np.random.default_rng(args.seed)",
        "rng = np.random.default_rng(0)",
        ("--seed=5",),
        "rng.random()",
    ),
    "a private generator of the older kind": Case(
        PLAIN,
        "np.random.seed(args.seed)\nrng = np.random.RandomState(1)",
        "np.random.seed(args.seed)\nrng = np.random.RandomState(args.seed + 1)",
        "rng = np.random.RandomState(1)",
        (),
        "rng.rand()",
    ),
    "no argument": Case(
        PLAIN,
        "import random\nrandom.seed(1)\nnp.random.seed(2)",
        "import random\nSEED = 1\nrandom.seed(SEED)\nnp.random.seed(SEED + 1)",
        "np.random.seed(2)",
        (),
    ),
    "torch": Case(
        TORCH,
        "torch.manual_seed(args.seed)\ntorch.manual_seed(0)",
        "torch.manual_seed(args.seed)\ntorch.Generator().manual_seed(0)",
        "torch.manual_seed(0)",
    ),
    "lightning": Case(
        LIGHTNING,
        "torch.manual_seed(args.seed)\nlightning.seed_everything(42)",
        "torch.manual_seed(args.seed)\nlightning.seed_everything(args.seed)",
        "lightning.seed_everything(42)",
        (),
    ),
    "data_seed": Case(TRAINER, "data_seed=11,", "data_seed=args.seed,", "    data_seed=11,"),
    "keras": Case(
        KERAS,
        "keras.utils.set_random_seed(args.seed)\nkeras.utils.set_random_seed(7)",
        "keras.utils.set_random_seed(args.seed)",
        "keras.utils.set_random_seed(7)",
    ),
    "jax": Case(JAX, "key = jax.random.key(0)", "", "key = jax.random.key(0)"),
    "mindspore": Case(
        MINDSPORE,
        "mindspore.set_seed(args.seed)\nmindspore.set_seed(1)",
        "mindspore.set_seed(args.seed)",
        "mindspore.set_seed(1)",
    ),
}


def run(path: Path, source: str, *arguments: str, name: str = "") -> Outcome:
    (path / "train.py").write_text(source)
    options = ["--must-differ", "seed"]
    # transformers looks at the compiler as it is imported
    environment = {} if name == "data_seed" else {"PYTHONPATH": UNCOMPILED}
    if name == "mindspore":
        options += ["--python", mindspore_python()]
        environment = {}
    return check(*options, "train.py", *arguments, cwd=path, **environment)


def line_of(source: str, text: str) -> int:
    return source.split("\n").index(text) + 1


@pytest.mark.parametrize("name", CASES)
def test_a_seed_without_effect_is_found_with_the_line_that_overrides_it(
    name: str, workdir: Path
) -> None:
    case = CASES[name]
    source = case.source(case.fault)
    outcome = run(workdir, source, *case.arguments, name=name)
    assert outcome.exit_code == 1, outcome.stdout
    assert outcome.stdout.startswith("SEED WITHOUT EFFECT"), outcome.stdout
    assert outcome.report["verdict"] == "seed_without_effect"
    line = {"file": "train.py", "line": line_of(source, case.overriding)}
    assert outcome.report["seed_effect"]["overridden_by"][0]["source"] == line
    assert outcome.report["lead"]["source"] == line


@pytest.mark.parametrize("name", CASES)
def test_a_seed_that_reaches_the_training_passes(name: str, workdir: Path) -> None:
    case = CASES[name]
    outcome = run(workdir, case.source(case.clean), *case.arguments, name=name)
    assert outcome.exit_code == 0, outcome.stdout
    assert outcome.report["seed_effect"]["differs"] is True
    assert outcome.report["seed_effect"]["overridden_by"] == []


def test_every_output_says_that_the_seed_has_no_effect(workdir: Path) -> None:
    case = CASES["seeded again"]
    outcome = run(workdir, case.source(case.fault), "--seed", "{seed}")
    assert outcome.exit_code == 1, outcome.stdout
    assert outcome.folder is not None
    assert outcome.report["headline"] == "SEED WITHOUT EFFECT"
    origin = outcome.report["seed_effect"]["origin"]
    assert (origin["kind"], origin["value"], origin["other"]) == ("placeholder", "1", "2")
    assert outcome.report["command"][-1] == "{seed}"
    schema = json.loads((ROOT / "reprocheck" / "report" / "report.schema.json").read_text())
    jsonschema.validate(outcome.report, schema)
    drawn = {
        name: reprocheck_here("report", "latest", "--format", name, cwd=workdir / "reports").stdout
        for name in ("md", "html", "junit")
    }
    assert all("SEED WITHOUT EFFECT" in drawn[name] for name in ("md", "html")), drawn["md"]
    assert "What another seed changed" in drawn["md"]
    cases = {
        one.get("name"): one for one in ElementTree.fromstring(drawn["junit"]).iter("testcase")
    }
    failure = cases["must differ: seed"].find("failure")
    assert failure is not None
    assert failure.get("type") == "seed_without_effect"
    assert cases["forward check"].find("failure") is None
    chinese = reprocheck_here("report", "latest", "--lang", "zh", cwd=workdir / "reports").stdout
    assert "种子无效" in chinese


UNDECIDED = {
    "runs differ": ("weight = np.random.rand()", "runs with one seed differ from iteration 1 on"),
    "no seed": ("weight = 1.0", "no call that seeds was seen"),
    "nothing drawn": ("np.random.seed(1)\nweight = 1.0", "nothing was seen to be drawn"),
    "drawn too late": ("np.random.seed(1)\nweight = 1.0", "the first draw is in iteration 4"),
}


@pytest.mark.parametrize("name", UNDECIDED)
def test_where_a_seed_cannot_show_the_check_is_inconclusive(name: str, workdir: Path) -> None:
    seeding, said = UNDECIDED[name]
    source = PLAIN.replace("SEEDING", seeding).replace("weight = DRAW", "")
    if name == "drawn too late":
        source += "np.random.rand()\n"
    outcome = run(workdir, source)
    assert outcome.exit_code == 3, outcome.stdout
    assert said in " ".join(outcome.stdout.split())


def test_a_script_that_fails_under_another_seed_has_failed(workdir: Path) -> None:
    source = PARSER + "assert args.seed == 42\n" + PLAIN
    outcome = run(workdir, source.replace("SEEDING", "").replace("DRAW", "1.0"))
    assert outcome.exit_code == 4, outcome.stdout
    assert "the run with another seed ended" in " ".join(outcome.stdout.lower().split())


def test_varied_runs_are_another_check(workdir: Path) -> None:
    outcome = check("--vary", "--must-differ", "seed", "train.py", cwd=workdir)
    assert outcome.exit_code == 2
    assert "needs runs that are not varied" in " ".join(outcome.stderr.split())
