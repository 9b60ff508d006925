"""Generators in words: what draws from one whose state differs, and what was done about seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reprocheck.ladder import words
from reprocheck.ladder.seeds import Seeding, is_key
from reprocheck.ladder.sentences.said import Said
from reprocheck.trace.deep import Seen

_KERAS = "keras"
"""The generator that a layer or an initializer takes a seed of its own from, when it is made."""


def drawn(
    names: Sequence[str], seen: Seen, seeded: Mapping[str, Seeding], *, agreed: Seen | None
) -> Said:
    """A module or a loader draws from generators whose states differ; `agreed`: the last fact at
    which they were still the same.
    """
    kind, who = "loader", words.code(seen.place)
    if seen.kind == "call":
        kind, who = "module", words.module(seen.place, seen.class_)
    generators = words.generators(names)
    only_keys = all(map(is_key, names))
    # a key has no state
    subject, relation = "Its state", "whose state is"
    if only_keys:
        subject, relation = "It", "which is"
    detail = f"The first {kind} that draws from {words.generators(names, 'differing')} is {who}."
    if agreed is not None:
        detail += f" {subject} still agreed at `{agreed.place}` of iteration {agreed.iteration}."
    return Said(
        culprit=f"the state of {generators}",
        detail=detail,
        sentence=(
            f"{words.within(seen.iteration)} {who} draws from {generators}, {relation} not the same"
            f" in both runs, {why_unequal(seeded, names)}"
        ),
    )


def drawn_outside(names: Sequence[str], seen: Seen, seeded: Mapping[str, Seeding]) -> Said:
    """The script draws from generators whose states differ; `seen` is the first to get something
    else.
    """
    generators = words.generators(names)
    where = words.code(seen.place)
    if seen.kind == "call":
        where = words.module(seen.place, seen.class_)
    return Said(
        culprit=f"the state of {generators}",
        detail=(
            f"The script draws from {words.generators(names, 'differing')} outside of modules and"
            f" loaders; {where} is the first to receive other values."
        ),
        sentence=(
            f"{words.within(seen.iteration)} {where} is the first to receive other values, and the"
            f" script draws from {generators}, whose state is not the same in both runs,"
            f" {why_unequal(seeded, names)}"
        ),
    )


def why_unequal(seeded: Mapping[str, Seeding], generators: Sequence[str]) -> str:
    """Why the states of generators differ, as a clause."""
    concerned = [seeded[name] for name in generators if name in seeded]
    if not concerned:
        return f"because nothing seeds {words.listed(sorted(generators))}"
    # one with another number in each run explains more than those with the same
    one = min(concerned, key=lambda seeding: seeding.equal)
    if not one.equal:
        return f"because {with_another_number(one)}"
    same = equally(one)
    if is_key(one.generator):
        same = "it was made from the same number"
    return f"although {same}: {since_then(one)}"


def with_another_number(seeding: Seeding) -> str:
    """Who gave a generator another number in each run."""
    who = words.seeder(seeding.by, seeding.line)
    if seeding.folded:
        return f"{who} folds another number into the key in each run"
    if is_key(seeding.generator):
        return f"{who} makes the key from another number in each run"
    return f"{who} seeds {seeding.generator} with another number in each run"


def equally(seeding: Seeding) -> str:
    """Who gave a generator the same number in both runs."""
    who = words.seeder(seeding.by, seeding.line)
    if is_key(seeding.generator):
        return f"{who} makes the key from the same number in both runs"
    return f"{who} seeds {seeding.generator} equally"


def since_then(seeding: Seeding) -> str:
    """What happened behind an equal seed, where the states differ.

    A key does not move: how often it was drawn from says nothing.
    """
    if is_key(seeding.generator):
        return "since then it was split or folded in another way in each run"
    if seeding.generator == _KERAS:
        return "one run drew more from it since, or what draws took its own seed before that"
    return "since then one run drew more from it than the other"
