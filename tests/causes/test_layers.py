"""The line that makes an unseeded layer, where the scan has none: it takes a seed of the CPU for
one of the device.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.causes.cause import causes_of
from reprocheck.causes.layers import made_at
from reprocheck.model import Cause
from reprocheck.model.statements.causes import OnlyLine
from tests.causes.cause_ladders import check, ladder, write

FACTS = {
    "generators": ["npu:0"],
    "states_known": True,
    "class_": "Dropout",
}


def unseeded(text: str) -> Cause:
    write(text)
    made = check(ladder("RNG state", **FACTS))
    return made_at(replace(made, causes=causes_of(made, ".")), Path())[0]


@pytest.fixture(autouse=True)
def _workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        "from torch import nn\nmodel = nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.3), nn.Dropout(0.5)).npu()\n",
        "from torch.nn import Dropout as Drop\nlayer = Drop(0.3)\n",
    ],
)
def test_an_unseeded_layer_is_blamed_where_it_is_made(text: str) -> None:
    cause = unseeded(text)
    assert cause.code == "RC401" and cause.source is not None
    assert (cause.source.line, cause.source.text) == (2, text.splitlines()[1])
    assert cause.statements[-1] == OnlyLine(source="train.py:2", kind="Dropout")


@pytest.mark.parametrize(
    "text", ["", "from torch import nn\na = nn.Dropout(0.3)\nb = nn.Dropout(0.5)\n"]
)
def test_of_two_lines_none_is_blamed(text: str) -> None:
    assert unseeded(text).source is None
