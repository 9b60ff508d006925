"""The sentences of the causes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from reprocheck.language import form, mark, sentences, tr
from reprocheck.language.letters import capital
from reprocheck.model import Check
from reprocheck.model.statements import causes as statements
from reprocheck.rules.operators import Operator
from reprocheck.wording.ladder.start import other_sizes
from reprocheck.wording.ladder.terms import checkpoint, code, generators, seeder
from reprocheck.wording.say import say


def told(check: Check) -> Check:
    """Return the check with the sentences of its causes."""
    causes = []
    for cause in check.causes:
        evidence, fix = tuple(map(say, cause.statements)), say(cause.remedy)
        causes.append(replace(cause, title=tr(cause.title), evidence=evidence, fix=fix))
    return replace(check, causes=tuple(causes))


_DOES: Mapping[statements.Doing, str] = {
    "a draw": mark("draws a number"),
    "a draw, seedless": mark("draws without a seed"),
    "a draw, seedless or of the system": mark("draws without a seed or from the system"),
    "a draw of the system or the clock": mark(
        "draws from the system, from a generator without a seed, or from the clock"
    ),
    "a draw before the seed": mark("draws from a generator before it is seeded"),
    "a draw from it": mark("draws from it"),
    "a draw from an unseeded generator": mark(
        "draws from a generator that nothing seeded: its state is not the same in both runs"
    ),
    "a draw that feeds": mark(
        "draws from a generator without a seed, or from the system, and the value that differs is"
        " computed from it"
    ),
    "a generator or a draw": mark("makes a generator without a seed, or draws from the system"),
    "a generator or its seed": mark(
        "makes a generator without a seed, or seeds it from the system"
    ),
    "a seed of the system": mark("seeds from the system"),
    "a default seed of the system": mark("seeds the default generator from the operating system"),
    "a hash seed, too late": mark("comes too late"),
    "the clock or the system": mark("reads the clock or the system"),
    "the system or the clock": mark("reads the system or the clock"),
    "the clock that feeds": mark("reads the clock, and the value that differs is computed from it"),
    "the clock at a branch": mark("the clock decides here which branch the program takes"),
    "the system at a branch": mark(
        "what the system gives decides here which branch the program takes"
    ),
    "a duration": mark("measures how long something takes, and uses the number"),
    "an unfilled tensor": mark("makes a tensor without filling it"),
    "an unfilled tensor that feeds": mark(
        "makes a tensor without filling it, and the value that differs is computed from it"
    ),
    "an unfilled array": mark("makes an array without filling it"),
    "an order of a set": mark("the order of a set of strings, or a hash, decides here"),
    "an order of a listing": mark("files are used as the file system lists them"),
    "an order of addresses": mark("memory addresses determine an order here"),
    "an order of arrival": mark("what is ready first comes first here"),
    "a random file name": mark("a random file name is made here"),
    "a split": mark("a split is drawn here without a seed"),
    "a choice by timing": mark("lets cuDNN choose by timing"),
    "a change of gradients": mark("changes gradients"),
    "a write of others": mark("lets others write during the training"),
    "a function beside the training": mark("runs beside the training"),
    "a function for several samples": mark("calls a function for several samples at a time"),
    "a compilation": mark("compiles"),
    "a possible difference": mark("may be what differs"),
}
_CIRCUMSTANCES = {
    "repeated runs agree": mark("The runs that were recorded again agreed."),
    "large terms cancel": mark(
        "Where large terms cancel, another order of additions shows as a gross difference."
    ),
    "no seed of the pipeline": mark("No seed was recorded that its pipeline takes."),
    "hashes are not fixed": mark(
        "PYTHONHASHSEED was not fixed before the start, so strings hash differently in each"
        " process."
    ),
    "whole numbers differ": mark(
        "What differs are whole numbers, as labels and token ids are; string hashes were not fixed"
        " (PYTHONHASHSEED)."
    ),
    "inputs agree, rounding differs": mark(
        "From equal inputs the result differs by rounding alone, as another order of additions"
        " makes it."
    ),
    "inputs agree, no draw": mark(
        "From equal inputs an operator that draws no numbers gives another result."
    ),
    "weights in another order": mark(
        "The weights are filled one after the other, in another order in each run."
    ),
    "no state of a generator": mark(
        "No state of a generator was recorded when it was made: it may have been loaded, copied, or"
        " made in another process."
    ),
    "states agree": mark(
        "The default generators were in the same state when it was made, so none of them made the"
        " difference."
    ),
    "like left-over memory": mark(
        "It holds values that are not finite, or huge or tiny as left-over memory often is."
    ),
    "nothing seeded before it": mark("Nothing seeded a generator before it."),
    "raised in the backward pass": mark(
        "It is raised in the backward pass: the line that called the operator is in the forward"
        " pass before it."
    ),
}
_RANKS = {
    "": mark("The run has {ranks} ranks."),
    "gradients": mark("{ranks} ranks add gradients up."),
    "equal gradients": mark("Local gradients agree; {ranks} ranks add them up."),
}
_OPERATIONS = {
    "there": mark("{name} lies where the difference begins."),
    "draws unseen": mark("{name} draws random numbers, and its kernel shows no state."),
    "draws by itself": mark("`{name}` draws random numbers, and the default generators agree."),
}
_FILES = {
    "written by each run": mark(
        "Each run writes {file} before it loads it; what writes it may draw the weights without a"
        " seed."
    ),
    "not the same": mark("{file} did not hold the same in both runs when it was loaded."),
    "drawn by its writer": mark("What wrote {file} may have drawn them without a seed."),
}


@say.register
def line_does(statement: statements.LineDoes) -> str:
    """Say what a line of the user's code does that fits the cause."""
    line, does, name = statement.source, tr(_DOES[statement.kind]), statement.call
    return tr("{line} fits: {what} (`{name}`).", line=line, what=does, name=name)


