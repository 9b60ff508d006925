"""A forward pass that ran inside a compiled function, so that nothing of it was recorded, and what
lets it be seen.
"""

from __future__ import annotations

from reprocheck.ladder.pair import Pair

_FUNCTION = "tf.function"
"""What the recorder names as the place of what it could not record inside a function that
TensorFlow compiled.
"""
_TRAINER = ("fit", "train_on_batch")
"""Batches of Keras' own training loop, which compiles its step."""
_OF_TRAINER = "`compile(run_eagerly=True)`"
_OF_FUNCTION = "`tf.config.run_functions_eagerly(True)`"


def shown_by(pair: Pair) -> str:
    """What shows the forward pass that a compiled function hides; "" where none does, or something
    of it was recorded.
    """
    hidden = any(where == _FUNCTION for where, _ in pair.first.unrecorded)
    if not hidden or "forward" in pair.recorded:
        return ""
    batches = {step.seen.place for step in pair.of_kind("batch")}
    if batches.isdisjoint(_TRAINER):
        return _OF_FUNCTION
    return _OF_TRAINER
