"""What a file holds of a training and what is loaded of it again: what became of a part that is
lost, and the lines that this is about.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from msgspec import structs

from reprocheck.resume.gap.explanation import explained
from reprocheck.resume.gap.ladder import gaps_of
from reprocheck.resume.model import Mechanism
from reprocheck.trace.deep import Leaf, Seen
from tests.resume.gap.test_ladder import K, boundary, raw, tensor, trace

SCRIPT = """\
def main(path):
    start = 0
    if path:
        saved = load(path)
        net.load_state_dict(saved["net"])
        if "optim" in saved:
            opt.load_state_dict(saved["optim"])
        start = saved["step"]
    for step in range(start, 9):
        train()
        save({"net": net.state_dict(), "opt": opt.state_dict(), "step": step}, "ckpt.pt")
"""
READS, SAVES = "train.py:4", "train.py:11"
PARTS = {"optimizer 0": "opt", "module ": "net"}
WEIGHTS = ("['net']", "weights", "body.weight, head.weight")
OPTIMIZER = ("['opt']", "optimizer", "optimizer 0")


def saved(*entries: tuple[str, str, Any], iteration: int = K) -> Seen:
    """A file was written, with these parts by key."""
    leaves = [(key, Leaf(dtype=kind, value=name)) for key, kind, name in entries]
    frames = [(SAVES, PARTS)]
    return Seen(kind="saved", place="ckpt.pt", iteration=iteration, inputs=leaves, frames=frames)


def loaded(part: str, key: str, line: str) -> Seen:
    """A part took what was loaded."""
    return Seen(kind="load", place=part, inputs=[("key", Leaf(value=key))], line=line)


READ = Seen(kind="names", place="read", frames=[(READS, PARTS)])
MODEL = loaded("module ", "['net']", "train.py:5")


def mechanism(before: Sequence[Seen], after: Sequence[Seen], **changed: str) -> Mechanism:
    """What is said of a resumed run that reads a file and holds something else."""
    continued = trace([*before, *boundary(K + 1, raw(0, 100))])
    resumed = trace([READ, *after, *boundary(1, raw(0, 100), **changed)])
    found = replace(gaps_of(continued, resumed, K), trees={"train.py": ast.parse(SCRIPT)})
    said = explained([found]).mechanism
    assert said is not None
    return said


def lines(said: Mechanism) -> list[tuple[str, str]]:
    return [(mark.role, mark.source.at) for mark in said.marks]


OTHER = {"body.weight:exp_avg": "other"}


def test_what_the_file_holds_and_nobody_loads_is_told_with_both_keys() -> None:
    said = mechanism([saved(WEIGHTS, OPTIMIZER, ("['step']", "int", 2))], [MODEL], **OTHER)
    assert said.code == "RC118"
    assert "the file holds the optimizer's state under `opt`, and nobody loads it" in said.evidence
    assert lines(said) == [
        ("reads", READS),
        ("saves", SAVES),
        ("asks for", "train.py:6"),
        ("asks for", "train.py:7"),
    ]


def test_what_the_file_does_not_hold_leads_to_the_line_that_saves() -> None:
    said = mechanism([saved(WEIGHTS)], [MODEL], **OTHER)
    assert "the file does not hold the optimizer's state" in said.evidence
    assert lines(said)[:2] == [("saves", SAVES), ("reads", READS)]


@pytest.mark.parametrize(
    ("part", "words"),
    [
        ("optimizer 0", "was loaded, and is not that where the training goes on"),
        ("optimizer 1", "was loaded into another one than the one that trains"),
    ],
)
def test_what_was_loaded_and_is_lost_leads_to_the_line_that_loads(part: str, words: str) -> None:
    given = loaded(part, "['opt']", "train.py:7")
    said = mechanism([saved(WEIGHTS, OPTIMIZER)], [MODEL, given], **OTHER)
    assert any(words in one for one in said.evidence)
    assert lines(said)[0] == ("loads", "train.py:7")


def test_of_a_file_whose_content_is_not_known_nothing_is_said_but_its_lines() -> None:
    said = mechanism([], [], **OTHER)
    assert not any("the file" in one for one in said.evidence)
    assert ("reads", READS) in lines(said)


def test_weights_are_known_by_the_names_that_the_file_has_them_under() -> None:
    body = ("['net']", "weights", "body.weight")
    head = {"head.weight": "first head.weight"}
    said = mechanism([saved(body)], [MODEL], **head)
    assert said.code == "RC119" and "the file does not hold head.weight" in said.evidence
    whole = ("['head']", "weights", "head.weight")
    said = mechanism([saved(body, whole)], [MODEL], **head)
    assert "the file holds head.weight under `head`, and nobody loads it" in said.evidence


def test_weights_that_the_file_holds_under_two_keys_are_not_loaded_once_more() -> None:
    keys = [("['net']", "weights", "head.weight"), ("['ema']", "weights", "head.weight")]
    after = [READ, MODEL, *boundary(1, raw(0, 100), **{"head.weight": "other"})]
    for held, parts in ((keys[:1], 1), (keys, 0)):
        continued = trace([saved(*held), *boundary(K + 1, raw(0, 100))])
        assert len(explained([gaps_of(continued, trace(after), K)]).lost) == parts


def test_a_generator_that_was_put_back_and_drawn_from_leads_to_the_line_that_put_it_back() -> None:
    restore = Seen(
        kind="restore",
        place="numpy",
        line="train.py:6",
        inputs=[("key", Leaf(value="['rng']"))],
    )
    state = ("['rng']", "generator", "numpy")
    continued = trace([saved(WEIGHTS, state), *boundary(K + 1, raw(0, 100))])
    resumed = trace([READ, restore, *boundary(1, raw(0, 102))])
    said = explained([gaps_of(continued, resumed, K)]).mechanism
    assert said is not None and said.code == "RC109"
    assert lines(said)[0] == ("puts back", "train.py:6")
    resumed = trace([READ, *boundary(1, raw(0, 102))])
    said = explained([gaps_of(continued, resumed, K)]).mechanism
    assert said is not None and said.code == "RC112"
    assert "the file holds the state of NumPy's generator under `rng`, and nobody loads it" in (
        said.evidence
    )


def counts(iteration: int, **numbers: int) -> Seen:
    """What the variables of the script count."""
    out = [(name, Leaf(value=number)) for name, number in numbers.items()]
    return Seen(kind="counts", iteration=iteration, outputs=out)


def step(number: int, iteration: int) -> Seen:
    """A checkpoint that holds a number of steps."""
    return saved(WEIGHTS, ("['step']", "int", number), iteration=iteration)


def test_a_number_that_the_next_checkpoint_holds_anew_is_counted_from_the_beginning() -> None:
    again = boundary(K + 1, raw(0, 100))
    continued = trace([step(2, K), *again, step(4, K + 3)])
    resumed = trace([READ, MODEL, *boundary(1, raw(0, 100)), step(2, 3)])
    found = gaps_of(continued, resumed, K)
    said = explained([replace(found, trees={"train.py": ast.parse(SCRIPT)})])
    assert said.first is not None and said.first.name == "step counter"
    assert said.mechanism is not None and said.mechanism.code == "RC120"
    assert "4" in said.first.detail and "2" in said.first.detail
    assert ("counts", "train.py:9") in lines(said.mechanism)
    right = trace([READ, MODEL, *boundary(1, raw(0, 100)), step(4, 3)])
    assert explained([gaps_of(continued, right, K)]).first is None


def test_a_variable_that_is_named_as_a_key_counts_from_the_beginning() -> None:
    def facts(iteration: int, first: int, now: int) -> list[Seen]:
        start, *rest = boundary(iteration, raw(0, 100))
        return [counts(1, step=first), start, counts(iteration, step=now), *rest]

    continued = trace([step(2, K), *facts(K + 1, 0, 2)])
    said = explained([gaps_of(continued, trace([READ, MODEL, *facts(1, 0, 0)]), K)])
    assert said.first is not None
    assert (said.first.name, said.first.place) == ("step counter", "step")
    right = trace([READ, MODEL, *facts(1, 2, 2)])
    assert explained([gaps_of(continued, right, K)]).first is None
    library = structs.replace(step(2, K), class_="Accelerator.save_state")
    continued = trace([library, *facts(K + 1, 0, 2)])
    again = trace([READ, MODEL, *facts(1, 0, 0)])
    assert explained([gaps_of(continued, again, K)]).first is None


def test_a_rate_that_follows_a_counter_is_no_fault_of_the_optimizer() -> None:
    start, *rest = boundary(K + 1, raw(0, 100))

    def rate(iteration: int, value: float) -> Seen:
        leaves = [("lr", Leaf(value=value))]
        return Seen(kind="hyper", place="Adam[0]", iteration=iteration, optimizer=0, outputs=leaves)

    continued = trace([counts(1, it=0), start, counts(K + 1, it=K), *rest[:-1], rate(K + 1, 0.3)])
    begin, *then = boundary(1, raw(0, 100))
    resumed = trace([counts(1, it=0), begin, counts(1, it=0), *then[:-1], rate(1, 0.1)])
    said = explained([gaps_of(continued, resumed, K)])
    assert said.mechanism is not None and said.mechanism.code == "RC120"


def test_the_state_of_an_optimizer_that_never_steps_is_not_compared() -> None:
    def facts(iteration: int, content: str) -> list[Seen]:
        start, *rest = boundary(iteration, raw(0, 100))
        other = Seen(
            kind="held",
            place="body.weight:step",
            optimizer=1,
            iteration=iteration,
            outputs=tensor(content),
        )
        rest[-1].optimizer = 0
        return [start, other, *rest]

    said = explained([gaps_of(trace(facts(K + 1, "x")), trace(facts(1, "y")), K)])
    assert said.first is None
