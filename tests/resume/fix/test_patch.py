"""The text of a script that saves and loads what it had lost."""

from __future__ import annotations

import difflib

from reprocheck.resume.fix.patch import patched

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


def added(text: str) -> list[str]:
    """The lines of a difference that are new."""
    rows = difflib.ndiff(SCRIPT.splitlines(), text.splitlines())
    return [row[2:] for row in rows if row.startswith("+ ")]


def test_what_is_saved_already_is_only_loaded() -> None:
    text = patched(SCRIPT, LINE, ["optimizer state"], [])
    assert added(text) == ['    optimizer.load_state_dict(saved["opt"])']


def test_a_schedule_is_saved_and_loaded() -> None:
    text = patched(SCRIPT, LINE, ["hyper-parameters"], [])
    assert added(text) == [
        '    optimizer.load_state_dict(saved["opt"])',
        '    scheduler.load_state_dict(saved["scheduler"])',
        '    state = {"model": model.state_dict(), "opt": optimizer.state_dict(), "step": step,'
        ' "scheduler": scheduler.state_dict()}',
    ]


def test_a_state_of_numpy_is_read_as_an_object_and_modules_keep_their_names() -> None:
    text = patched(SCRIPT, LINE, ["RNG state"], ["numpy", "python"])
    assert added(text) == [
        '    saved = torch.load("last.pt", weights_only=False)',
        '    np.random.set_state(saved["numpy_rng"])',
        '    state = {"model": model.state_dict(), "opt": optimizer.state_dict(), "step": step,'
        ' "numpy_rng": np.random.get_state()}',
    ]


def test_the_lines_of_a_dict_keep_their_indentation() -> None:
    script = SCRIPT.replace('"step": step}', '"step": step,\n    }').replace(
        '{"model"', '{\n        "model"'
    )
    text = patched(script, LINE + 2, ["RNG state"], ["torch"])
    assert '"step": step,\n        "rng": torch.get_rng_state(),\n    }' in text.replace(
        '"opt": optimizer.state_dict(), ', ""
    )


def test_of_another_kind_of_script_nothing_is_said() -> None:
    assert not patched(SCRIPT, LINE - 1, ["optimizer state"], [])
    assert not patched(SCRIPT.replace("saved = ", ""), LINE, ["optimizer state"], [])
    assert not patched("def (", 1, ["optimizer state"], [])
    loaded = SCRIPT + 'optimizer.load_state_dict(saved["opt"])\n'
    assert not patched(loaded, LINE, ["optimizer state"], [])
