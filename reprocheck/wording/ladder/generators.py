"""Generators in words: what draws from one whose state differs, and what was done about seeds."""

from __future__ import annotations

from collections.abc import Sequence

from reprocheck.language import shortlist, tr
from reprocheck.model.statements.generators import Seeding, UnequalState, is_key
from reprocheck.wording.ladder import words
from reprocheck.wording.ladder.registry import Said, said_of


@said_of.register
def unequal_state(drawn: UnequalState) -> Said:
    """Say that something draws from generators whose states differ."""
    if drawn.outside:
        return _by_script(drawn)
    names, seen, agreed = drawn.names, drawn.fact, drawn.agreed
    kind, who = "module" if seen.kind == "call" else "loader", words.subject(seen)
    generators = words.generators(names)
    subject, relation = "Its state", tr("whose state is")
    # a key has no state
    if all(map(is_key, names)):
        subject, relation = "It", tr("which is")
    differing = words.generators(names, "differing ")
    detail = f"The first {kind} that draws from {differing} is {who}."
    if agreed is not None:
        detail += f" {subject} still agreed at `{agreed.place}` of iteration {agreed.iteration}."
    return Said(
        culprit=f"the state of {generators}",
        detail=detail,
        sentence=tr(
            "{within} {who} draws from {generators}, {relation} not the same"
            " in both runs, {why_unequal}",
            within=words.within(seen.iteration),
            who=who,
            generators=generators,
            relation=relation,
            why_unequal=_why_unequal(drawn.seeded, names),
        ),
    )


def _by_script(drawn: UnequalState) -> Said:
    """Return that the script itself draws, outside of modules and loaders."""
    names, seen = drawn.names, drawn.fact
    generators, where = words.generators(names), words.subject(seen)
    differing = words.generators(names, "differing ")
    return Said(
        culprit=f"the state of {generators}",
        detail=(
            f"The script draws from {differing} outside of modules and loaders;"
            f" {where} is the first to receive other values."
        ),
        sentence=tr(
            "{within} {where} is the first to receive other values, and the"
            " script draws from {generators}, whose state is not the same in both runs,"
            " {why_unequal}",
            within=words.within(seen.iteration),
            where=where,
            generators=generators,
            why_unequal=_why_unequal(drawn.seeded, names),
        ),
    )


def of_names(seeded: Sequence[Seeding], names: Sequence[str]) -> list[Seeding]:
    """Say how those of these generators that were seeded got their seeds."""
    by_name = {seeding.generator: seeding for seeding in seeded}
    return [by_name[name] for name in names if name in by_name]


def _why_unequal(seeded: Sequence[Seeding], generators: Sequence[str]) -> str:
    """Return why the states of generators differ, as a clause."""
    concerned = of_names(seeded, generators)
    if not concerned:
        return tr("because nothing seeds {generators}", generators=shortlist(sorted(generators)))
    # one with another number in each run explains more than those with the same
    seeding = min(concerned, key=lambda seeding: seeding.equal)
    if not seeding.equal:
        return tr("because {why}", why=with_another_number(seeding))
    same = equally(seeding)
    if is_key(seeding.generator):
        same = tr("it was made from the same number")
    return tr("although {same}: {since_then}", same=same, since_then=since_then(seeding))


def with_another_number(seeding: Seeding) -> str:
    """Return who gave a generator another number in each run."""
    who = words.seeder(seeding.by, seeding.line)
    if seeding.folded:
        return tr("{who} folds another number into the key in each run", who=who)
    if is_key(seeding.generator):
        return tr("{who} makes the key from another number in each run", who=who)
    return tr(
        "{who} seeds {generator} with another number in each run",
        who=who,
        generator=seeding.generator,
    )


def equally(seeding: Seeding) -> str:
    """Say who gave a generator the same number in both runs."""
    who = words.seeder(seeding.by, seeding.line)
    if is_key(seeding.generator):
        return tr("{who} makes the key from the same number in both runs", who=who)
    return tr("{who} seeds {generator} equally", who=who, generator=seeding.generator)


def since_then(seeding: Seeding) -> str:
    """Say what happened after an equal seed, if the states differ.

    A JAX PRNG key does not change when it is drawn from, so that the number of draws says nothing.
    """
    if is_key(seeding.generator):
        return tr("since then it was split or folded in another way in each run")
    # the generator that a layer or an initializer takes a seed of its own from, when it is made
    if seeding.generator == "keras":
        return tr("one run drew more from it since, or what draws took its own seed before that")
    return tr("since then one run drew more from it than the other")
