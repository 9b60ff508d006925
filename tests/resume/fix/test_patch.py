"""The text of a script that saves and loads what it had lost."""

from __future__ import annotations

import difflib
import json
from collections.abc import Sequence

import numpy as np

from reprocheck.resume.fix.patch import Lost, patched
from reprocheck.resume.model import StateRungName

SCRIPT = """\
import os
import numpy as np
import torch
from torch.optim import Adam

optimizer = Adam(model.parameters())
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
if os.path.exists("last.pt"):
    saved = torch.load("last.pt")
    model.load_state_dict(saved["model"])
    step = saved["step"]  # é
while step < 8:
    train()
    state = {"model": model.state_dict(), "opt": optimizer.state_dict(), "step": step}
    torch.save(state, "last.pt")
"""
LINE = 15


def added(text: str, before: str = SCRIPT) -> list[str]:
    """The lines of a difference that are new."""
    rows = difflib.ndiff(before.splitlines(), text.splitlines())
    return [row[2:] for row in rows if row.startswith("+ ") and row[2:]]


def lost(*rungs: StateRungName, code: str = "", generators: Sequence[str] = ()) -> Lost:
    """What was lost of these rungs; a batch differs where that is one of them."""
    return Lost(rungs=rungs, codes=[code], generators=generators, other_data="batch" in rungs)


def test_what_is_saved_already_is_only_loaded() -> None:
    text = patched(SCRIPT, LINE, lost("optimizer state"))
    assert added(text) == ['    optimizer.load_state_dict(saved["opt"])']


def test_a_schedule_is_saved_and_loaded() -> None:
    text = patched(SCRIPT, LINE, lost("hyper-parameters"))
    assert added(text) == [
        '    optimizer.load_state_dict(saved["opt"])',
        '    scheduler.load_state_dict(saved["scheduler"])',
        '    state = {"model": model.state_dict(), "opt": optimizer.state_dict(), "step": step,'
        ' "scheduler": scheduler.state_dict()}',
    ]


def test_a_state_of_numpy_is_saved_as_lists_and_numbers_and_modules_keep_their_names() -> None:
    text = patched(SCRIPT, LINE, lost("RNG state", generators=["numpy", "python"]))
    state = "np.random.get_state()"
    plain = f"[{state}[0], {state}[1].tolist(), *{state}[2:]]"
    assert added(text) == [
        '    np.random.set_state(saved["numpy_rng"])',
        '    state = {"model": model.state_dict(), "opt": optimizer.state_dict(), "step": step,'
        f' "numpy_rng": {plain}}}',
    ]
    saved = SCRIPT.replace('"step": step', f'"np": {state}')
    assert added(patched(saved, LINE, lost("RNG state", generators=["numpy"])), saved) == [
        '    np.random.set_state(saved["np"])'
    ]


def test_what_is_saved_of_a_state_of_numpy_holds_no_objects_and_sets_it() -> None:
    text = patched(SCRIPT, LINE, lost("RNG state", generators=["numpy"]))
    plain = text.partition('"numpy_rng": ')[2].partition("}")[0]
    saved = json.dumps(eval(plain, {"np": np}))
    drawn = np.random.random(3).tolist()
    np.random.set_state(json.loads(saved))
    assert np.random.random(3).tolist() == drawn


def test_the_lines_of_a_dict_keep_their_indentation() -> None:
    script = SCRIPT.replace('"step": step}', '"step": step,\n    }').replace(
        '{"model"', '{\n        "model"'
    )
    text = patched(script, LINE + 2, lost("RNG state", generators=["torch"]))
    assert '"step": step,\n        "rng": torch.get_rng_state(),\n    }' in text.replace(
        '"opt": optimizer.state_dict(), ', ""
    )


def test_of_another_kind_of_script_nothing_is_said() -> None:
    optimizer = lost("optimizer state")
    assert not patched(SCRIPT, LINE - 1, optimizer)
    assert not patched(SCRIPT.replace("saved = ", ""), LINE, optimizer)
    assert not patched("def (", 1, optimizer)
    on_one_line = SCRIPT.replace(")\n    model.load", "); model.load")
    assert not patched(on_one_line, LINE - 1, lost("hyper-parameters"))
    loaded = SCRIPT + 'optimizer.load_state_dict(saved["opt"])\n'
    assert not patched(loaded, LINE, optimizer)


def test_of_a_module_all_is_saved_in_place_of_what_was_chosen() -> None:
    script = SCRIPT.replace("optimizer = A", "model = torch.nn.Linear(8, 1).cuda()\noptimizer = A")
    chosen = "{\n        k: v for k, v in model.state_dict().items() if k > 'w'\n    }"
    script = script.replace("model.state_dict()", chosen)
    text = patched(script, LINE + 3, lost("weights", code="RC119"))
    assert added(text, script) == [
        '    state = {"model": model.state_dict(), "opt": optimizer.state_dict(), "step": step}'
    ]


