"""`reprocheck explain --resume` on trainings with PyTorch: the rung, the mechanism, the line, and
what confirms it.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from reprocheck.cli import main
from tests.heads import NO_COMPILER

SCRIPTS = Path(__file__).resolve().parents[2] / "benchmarks" / "resumes" / "scripts" / "torch"
OPTIONS = ["--no-draw", "--at", "first", "--go-on", "3", "train.py"]

LOADED = '    optimizer.load_state_dict(saved["optimizer"])\n'
PUT_BACK = '    torch.set_rng_state(saved["rng"])'


def place(folder: Path) -> dict[str, Any]:
    """The only place of the last check."""
    (found,) = json.loads((folder / "reports" / "latest" / "report.json").read_text())["places"]
    return dict(found)


@pytest.mark.torch
def test_two_mechanisms_are_found_and_confirmed_by_putting_back_what_was_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    script = NO_COMPILER + (SCRIPTS / "rng_consumed.py").read_text()
    Path("train.py").write_text(script.replace(LOADED, ""))
    code = main(["explain", "--resume", *OPTIONS])
    said = " ".join(capsys.readouterr().out.split())
    assert code == 1 and "DOES NOT RESUME EXACTLY" in said
    assert "is one 64-bit draw ahead, and `1` (Dropout) draws from it" in said
    found = place(tmp_path)
    statuses = {rung["name"]: rung["status"] for rung in found["rungs"]}
    for name in ("weights", "hyper-parameters", "batch"):
        assert statuses[name] == "equal"
    confirmation = found["confirmation"]
    assert confirmation["rungs"] == ["optimizer state", "RNG state"]
    assert "the state of the optimizer and the states of the generators" in said
    assert "cause RC118" in said and "cause RC109" in said
    lost, drawn = confirmation["mechanisms"]
    assert (lost["code"], drawn["code"]) == ("RC118", "RC109")
    line = script.replace(LOADED, "").splitlines().index(PUT_BACK) + 1
    assert drawn["source"].startswith(f"train.py:{line}")
    tried = {tuple(one["rungs"]): one for one in confirmation["attempts"]}
    assert len(tried) == 3 and tried["optimizer state", "RNG state"]["agrees"] is True
    assert tried["optimizer state",]["agrees"] is False
    assert "torch" in tried["RNG state",]["names"]["RNG state"]
    assert not Path("reports/latest/values").exists()
    patch = found["patch"]
    assert "+    optimizer.load_state_dict" in patch["patch"]
    assert '+            torch.set_rng_state(going_on["rng"])' in patch["patch"]
    assert patch["sentence"] == "With the patch, the training resumes exactly."
    assert LOADED not in Path("train.py").read_text()


def confirmed(text: str) -> dict[str, list[str]]:
    """Explains the resume of a script; what had another value in the run that confirms it.

    No patch is tried: that takes two more runs.
    """
    Path("train.py").write_text(NO_COMPILER + text)
    with mock.patch("reprocheck.resume.check.proposed", return_value={}):
        assert main(["explain", "--resume", *OPTIONS]) == 1
    confirmation = place(Path())["confirmation"]
    assert confirmation["confirmed"], confirmation["sentence"]
    last = confirmation["attempts"][-1]
    assert last["rungs"] == confirmation["rungs"] and last["agrees"] is True
    return {rung: list(names) for rung, names in last["names"].items()}


@pytest.mark.torch
def test_a_generator_of_the_scripts_own_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = confirmed((SCRIPTS / "own_generator.py").read_text())
    assert list(names) == ["RNG state"]
    assert "data.rng (numpy.random.Generator)" in names["RNG state"]


@pytest.mark.torch
def test_an_average_of_the_scripts_own_is_put_back_with_its_count_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = confirmed((SCRIPTS / "shadow_not_saved.py").read_text())
    weights = ["0.weight", "0.bias", "2.weight", "2.bias"]
    assert names == {
        "weights": [f"average.shadow[{name!r}]" for name in weights],
        "hyper-parameters": ["average.updates"],
    }


ATTRIBUTE = """
import os
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(4, 1)
        self.mean, self.calls = torch.zeros(()), 0

    def forward(self, x):
        self.calls += 1
        self.mean.lerp_(x.mean(), 1 / self.calls)
        return self.body(x) + self.mean

torch.manual_seed(0)
x = torch.randn(48, 4)
net = Net()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
first = 0
if os.path.exists("last.pt"):
    saved = torch.load("last.pt")
    net.load_state_dict(saved["net"])
    first = saved["step"]
for step in range(first, 12):
    loss = net(x[step * 4 : step * 4 + 4]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 3:
        torch.save({"net": net.state_dict(), "step": step + 1}, "last.pt")
"""


@pytest.mark.torch
def test_what_a_module_keeps_beside_its_weights_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert confirmed(ATTRIBUTE) == {"weights": ["mean", "calls"]}
    assert "register_buffer" in place(tmp_path)["mechanism"]["fix"]


AVERAGED = """
import os
import torch
from torch.optim.swa_utils import AveragedModel

torch.manual_seed(0)
x = torch.randn(48, 4)
net = torch.nn.Linear(4, 1)
ema = AveragedModel(net)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
first = 0
if os.path.exists("last.pt"):
    saved = torch.load("last.pt")
    net.load_state_dict(saved["net"])
    first = saved["step"]
for step in range(first, 12):
    loss = net(x[step * 4 : step * 4 + 4]).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update_parameters(net)
    if step == 3:
        torch.save({"net": net.state_dict(), "step": step + 1}, "last.pt")
"""


@pytest.mark.torch
def test_an_averaged_model_that_no_step_calls_is_put_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names = confirmed(AVERAGED)
    assert set(names["hyper-parameters"]) == {
        "ema.n_averaged",
        "ema.module.weight",
        "ema.module.bias",
    }
    assert 'saved["ema"] = ema.state_dict()' in place(tmp_path)["mechanism"]["fix"]


@pytest.mark.torch
@pytest.mark.parametrize(("script", "code"), [("", "RC114"), ("_right", None)])
def test_an_offset_of_a_whole_epoch_is_told_where_each_epoch_has_the_same_order(
    script: str, code: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (SCRIPTS / f"all_passed_over_in_order{script}.py").read_text()
    Path("train.py").write_text(NO_COMPILER + text)
    assert main(["explain", "--resume", *OPTIONS]) == (1 if code else 0)
    found = place(tmp_path)
    if code is None:
        assert found["verdict"] == "resumes_exactly"
        return
    assert found["mechanism"]["code"] == code
    assert "makes no iteration" in found["confirmation"]["sentence"]
