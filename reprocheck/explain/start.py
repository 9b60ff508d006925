"""What stands before an iteration: hyper-parameters and initial weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reprocheck.explain import compare, words
from reprocheck.explain.finding import Finding, found, measure
from reprocheck.explain.generators import Seeding, drawn_before_seed, seed_facts, seedings
from reprocheck.explain.pair import Difference, Pair
from reprocheck.trace.deep import Seen


def hyper_parameters(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The first value of an optimizer that differs at an update."""
    difference = differences[0]
    seen = difference.seen
    names = list(difference.outputs)
    measured = measure(pair, difference)
    facts = {"optimizer": seen.place, "leaf_names": names}
    name = names[0] if names else seen.place
    values = measured.facts.get("values")
    both = words.both(*values) if isinstance(values, list) else "not the same in both runs"
    others = f" {words.listed([words.code(one) for one in names[1:]])} differ too." if names[1:] else ""
    text = f"`{name}` of {seen.place} is {both} at the update of iteration {seen.iteration}"
    if name.endswith(".params"):
        text = f"{seen.place} holds other weights in `{name.removesuffix('.params')}` in each run: they are {both}"
    return found(
        pair,
        difference.step,
        "hyper-parameters",
        measured,
        place=name,
        detail=f"{text}.{others}",
        sentence=f"{text}{_agreement(pair, difference)}",
        line=seen.line,
        facts=facts,
    )


def _agreement(pair: Pair, difference: Difference) -> str:
    agrees = not pair.differences or pair.differences[0].step.number >= difference.step.number
    return "; everything recorded before it agrees" if agrees and "gradient" in pair.recorded else ""


# ---------------------------------------------------------------------------------------------------------------- weights


def initial_weights(pair: Pair, differences: Sequence[Difference]) -> Finding:
    """The first parameter or buffer, in order of recording, that differs before the first iteration."""
    difference = next((one for one in differences if not one.structural), differences[0])
    seen = difference.seen
    compared = sum(1 for step in pair.steps if step.seen.kind == "weights")
    generators = _unequal(difference)
    known = bool(difference.step.first and difference.step.first.before)
    seeded = seedings(pair, difference.step.number)
    measured = measure(pair, difference)
    facts: dict[str, object] = {
        "buffer": seen.buffer,
        "differing": len(differences),
        "compared": compared,
        "generators": generators,
        "states_known": known,
        **seed_facts(_effective(seeded, generators), generators or sorted(seeded)),
    }
    if not known and (early := drawn_before_seed(pair, difference.step.number)):
        facts["drawn_before_seed"] = early
    missing = _missing(pair, seen)
    if missing:
        facts["missing_from_checkpoint"] = missing
    count = f"{len(differences)} of {compared} parameters and buffers"
    finding = found(
        pair,
        difference.step,
        "initial weights",
        measured,
        place=seen.place,
        detail=f"{_what(difference)} before the first iteration ({count}){_states(generators, known)}.",
        sentence=f"{_subject(seen)} differ{'s' if '.' not in seen.place else ''} before the first iteration, "
        f"{_why(seen, generators, known, seeded, facts)}",
        line=seen.line,
        facts=facts,
    )
    return replace(finding, number=-1, iteration=None)


def _what(difference: Difference) -> str:
    seen = difference.seen
    kind = "buffer" if seen.buffer else "parameter"
    if difference.structural:
        here, there = (1, 2) if difference.step.first else (2, 1)
        return f"Run {here} has the {kind} `{seen.place}`, which run {there} has not,"
    return f"The {kind} `{seen.place}` is the first that differs"


def _subject(seen: Seen) -> str:
    """`the weights of stem.0` for `stem.0.weight`."""
    module, _, name = seen.place.rpartition(".")
    if not module:
        return f"the {'buffer' if seen.buffer else 'parameter'} `{name}`"
    return f"the {'buffers' if seen.buffer else 'weights'} of `{module}`"


def _unequal(difference: Difference) -> list[str]:
    """The generators whose states differed when the weight was made."""
    first, second = difference.step.first, difference.step.second
    if not first or not second:
        return []
    return sorted(name for name, state in first.before.items() if second.before.get(name, state) != state)


def _effective(seeded: dict[str, Seeding], unequal: Sequence[str]) -> dict[str, Seeding]:
    """Without the seeds that cannot have stood before the weight was made: equal seeds, unequal states."""
    return {name: seeding for name, seeding in seeded.items() if name not in unequal or not seeding.equal}


def _states(generators: Sequence[str], known: bool) -> str:
    if generators:
        return f"; the state of {words.generators(generators)} differed when it was made"
    return "; the generators stood the same when it was made" if known else ""


def _why(seen: Seen, generators: Sequence[str], known: bool, seeded: dict[str, Seeding], facts: dict[str, object]) -> str:
    it = "them" if "." in seen.place else "it"
    where = f"{words.line(seen.line)} builds {it}" if seen.line else f"{'they are' if it == 'them' else 'it is'} built"
    if generators:
        unequal = next((seeded[name] for name in generators if name in seeded and not seeded[name].equal), None)
        if unequal is not None:
            by = f"{words.line(unequal.line)} seeds" if unequal.line else "the script seeds"
            return f"because {by} {unequal.generator} with another number in each run"
        return f"because nothing seeds {words.listed(list(generators))} before {where}"
    if missing := facts.get("missing_from_checkpoint"):
        return f"and {missing} does not hold it"
    early = facts.get("drawn_before_seed")
    if isinstance(early, dict) and early:
        name, line = next(iter(early.items()))
        return f"and {name} was drawn from before {words.line(line) if line else 'the script'} seeds it"
    if not known:
        return "and the script seeds no generator" if not seeded else f"where {where}"
    made = f" at {words.line(seen.line)}" if seen.line else ""
    return (
        f"although the generators stood the same when it was made{made}: its memory was never filled, or it was filled from a generator of "
        "its own, from the clock or from the operating system"
    )


def _missing(pair: Pair, seen: Seen) -> str:
    """The load that lacked this weight, in words."""
    for step in pair.steps:
        fact = step.seen
        if fact.kind != "load":
            continue
        leaf = compare.leaf(fact.inputs, "missing")
        names = leaf.value if leaf is not None else None
        prefix = fact.place + "." if fact.place else ""
        if isinstance(names, (list, str)) and seen.place.removeprefix(prefix) in (names if isinstance(names, list) else names.split(", ")):
            return f"the checkpoint loaded into {words.module(fact.place)}"
    return ""