@say.register
def circumstance(statement: statements.Circumstance) -> str:
    """Return a sentence that has no values."""
    return tr(_CIRCUMSTANCES[statement.kind])


@say.register
def ranks(statement: statements.Ranks) -> str:
    """Say how many ranks there are, and what the ranks sum up."""
    return tr(_RANKS[statement.add], ranks=statement.number)


@say.register
def operation_there(statement: statements.OperationThere) -> str:
    """Say how an operation is related to the difference."""
    return tr(_OPERATIONS[statement.kind], name=statement.name)


@say.register
def listed_operator(statement: Operator) -> str:
    """Say what a list of nondeterministic operators says of an operator, with its source."""
    return tr(
        "{name} ({when}) is on the list of {list} ({source}, {version}).",
        name=statement.name,
        when=statement.when,
        list=statement.list.name,
        source=statement.list.source,
        version=statement.list.version,
    )


@say.register
def environment_fact(statement: statements.EnvironmentFact) -> str:
    """Return a fact of the environment, in both runs."""
    return tr(
        "`{key}` is {reference} in run 1 and {value} in run {run}.",
        key=statement.key,
        reference=statement.reference,
        value=statement.value,
        run=statement.run,
    )


# ------------------------------------------------------------------------------------- generators


@say.register
def unseeded(statement: statements.Unseeded) -> str:
    """Return the generators that nothing seeded."""
    if not statement.generators:
        return tr("No seed was recorded before the first draw.")
    drawn = " and ".join(statement.generators)
    return tr("Nothing seeded {drawn} before the first draw.", drawn=drawn)


@say.register
def seeded_afterwards(statement: statements.SeededAfterwards) -> str:
    """Return who seeded a generator after it was drawn from."""
    return tr(
        "{who} seeds {name} afterwards, with {seed}.",
        who=capital(seeder(statement.by, statement.line)),
        name=statement.generator,
        seed=statement.seed,
    )


@say.register
def drawn_before_seed(statement: statements.DrawnBeforeSeed) -> str:
    """Return the line that seeded a generator after it was drawn from."""
    return tr(
        "{name} was drawn from before {seed} seeds it.",
        name=capital(statement.generator),
        seed=statement.seed or "the script",
    )


@say.register
def seeded_unequally(statement: statements.SeededUnequally) -> str:
    """Return the numbers that a generator was given in both runs."""
    message = mark("{who} was seeded with {first} in run 1 and {second} in run 2.")
    if statement.folded:
        message = mark("{who} had folded in {first} in run 1 and {second} in run 2.")
    first, second = statement.seeds
    return tr(message, who=capital(generators([statement.generator])), first=first, second=second)


