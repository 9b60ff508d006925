"""The text of a script that saves and loads what it had lost."""

from __future__ import annotations

import difflib
import json
from collections.abc import Mapping, Sequence

import numpy as np

from reprocheck.resume.checkpoint_contents import Archive, Frame
from reprocheck.resume.fix.patch import Lost, patched as patched_files

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
NAMES = {"module ": "model", "optimizer 0": "optimizer", "StepLR[0]": "scheduler"}
"""How the script reaches the parts of its training."""


def frames(text: str, *calls: str, names: Mapping[str, str] = NAMES) -> tuple[Frame, ...]:
    """The functions under way at the first line that has each of these calls."""
    rows = text.splitlines()
    lines = [next(n for n, row in enumerate(rows, 1) if call in row) for call in calls]
    return tuple(Frame(line=f"train.py:{line}", names=names) for line in lines)


def patched(
    text: str,
    lost: Lost,
    *,
    saving: Sequence[str] = ("torch.save(",),
    reading: Sequence[str] = ("torch.load(",),
    training: Sequence[str] = (),
    names: Mapping[str, str] = NAMES,
) -> str:
    """The script with a patch; "" where there is none."""
    archive = Archive(
        saving=frames(text, *saving, names=names),
        reading=frames(text, *reading, names=names),
        training=frames(text, *training, names=names),
    )
    return patched_files({"train.py": text}, archive, lost).get("train.py", "")


def added(text: str, before: str = SCRIPT) -> list[str]:
    """The lines of a difference that are new."""
    rows = difflib.ndiff(before.splitlines(), text.splitlines())
    return [row[2:] for row in rows if row.startswith("+ ") and row[2:]]


def lost(
    *parts: str, code: str = "", generators: Sequence[str] = (), data: bool = False, **held: str
) -> Lost:
    """What was lost: parts that the file does not hold, and those that it holds under a key."""
    keys = {part.replace("_", " "): key for part, key in held.items()}
    return Lost(
        parts={**dict.fromkeys(parts, ""), **keys},
        codes=[code],
        generators=generators,
        other_data=data,
    )


OPTIMIZER, SCHEDULER = "optimizer 0", "StepLR[0]"


def test_what_is_saved_already_is_only_loaded() -> None:
    text = patched(SCRIPT, lost(optimizer_0="['opt']"))
    assert added(text) == ['    optimizer.load_state_dict(saved["opt"])']


def test_a_schedule_is_saved_and_loaded() -> None:
    text = patched(SCRIPT, lost(SCHEDULER))
    assert added(text) == [
        '    scheduler.load_state_dict(saved["scheduler"])',
        '    state = {"model": model.state_dict(), "opt": optimizer.state_dict(), "step": step,'
        ' "scheduler": scheduler.state_dict()}',
    ]


def test_a_state_of_numpy_is_saved_as_lists_and_numbers_and_modules_keep_their_names() -> None:
    text = patched(SCRIPT, lost(generators=["numpy", "python"]))
    state = "np.random.get_state()"
    plain = f"[{state}[0], {state}[1].tolist(), *{state}[2:]]"
    assert added(text) == [
        '    np.random.set_state(saved["numpy_rng"])',
        '    state = {"model": model.state_dict(), "opt": optimizer.state_dict(), "step": step,'
        f' "numpy_rng": {plain}}}',
    ]
    saved = SCRIPT.replace('"step": step', f'"np": {state}')
    assert added(patched(saved, lost(generators=["numpy"])), saved) == [
        '    np.random.set_state(saved["np"])'
    ]


def test_what_is_saved_of_a_state_of_numpy_holds_no_objects_and_sets_it() -> None:
    text = patched(SCRIPT, lost(generators=["numpy"]))
    plain = text.partition('"numpy_rng": ')[2].partition("}")[0]
    saved = json.dumps(eval(plain, {"np": np}))
    drawn = np.random.random(3).tolist()
    np.random.set_state(json.loads(saved))
    assert np.random.random(3).tolist() == drawn


def test_the_lines_of_a_dict_keep_their_indentation() -> None:
    script = SCRIPT.replace('"step": step}', '"step": step,\n    }').replace(
        '{"model"', '{\n        "model"'
    )
    text = patched(script, lost(generators=["torch"]))
    assert '"step": step,\n        "rng": torch.get_rng_state(),\n    }' in text.replace(
        '"opt": optimizer.state_dict(), ', ""
    )


def test_of_another_kind_of_script_nothing_is_said() -> None:
    optimizer = lost(OPTIMIZER)
    assert not patched(SCRIPT, optimizer, saving=["train()"])
    assert not patched(SCRIPT.replace("saved = ", ""), optimizer)
    assert not patched_files({"train.py": "def ("}, Archive(), optimizer)
    on_one_line = SCRIPT.replace(")\n    model.load", "); model.load")
    assert not patched(on_one_line, lost(SCHEDULER))


def test_a_part_is_saved_under_the_key_that_is_asked_for() -> None:
    script = SCRIPT.replace(
        '    step = saved["step"]', '    optimizer.load_state_dict(saved["optim"])\n    step = 1'
    )
    held = patched(script, lost(optimizer_0="['opt']"))
    assert '"optim": optimizer.state_dict(), "step"' in held and '"opt"' not in held
    none = script.replace('"opt": optimizer.state_dict(), ', "")
    assert '"step": step, "optim": optimizer.state_dict()}' in patched(none, lost(OPTIMIZER))


