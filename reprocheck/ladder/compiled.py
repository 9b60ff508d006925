"""A forward pass that ran inside a compiled function, so that nothing of it was recorded, and the
option that shows it.
"""

from __future__ import annotations

from reprocheck.ladder.pair import Pair


def shown_by(pair: Pair) -> str:
    """Return the option that shows a forward pass hidden in a compiled function; "" if nothing is
    hidden.
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