def test_a_second_module_is_saved_and_loaded() -> None:
    script = SCRIPT.replace(
        "optimizer = A",
        "class Head(torch.nn.Module):\n    pass\n\n\nhead = Head()\noptimizer = A",
    )
    text = patched(script, LINE + 5, lost("weights", code="RC119"))
    assert '    head.load_state_dict(saved["head"])' in added(text, script)
    assert '"head": head.state_dict()}' in text


FUNCTIONS = """\
import torch


def save(path, state):
    torch.save(state, path)


def load(path, model):
    \"\"\"Reads it.\"\"\"
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    return saved["step"]


def train(model, loader):
    for x in loader:
        if skips(x):
            continue
        model(x).backward()
        save("last.pt", {"model": model.state_dict(), "step": 1})


def main():
    loader = torch.utils.data.DataLoader(data, shuffle=True)
    train(model, loader)
"""


def test_functions_share_what_was_loaded_until_the_first_batch_that_is_due() -> None:
    asked = lost("RNG state", "batch", code="RC113", generators=["torch"])
    text = patched(FUNCTIONS, 5, asked)
    assert added(text, FUNCTIONS) == [
        "going_on = None",
        "    global going_on",
        "    going_on = saved",
        "    global going_on, rng_of_pass, batches",
        "    if going_on is not None:",
        '        torch.set_rng_state(going_on["rng_of_pass"])',
        "    rng_of_pass = torch.get_rng_state()",
        "    batches = 0",
        "        batches += 1",
        '        if going_on is not None and batches <= going_on["batches"]:',
        "            continue",
        "        if going_on is not None:",
        '            torch.set_rng_state(going_on["rng"])',
        "            going_on = None",
        '        save("last.pt", {"model": model.state_dict(), "step": 1,'
        ' "rng": torch.get_rng_state(), "rng_of_pass": rng_of_pass, "batches": batches})',
        "    going_on = None",
    ]
    compile(text, "train.py", "exec")


def test_what_was_put_back_too_early_is_put_back_again_in_front_of_the_loop() -> None:
    at_end = FUNCTIONS.replace("        save(", "    save(")
    text = patched(at_end, 5, lost("RNG state", code="RC110", generators=["torch"]))
    assert added(text, at_end)[3:7] == [
        "    global going_on",
        "    if going_on is not None:",
        '        torch.set_rng_state(going_on["rng"])',
        "        going_on = None",
    ]


def test_a_state_that_may_lie_on_a_device_is_put_back_from_the_host() -> None:
    script = SCRIPT.replace('load("last.pt")', 'load("last.pt", map_location=device)')
    text = patched(script, LINE, lost("RNG state", generators=["torch"]))
    assert '    torch.set_rng_state(saved["rng"].cpu())' in added(text, script)


def test_the_order_is_put_back_with_what_makes_it() -> None:
    script = (
        SCRIPT.replace("optimizer = A", "g = torch.Generator().manual_seed(0)\noptimizer = A")
        + "class Order:\n    def __iter__(self):\n        self.epoch += 1\n\n\norder = Order()\n"
    )
    text = patched(script, LINE + 1, lost("batch", code="RC107"))
    assert added(text, script)[:2] == [
        '    g.set_state(saved["g"])',
        '    order.epoch = saved["order_epoch"]',
    ]


def test_a_generator_of_another_function_is_not_put_back() -> None:
    made = "g = torch.Generator()"
    inner = SCRIPT + f"def order():\n    {made}\n    return g\n"
    assert not patched(inner, LINE, lost("batch", code="RC107"))
    rows = "".join(f"    {row}\n" for row in [made, *SCRIPT.splitlines()[5:]])
    function = "\n".join([*SCRIPT.splitlines()[:5], "def main():", rows])
    text = patched(function, LINE + 2, lost("batch", code="RC107"))
    assert '        g.set_state(saved["g"])' in added(text, function)


def test_where_a_checkpoint_is_saved_in_the_loop_and_outside_nothing_is_put_into_the_loop() -> None:
    both = FUNCTIONS + '    save("last.pt", {})\n'
    assert not patched(both, 5, lost("batch", code="RC113"))


METHODS = """\
import torch


class Trainer:
    def save(self, state):
        torch.save(state, "last.pt")

    def load(self):
        saved = torch.load("last.pt")
        self.model.load_state_dict(saved["model"])

    def fit(self):
        for x in torch.utils.data.DataLoader(self.data, shuffle=True):
            self.model(x).backward()
            self.save({"model": self.model.state_dict()})
"""


def test_methods_are_functions_as_well() -> None:
    text = patched(METHODS, 6, lost("batch", code="RC108"))
    assert added(text, METHODS) == [
        "going_on = None",
        "        global going_on",
        "        going_on = saved",
        "        global going_on, rng_of_pass",
        "        if going_on is not None:",
        '            torch.set_rng_state(going_on["rng_of_pass"])',
        "        rng_of_pass = torch.get_rng_state()",
        "            if going_on is not None:",
        '                torch.set_rng_state(going_on["rng"])',
        "                going_on = None",
        '            self.save({"model": self.model.state_dict(),'
        ' "rng": torch.get_rng_state(), "rng_of_pass": rng_of_pass})',
        "        going_on = None",
    ]
    compile(text, "train.py", "exec")