def test_a_part_that_is_built_later_is_put_back_where_the_loop_begins() -> None:
    script = SCRIPT.replace("train()", "train(model).backward()")
    archive = Archive(
        saving=frames(script, "torch.save("),
        reading=frames(script, "torch.load(", names={"module ": "model"}),
        training=frames(script, "train("),
    )
    text = patched_files({"train.py": script}, archive, lost(optimizer_0="['opt']"))["train.py"]
    assert added(text, script) == [
        "going_on = None",
        "    going_on = saved",
        "if going_on is not None:",
        '    optimizer.load_state_dict(going_on["opt"])',
        "    going_on = None",
    ]


def test_a_dict_that_another_file_hands_over_is_the_one_that_is_changed() -> None:
    io = "import torch\n\n\ndef save(state, path):\n    torch.save(state, path)\n"
    main = (
        "import torch\nfrom io_ import save\n\nsaved = torch.load('last.pt')\n"
        'save({"model": model.state_dict()}, "last.pt")\n'
    )
    archive = Archive(
        saving=(Frame(line="io_.py:5"), Frame(line="train.py:5", names=NAMES)),
        reading=(Frame(line="train.py:4", names=NAMES),),
    )
    found = patched_files({"io_.py": io, "train.py": main}, archive, lost(OPTIMIZER))
    assert added(found["train.py"], main) == [
        'optimizer.load_state_dict(saved["optimizer"])',
        'save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, "last.pt")',
    ]
    assert list(found) == ["train.py"]


def test_batches_that_are_taken_by_next_are_passed_over() -> None:
    script = SCRIPT.replace(
        "while step < 8:\n    train()", "for n in range(step, 8):\n    b = next(it)"
    )
    text = patched(script, lost(code="RC113", data=True), training=["next(it)"])
    assert added(text, script) == ["for _ in range(step):", "    next(it)"]


PASSES_OVER = """\
import torch
saved = torch.load("last.pt")
model.load_state_dict(saved["model"])
step = target = saved["step"]
for number, x in enumerate(loader):
    if target is not None:
        if number < target - 1:
            continue
        target = None
    model(x).backward()
    step += 1
    torch.save({"model": model.state_dict(), "step": step}, "last.pt")
"""


def test_of_a_script_that_has_a_position_of_its_own_none_is_added() -> None:
    asked = lost(code="RC113", data=True)
    assert patched(PASSES_OVER, asked) == ""
    plain = PASSES_OVER.replace("if target is not None:", "if skips(x):")
    assert "batches" in patched(plain, asked)
    load = 'model.load_state_dict(saved["model"])'
    stateful = plain.replace(load, f'{load}\nloader.load_state_dict(saved["loader"])')
    assert patched(stateful, asked) == ""


def test_of_a_module_all_is_saved_in_place_of_what_was_chosen() -> None:
    chosen = "{\n        k: v for k, v in model.state_dict().items() if k > 'w'\n    }"
    script = SCRIPT.replace("model.state_dict()", chosen)
    text = patched(script, lost("module "))
    assert '"model": model.state_dict(), "opt"' in text


def test_a_second_module_is_saved_and_loaded() -> None:
    text = patched(SCRIPT, lost("module head"), names={**NAMES, "module head": "head"})
    assert '    head.load_state_dict(saved["head"])' in added(text)
    assert '"head": head.state_dict()}' in text


def test_what_an_object_of_the_script_holds_is_saved_and_loaded() -> None:
    script = SCRIPT.replace("optimizer = A", "average = Average()\noptimizer = A")
    text = patched(script, lost("average.shadow", "average.updates"))
    assert added(text, script)[:2] == [
        '    average.shadow = saved["shadow"]',
        '    average.updates = saved["updates"]',
    ]


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
    asked = lost(code="RC113", generators=["torch"], data=True)
    text = patched(FUNCTIONS, asked, saving=["torch.save(", 'save("last'])
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
    asked = lost(code="RC110", generators=["torch"])
    text = patched(at_end, asked, saving=["torch.save(", 'save("last'], training=["backward()"])
    assert added(text, at_end)[3:7] == [
        "    global going_on",
        "    if going_on is not None:",
        '        torch.set_rng_state(going_on["rng"])',
        "        going_on = None",
    ]


def test_a_state_that_may_lie_on_a_device_is_put_back_from_the_host() -> None:
    script = SCRIPT.replace('load("last.pt")', 'load("last.pt", map_location=device)')
    text = patched(script, lost(generators=["torch"]))
    assert '    torch.set_rng_state(saved["rng"].cpu())' in added(text, script)


def test_the_order_is_put_back_with_what_makes_it() -> None:
    script = (
        SCRIPT.replace("optimizer = A", "g = torch.Generator().manual_seed(0)\noptimizer = A")
        + "class Order:\n    def __iter__(self):\n        self.epoch += 1\n\n\norder = Order()\n"
    )
    text = patched(script, lost(code="RC107", data=True))
    assert added(text, script)[:2] == [
        '    g.set_state(saved["g"])',
        '    order.epoch = saved["order_epoch"]',
    ]


def test_a_generator_of_another_function_is_not_put_back() -> None:
    made = "g = torch.Generator()"
    inner = SCRIPT + f"def order():\n    {made}\n    return g\n"
    assert not patched(inner, lost(code="RC107", data=True))
    rows = "".join(f"    {row}\n" for row in [made, *SCRIPT.splitlines()[5:]])
    function = "\n".join([*SCRIPT.splitlines()[:5], "def main():", rows])
    text = patched(function, lost(code="RC107", data=True))
    assert '        g.set_state(saved["g"])' in added(text, function)


def test_where_a_checkpoint_is_saved_in_the_loop_and_outside_nothing_is_put_into_the_loop() -> None:
    both = FUNCTIONS + '    save("last.pt", {})\n'
    asked = lost(code="RC113", data=True)
    assert not patched(both, asked, saving=["torch.save(", 'save("last'])


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
    asked = lost(code="RC108", data=True)
    text = patched(METHODS, asked, saving=["torch.save(", "self.save("])
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
