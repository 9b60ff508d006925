"""A forward pass that ran inside a compiled function, so that nothing of it was recorded, and what
lets it be seen.
"""

from __future__ import annotations

from reprocheck.ladder.pair import Pair


def shown_by(pair: Pair) -> str:
    """Return what shows the forward pass that a compiled function hides; "" where none does, or
    something of it was recorded.
    """
    # what the recorder names as the place of what it could not record inside a function that
    # TensorFlow compiled
    hidden = any(where == "tf.function" for where, _ in pair.first.unrecorded)
    if not hidden or "forward" in pair.recorded:
        return ""
    batches = {step.seen.place for step in pair.of_kind("batch")}
    if batches.isdisjoint(("fit", "train_on_batch")):
        return "`tf.config.run_functions_eagerly(True)`"
    return "`compile(run_eagerly=True)`"
