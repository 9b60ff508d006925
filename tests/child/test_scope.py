"""The names that a script has for things."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any

from reprocheck.child.reprocheck_child.deep_levels import scope


def test_the_variables_that_loops_fill_are_known() -> None:
    def script(layers: list[Any], pairs: list[Any], use: Callable[..., None]) -> FrameType:
        for layer in layers:
            use(layer)
        for left, right in pairs:
            use(left, right)
        return sys._getframe()

    frame = script([1], [(2, 3)], lambda *given: None)
    assert scope.loop_variables(frame) == {"layer", "left", "right"}


def test_what_a_loop_only_reads_is_none_of_its_variables() -> None:
    def script(layers: list[Any], wrap: Callable[[Any], Any]) -> FrameType:
        # on one line Python 3.13 stores `layer` and reads `wrap` with the same instruction
        layers = [wrap(layer) for layer in layers]
        return sys._getframe()

    assert scope.loop_variables(script([1], id)).isdisjoint({"wrap", "layers"})
