"""What goes into a training in words: batches, generators, what the runs were given."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from reprocheck.language import count, form, joined, mark, sentences, shortlist, tr
from reprocheck.model import SourceDifference
from reprocheck.model.evidence import BatchDiffers
from reprocheck.model.statements import inputs as statements
from reprocheck.model.statements.inputs import INPUTS_OF, OtherBatch, Seeding, UnequalState, is_key
from reprocheck.wording.ladder import terms
from reprocheck.wording.ladder.terms import Said, said_of
from reprocheck.wording.say import say

_CHANGES = {
    ("data set", "other order"): mark(
        "the same samples in another order (same samples, other order, over the epoch: the data"
        " set itself holds them so)"
    ),
    ("data set", "other content"): mark(
        "other samples or other content for the same indices: the data set itself does not hold"
        " the same"
    ),
    ("data set", "other samples"): mark(
        "other samples or other content: the data set itself does not hold the same"
    ),
    ("subset", "other order"): mark(
        "the same samples in another order (same samples, other order, over the epoch: the"
        " subset lists them so)"
    ),
    ("subset", "other samples"): mark("other samples: the subset takes others from the data set"),
    ("epoch", "other order"): mark(
        "the same samples in another order (same samples, other order, over the epoch)"
    ),
    ("epoch", "other samples"): mark("other samples (over the whole epoch)"),
    ("indices", "other content"): mark("the same samples with other content"),
    ("all batches", "other order"): mark(
        "the same samples in another order (over the {seen} seen)"
    ),
    ("all batches", "other samples"): mark("other samples (in the {seen} seen)"),
    ("number of samples", "other samples"): mark(
        "another number of samples ({first} and {second})"
    ),
    ("rest of the batch", "other content"): mark("other content (the rest of the batch agrees)"),
    ("few samples", "other content"): mark(
        "other content in {changed} of {first} samples, the others agree"
    ),
    ("no sample", "unknown"): mark("other content: none of the {seen} seen holds the same samples"),
    ("batch", "other samples"): mark("other samples or other content (in the {seen} seen)"),
    ("nothing", "unknown"): mark("another batch"),
}
"""What shows a change, and what it is -> what a loader hands out."""


@said_of.register
def other_batch(batch: OtherBatch) -> Said:
    """Say that a batch, or an order of samples, differs."""
    evidence, place = batch.evidence, batch.fact.place
    who = tr("{place} hands out", place=terms.code(place))
    if not evidence.by_loader:
        who = tr("{place} is given", place=terms.code(place.removeprefix(INPUTS_OF)))
    change = _change(batch)
    if evidence.worker is not None:
        change += tr(", made by worker {worker}", worker=evidence.worker)
    detail, unequal = f"{who} {change}.", batch.unequal_parts
    if 0 < len(unequal) < batch.parts:
        differ = "differs" if len(unequal) == 1 else "differ"
        detail += f" Of the {batch.parts} parts of a batch, {terms.named(unequal)} {differ}."
    return Said(
        detail=detail,
        sentence=tr(
            "{within} {who} {change}{why}",
            within=terms.within(batch.fact.iteration),
            who=who,
            change=change,
            why=_why(batch),
        ),
    )


def _change(batch: OtherBatch) -> str:
    evidence = batch.evidence
    if evidence.only_in_one_run:
        what = "an order of samples"
        if batch.fact.kind == "batch":
            what = f"batch {batch.fact.call + 1} of the iteration"
        here, there = terms.runs(batch.fact)
        return tr(
            "{what} in run {here} that it does not in run {there}",
            what=what,
            here=here,
            there=there,
        )
    first, second = batch.samples
    return tr(
        _CHANGES[evidence.shown_by, evidence.samples],
        seen=count(batch.batches, "batch", "batches"),
        first=first,
        second=second,
        changed=batch.changed,
    )


def _why(batch: OtherBatch) -> str:
    """Return what the states and seeds of the generators show about a batch."""
    evidence = batch.evidence
    if evidence.only_in_one_run:
        return ""
    if batch.own_seeds:
        first = batch.own_seeds[0]
        number = tr("with another number in each run")
        if first.by_system or first.first is None:
            number = tr("from the operating system")
        names = shortlist([seeding.generator for seeding in batch.own_seeds])
        place = terms.at(first.line, mark(" in "))
        seeds = joined("", (f"{names} ", number, place))
        return tr(", because the worker seeds {seeds}", seeds=seeds)
    if evidence.built:
        late = _seeded_late(evidence)
        return tr(": it was built differently before the training, {seeded_late}", seeded_late=late)
    if batch.moved:
        generators = terms.generators(batch.moved)
        return tr(", although {generators} that it draws from agrees", generators=generators)
    if batch.differing:
        return tr(
            "; {generators} differed before, and what draws from it was not recorded",
            generators=terms.generators(batch.differing),
        )
    of = "" if evidence.worker is None else " of the main process"
    return tr(", and no process-wide generator{of} explains it", of=of)


def _seeded_late(evidence: BatchDiffers) -> str:
    """Return generators that were drawn from before the script seeded them, as a clause."""
    early = evidence.drawn_before_seed
    if not early:
        return tr("and nothing recorded explains that")
    names = sorted(early)
    line = next(iter(early.values()))
    return form(
        len(names),
        "and {listed} was drawn from before {seeder} seeds it",
        "and {listed} were drawn from before {seeder} seeds them",
        listed=shortlist(names),
        seeder=terms.seeder("", line),
    )


@said_of.register
def unequal_state(drawn: UnequalState) -> Said:
    """Say that something draws from generators whose states differ."""
    if drawn.outside:
        return _by_script(drawn)
    names, seen, agreed = drawn.names, drawn.fact, drawn.agreed
    kind, who = "module" if seen.kind == "call" else "loader", terms.subject(seen)
    generators = terms.generators(names)
    subject, relation = "Its state", tr("whose state is")
    # a key has no state
    if all(map(is_key, names)):
        subject, relation = "It", tr("which is")
    differing = terms.generators(names, "differing ")
    detail = f"The first {kind} that draws from {differing} is {who}."
    if agreed is not None:
        detail += f" {subject} still agreed at `{agreed.place}` of iteration {agreed.iteration}."
    return Said(
        culprit=f"the state of {generators}",
        detail=detail,
        sentence=tr(
            "{within} {who} draws from {generators}, {relation} not the same"
            " in both runs, {why_unequal}",
            within=terms.within(seen.iteration),
            who=who,
            generators=generators,
            relation=relation,
            why_unequal=_why_unequal(drawn.seeded, names),
        ),
    )


def _by_script(drawn: UnequalState) -> Said:
    """Return that the script itself draws, outside of modules and loaders."""
    names, seen = drawn.names, drawn.fact
    generators, where = terms.generators(names), terms.subject(seen)
    differing = terms.generators(names, "differing ")
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
            within=terms.within(seen.iteration),
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
    who = terms.seeder(seeding.by, seeding.line)
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
    who = terms.seeder(seeding.by, seeding.line)
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


_KINDS = {
    "argument": "argument",
    "variable": "environment variable",
    "input": "input",
}
_MOST_SAID = 3
"""Files and arguments that are named with both values."""


@say.register
def environment(other: statements.OtherEnvironment) -> str:
    """Say which facts of the environment are not the same in a run as in run 1."""
    first, *others = other.differences
    sentence = tr(
        "`{key}` is not the same in run {run} as in run 1: {values}.",
        key=first.key,
        run=first.run,
        values=terms.both(first.reference, first.value, second=first.run),
    )
    if not others:
        return sentence
    names = [other.key for other in others]
    more = form(len(names), "So is {named}.", "So are {named}.", named=terms.named(names))
    return sentences(sentence, more)


def called(given: statements.Given) -> str:
    """Return the name in a sentence: argument `--seed`, argument 1."""
    if given.name.startswith(statements.BY_NUMBER):
        return given.name
    return f"{_KINDS[given.kind]} {terms.code(given.name)}"


@say.register
def one_thing(given: statements.Given) -> str:
    """Say which argument, variable or file the runs were given unequally, with both values."""
    name, first, second = called(given), _value(given.first), _value(given.second)
    if given.second is None:
        return tr("Run 1 alone was given the {name}, `{first}`.", name=name, first=first)
    if given.first is None:
        return tr("Run 2 alone was given the {name}, `{second}`.", name=name, second=second)
    if given.kind != "input":
        return tr(
            "The {name} is `{first}` in run 1 and `{second}` in run 2.",
            name=name,
            first=first,
            second=second,
        )
    anew = ""
    if given.made:
        anew = (
            f", written anew in each by {given.written},"
            if given.written
            else ", made anew in each,"
        )
    return tr(
        "The files differ: `{name}`{anew} is not the same in both runs: {first}"
        " in run 1 and {second} in run 2.",
        name=given.name,
        anew=anew,
        first=first,
        second=second,
    )


def _value(value: str | statements.FileState | None) -> str:
    """Return a value as it was given; of a file what tells it from the other one.

    Its size, hash or time.
    """
    if not isinstance(value, statements.FileState):
        return value or ""
    text = f"{value.size:,} bytes"
    if value.hash:
        text += f", hash {value.hash}"
    if value.time is not None:
        when = datetime.fromtimestamp(value.time, UTC)
        text += f", changed {when:%Y-%m-%d %H:%M:%S} UTC"
    return text


@say.register
def given_otherwise(otherwise: statements.NotGivenAlike) -> str:
    """Say which source, arguments, variables and files differ.

    The first of them with both values.
    """
    differences = [*map(_of_code, otherwise.code), *map(say, otherwise.others)]
    shown, more = differences[:_MOST_SAID], len(differences) - _MOST_SAID
    if more > 0:
        rest = count(more, "more file or argument", "more files or arguments")
        shown.append(form(more, "{rest} differs too.", "{rest} differ too.", rest=rest))
    return sentences(*shown)


def _of_code(source: SourceDifference) -> str:
    file = terms.code(source.file)
    if source.only_in is not None:
        return tr("Run {only_in} alone has {file}.", only_in=source.only_in, file=file)
    pair = next(iter(source.changed), None)
    if pair is None or pair.first is None or pair.second is None:
        return tr("{file} is not the same in both runs.", file=file)
    return tr(
        "Line {line} of {file} is `{text}` in run 1 and `{second_text}` in run 2.",
        line=pair.first.line,
        file=file,
        text=pair.first.text,
        second_text=pair.second.text,
    )


@said_of.register
def left_behind(left: statements.LeftFiles) -> Said:
    """Say which files of run 1 run 2 reads, with what its log says of them."""
    detail = tr("Run 2 reads {named}, which run 1 wrote.", named=terms.named(left.paths))
    if left.says is not None:
        says = tr(
            "The log of run {run} says, and that of run 1 does not: {line!r}.",
            run=left.says.run,
            line=left.says.line,
        )
        detail = sentences(detail, says)
    return Said(detail=detail, sentence=detail, culprit="run 1, which left it behind")


@say.register
def left_without_effect(left: statements.LeftWithoutEffect) -> str:
    """Say which files of run 1 run 2 reads, and that they explain nothing."""
    read = f"Run 2 reads {terms.named(left.paths)}, which run 1 wrote"
    if left.alike:
        return f"{read}; run 1 read the same from there."
    return f"{read}, but only after the first difference."
