"""The sentences on mirrors: what should differ inside one run and is the same."""

from __future__ import annotations

from collections.abc import Mapping

from reprocheck.language import count, shortlist
from reprocheck.model.mirrors import Mirror, MirrorKind
from reprocheck.wording.say import say

_SENTENCES: Mapping[MirrorKind, str] = {
    "worker-draws": "Workers {between} of a loader draw the same random numbers ({number}), so"
    " their samples have the same augmentation",
    "worker-samples": "Workers {between} of a loader hand out the same samples ({number})",
    "epoch-order": "Epochs {between} have the same order of samples ({number}) although it is"
    " shuffled",
    "epoch-draws": "Epochs {between} draw the same random numbers for their samples ({number}), so"
    " the augmentation repeats",
    "rank-samples": "Ranks {between} train on the same samples ({number})",
    "rank-noise": "Ranks {between} draw the same noise for different inputs ({number})",
    "shard-noise": "Ranks {between} hold parts of one model and draw the same noise for different"
    " parts ({number})",
    "replicas": "Ranks {between} hold one model and should agree, and do not ({number})",
    "step-noise": "Iterations {between} draw the same noise ({number})",
    "device-keys": "Devices, or elements of a vmap, {between} are given the same key ({number})",
}
_QUESTION = "Is it meant? {sentence}"
_UNITS: Mapping[MirrorKind, tuple[str, str]] = {
    "worker-draws": ("task", "tasks"),
    "worker-samples": ("batch", "batches"),
    "epoch-order": ("sample", "samples"),
    "epoch-draws": ("task", "tasks"),
    "rank-samples": ("batch", "batches"),
    "rank-noise": ("draw", "draws"),
    "shard-noise": ("draw", "draws"),
    "replicas": ("case", "cases"),
    "step-noise": ("draw", "draws"),
    "device-keys": ("call", "calls"),
}
"""What was counted, one and several."""


@say.register
def mirror(found: Mirror) -> str:
    """Say what is the same although it should differ, where, and from which generator."""
    between = shortlist([str(number) for number in found.between])
    number = count(found.count, *_UNITS[found.kind])
    sentence = _SENTENCES[found.kind].format(between=between, number=number)
    if found.generator:
        sentence += f", from the generator {found.generator}"
    where = ", ".join(filter(None, (found.place, found.line)))
    if where:
        sentence += f": {where}"
    if found.asked:
        return _QUESTION.format(sentence=f"{sentence}.")
    return f"{sentence}."
