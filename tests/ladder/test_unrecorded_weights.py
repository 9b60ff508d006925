"""What was not recorded: weights that nobody saw, and what a process did after its recording had
ended. Neither is said to agree.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.child.reprocheck_child.deep_levels.facts import Deep
from reprocheck.child.reprocheck_child.recorder.writer import Writer
from tests.ladder.ladder_traces import (
    HASHES,
    Event,
    call,
    climb,
    generators,
    loss,
    out,
    seen,
    statuses,
    tensor,
    training,
    update,
    words,
)

EMPTY = {"h": "99aa06d3014798d86001c324468d497f", "d": "float32", "s": [0]}
"""What is read of a variable that has no value yet."""


def lazily_built(run: str, *, first: list[Event], found: bool = False) -> list[Event]:
    """An update of a weight that a compiled function makes; nothing is seeded, and the first loss
    differs.
    """
    state = {"python": "p" + run}
    return [
        HASHES,
        *([seen("found", "python", g=state)] if found else []),
        {"e": "optimizer", "o": 0, "class": "SGD"},
        generators("first forward", **state),
        *first,
        seen("batch", "fit", out=[["0", tensor("x")]]),
        out("root", "loss", "loss" + run),
        loss(1.0 if run == "a" else 2.0),
        out("reduced", "dense.kernel", "d" + run, o=0),
        out("update", "dense.kernel", "w" + run, o=0),
        update(1),
    ]


def test_weights_that_were_empty_when_they_were_looked_at_are_not_recorded(tmp_path: Path) -> None:
    first = [seen("weights", "dense.kernel", out=[["", EMPTY]])]
    ladder = climb(tmp_path, lazily_built("a", first=first), lazily_built("b", first=first))
    weights = ladder.rung("initial weights")
    assert weights.status == "not_recorded"
    said = "The first values of dense.kernel were not recorded: they could not be read before the first update."
    assert words(weights.detail) == said


def test_generators_that_unseen_weights_may_have_been_drawn_from_are_not_said_to_be_unused(
    tmp_path: Path,
) -> None:
    ladder = climb(tmp_path, lazily_built("a", first=[]), lazily_built("b", first=[]))
    rung = ladder.rung("RNG state")
    assert (rung.status, ladder.first) == ("not_recorded", "loss")
    assert "whether the first weights were drawn from them was not recorded" in rung.detail
    assert words(ladder.sentence) == (
        "In iteration 1 batches agree and the loss differs: the difference is made by something between the start and the loss "
        "that was not recorded, such as the first weights."
    )


def test_where_only_the_loss_was_recorded_nothing_is_said_to_agree(tmp_path: Path) -> None:
    ladder = climb(tmp_path, [loss(1.0)], [loss(2.0)])
    assert ladder.first == "loss"
    assert words(ladder.sentence) == (
        "In iteration 1 the loss differs, and nothing recorded before it shows why: the difference is made by something "
        "between the start and the loss that was not recorded."
    )


def test_generators_that_stand_where_they_were_found_made_no_weight(tmp_path: Path) -> None:
    ladder = climb(
        tmp_path, lazily_built("a", first=[], found=True), lazily_built("b", first=[], found=True)
    )
    assert ladder.rung("RNG state").status == "equal"
    assert ladder.rung("initial weights").status == "not_recorded"


def test_some_weights_that_were_not_seen_are_named(tmp_path: Path) -> None:
    first = [out("weights", "other.kernel", "equal")]
    ladder = climb(tmp_path, lazily_built("a", first=first), lazily_built("b", first=first))
    weights = ladder.rung("initial weights")
    assert weights.status == "not_recorded"
    assert words(weights.detail).startswith("The first values of dense.kernel were not recorded")
    assert weights.detail.endswith("Those of the other weights agree.")


def goes_on(*steps: tuple[str, int]) -> list[Event]:
    """Facts of steps that a process made after its two recorded iterations: their kinds, each with
    the number of its call.
    """
    leaves = {"hyper": [["lr", {"v": 0.5}]], "batch": [["0", tensor("x")]]}
    facts = [seen(kind, "unrecorded", 3, c=call, out=leaves[kind]) for kind, call in steps]
    return [{"e": "enough", "i": 2}, *facts, {"e": "stop", "i": 2}]


def test_what_a_process_did_after_its_recording_had_ended_is_not_compared(tmp_path: Path) -> None:
    one = [*training(), *goes_on(("hyper", 30), ("batch", 31), ("hyper", 31))]
    other = [*training(target="other"), *goes_on(("batch", 46), ("hyper", 46))]
    ladder = climb(tmp_path, one, other)
    assert ladder.first == "loss"
    assert statuses(ladder)["hyper-parameters"] == "equal"


def test_an_update_that_only_one_run_makes_is_said_as_that(tmp_path: Path) -> None:
    another = seen("hyper", "SGD[1]", 1, o=1, out=[["lr", {"v": 0.5}]])
    events = training()
    place = next(number for number, event in enumerate(events) if event.get("r") == "hyper")
    ladder = climb(tmp_path, [*events[:place], another, *events[place:]], events)
    rung = ladder.rung("hyper-parameters")
    assert (rung.status, rung.another_path) == ("differs", True)
    assert (
        words(rung.detail)
        == "In iteration 1 run 1 has an update by SGD[1], which run 2 does not: the control flow differs."
    )


class Recorder(Writer):
    """A recorder that keeps its lines."""

    workdir = ""
    begin = 1
    boundaries = None

    def __init__(self) -> None:
        super().__init__({})
        self.on_fork: list[object] = []
        self.on_end: list[object] = []
        self.written: list[str] = []

    def _write(self, line: str) -> None:
        self.written.append(line)


def test_what_was_gathered_after_enough_was_recorded_is_not_written() -> None:
    recorder = Recorder()
    deep = Deep(recorder)
    deep.seen("hyper", "recorded")
    recorder.emit({"e": "enough", "i": 2})
    recorder._muted = True
    deep.seen("hyper", "unrecorded")
    recorder._unmute()
    recorder.emit({"e": "stop", "i": 2})
    text = "".join(recorder.written)
    assert '"recorded"' in text
    assert '"unrecorded"' not in text
    assert '"stop"' in text


def compiled(run: str, place: str, *forward: Event) -> list[Event]:
    """An iteration whose step TensorFlow compiled: a layer that draws is known by its generator
    alone.
    """
    drawn = seen(
        "call", "dropout", k="Dropout", g={"keras:dropout": "d1"}, g2={"keras:dropout": "d2"}
    )
    return [
        HASHES,
        {"e": "unrecorded", "where": "tf.function", "why": "runs as a compiled function"},
        {"e": "optimizer", "o": 0, "class": "SGD"},
        out("weights", "dense.kernel", "w"),
        seen("batch", place, out=[["0", tensor("x")]]),
        *forward,
        drawn,
        out("root", "loss", "loss" + run),
        loss(1.0 if run == "a" else 2.0),
        out("update", "dense.kernel", "w" + run, o=0),
        update(1),
    ]


@pytest.mark.parametrize(
    ("place", "shows"),
    [("fit", "compile(run_eagerly=True)"), ("data", "tf.config.run_functions_eagerly(True)")],
)
def test_a_compiled_step_hides_the_forward_pass_and_no_layer_is_called_the_last(
    tmp_path: Path, place: str, shows: str
) -> None:
    ladder = climb(tmp_path, compiled("a", place), compiled("b", place))
    assert ladder.first == "loss"
    assert "dropout" not in ladder.sentence
    assert (
        f"something in the forward pass, which a compiled function hides (`{shows}` shows the forward pass)"
        in ladder.sentence
    )
    forward = ladder.rung("forward")
    assert forward.status == "not_recorded" and shows in forward.detail


def test_a_layer_that_was_recorded_beside_a_compiled_function_is_the_last_and_one_that_drew_alone_is_not(
    tmp_path: Path,
) -> None:
    recorded = call("dense", "x", "y", k="Dense")
    ladder = climb(tmp_path, compiled("a", "fit", recorded), compiled("b", "fit", recorded))
    assert "between the last module, dense (Dense), and the loss" in words(ladder.sentence)