@say.register
def seeded_equally(statement: statements.SeededEqually) -> str:
    """Return the generators that were given the same numbers."""
    who = capital(generators(statement.generators))
    if statement.key:
        return tr(
            "{who} was made from the same number in both runs, and differs when it is drawn from.",
            who=who,
        )
    return form(
        len(statement.generators),
        "{who} was seeded with the same number in both runs, and its state differs when it is"
        " drawn from.",
        "{who} were seeded with the same numbers in both runs, and their states differ when they"
        " are drawn from.",
        who=who,
    )


@say.register
def made_by_workers(statement: statements.MadeByWorkers) -> str:
    """Return who made the batches."""
    if statement.worker is None:
        return tr("The batches are made by worker processes.")
    return tr("The batch was made by worker {worker}.", worker=statement.worker)


@say.register
def seeded_by_worker(statement: statements.SeededByWorker) -> str:
    """Return what a worker seeded a generator with."""
    how = "from the operating system"
    if statement.seeds is not None:
        first, second = statement.seeds
        how = f"with {first} in run 1 and {second} in run 2"
    return tr(
        "Worker {worker} seeded {generator} {how}.",
        worker=statement.worker,
        generator=statement.generator,
        how=how,
    )


# -------------------------------------------------------------------------------- what runs get


@say.register
def files_of_run_1(statement: statements.FilesOfRun1) -> str:
    """Say which files of run 1 a later run read."""
    if statement.first:
        return tr("A later run read {path}, which run 1 wrote.", path=statement.first)
    return form(
        statement.number,
        "The later run read it before it wrote there itself.",
        "The later run read them before it wrote there itself.",
    )


@say.register
def not_in_checkpoint(statement: statements.NotInCheckpoint) -> str:
    """Return the checkpoint that lacks a weight."""
    return tr("{checkpoint} did not hold it.", checkpoint=capital(checkpoint(statement.module)))


@say.register
def other_number_of_weights(statement: statements.OtherNumberOfWeights) -> str:
    """Return the shapes of both runs."""
    sizes = other_sizes(statement.shapes)
    return tr("The weights {sizes}: the number that says how many there are differs.", sizes=sizes)


@say.register
def loaded_file(statement: statements.LoadedFile) -> str:
    """Say how a file of weights is related to the difference."""
    return tr(_FILES[statement.kind], file=code(statement.file))


@say.register
def other_line(statement: statements.OtherLine) -> str:
    """Return the texts of a line in both runs."""
    first, second = statement.texts
    return tr(
        "Line {line} of `{file}` is `{text}` in run 1 and `{second_text}` in run 2.",
        line=statement.line,
        file=statement.file,
        text=first,
        second_text=second,
    )


@say.register
def made_at_start(statement: statements.MadeAtStart) -> str:
    """Say what makes the differing value at each start."""
    who = "The command"
    if statement.file:
        who = f"Line {statement.line} of `{statement.file}`"
    return tr("{who} makes it of `{by}`, which differs at each start.", who=who, by=statement.by)


# ------------------------------------------------------------------------- errors, and the scan


@say.register
def ended_with(statement: statements.EndedWith) -> str:
    """Return the error of a run."""
    return tr("Run {run} ended with: {message}", run=statement.run, message=statement.message)


@say.register
def refused_operator(statement: statements.RefusedOperator) -> str:
    """Say which operator an error names, and its line."""
    called = f", called by {statement.source}" if statement.source else ""
    return tr("The operator is `{operator}`{where}.", operator=statement.operator, where=called)


@say.register
def only_line(statement: statements.OnlyLine) -> str:
    """Return the line that makes a layer."""
    line, kind = statement.source, statement.kind
    return tr("{at} makes the `{kind}`: no other line does.", at=line, kind=kind)


@say.register
def found_by_scan(statement: statements.FoundByScan) -> str:
    """Return a finding of the scan, and whether its line ran."""
    ran = tr("Whether the line ran was not seen.")
    if statement.precedes:
        ran = tr("The line was executed before the first difference.")
    return sentences(tr("The scan: {message}.", message=statement.message), ran)


@say.register
def makes_seed(statement: statements.MakesSeed) -> str:
    """Say what number a line makes."""
    line = statement.source
    return tr("The scan: the number that {at} sets as a seed is made in this line.", at=line)
