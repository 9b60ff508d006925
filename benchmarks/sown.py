"""Checks in which secrets are planted: in every place where text can enter what a check shows.

Places with a name of their own are those that a user would think of. The others are the rows of the
list that decides what leaves (`reprocheck.redaction.fields`), class by class: a text for which that
list has no row never leaves.
"""

from __future__ import annotations

import random
from array import array
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import partial
from typing import Any

from benchmarks.planted import KINDS, Draw, Planted, Sender, planted, sender
from reprocheck.model import (
    RUNGS,
    Arm,
    Between,
    Bitwise,
    Cause,
    Check,
    CheckRecord,
    Comparison,
    Conflict,
    ControlTrace,
    DeeperPair,
    Divergence,
    Drift,
    EntryPoint,
    EnvironmentDifference,
    FileChanges,
    FilesAfter,
    Ladder,
    Lead,
    OutcomeGroup,
    Outcomes,
    Override,
    Process,
    Run,
    Rung,
    RungName,
    RunRecord,
    Search,
    Series,
    SeriesComparison,
    SeriesPlace,
    Setting,
    Side,
    SourceDifference,
    SourceLine,
    Tolerance,
    Touch,
    Trace,
    Tried,
    Verdict,
)
from reprocheck.model.reason import Reason
from reprocheck.model.replay import Replay
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.model.trace import Checked, LossSeries
from reprocheck.redaction.fields import FIELDS, TABLES, How, rows

_IN_LOGS = (
    "connecting with {}",
    "INFO:root:token={} epoch=1",
    "[rank0] using {} for upload",
    "{}",
    'config: {{"endpoint": "{}", "retries": 3}}',
)
_IN_SOURCE = (
    'client = Client("{}")',
    "login(key='{}')",
    "# ask {} before changing this",
    'os.environ["REMOTE"] = "{}"  # noqa',
)
_IN_TRACEBACKS = (
    'Traceback (most recent call last):\n  File "train.py", line 12, in <module>\n    main()\n'
    "ValueError: cannot reach {}",
    "RuntimeError: 401 Client Error for {}\n",
)
_IN_NOTEBOOKS = ("Out[3]: '{}'", "<Figure size 640x480>\n{}\n", "{{'key': '{}'}}")
_IN_ARGUMENTS = ("{}", "--note={}", "note={}")
_IN_PATHS = ("data/{}/train.bin", "/srv/{}/train.bin", "~/runs/{}.pt")
_IN_NAMES = ("{}", "metric/{}", "blocks.0.{}")
_IN_SENTENCES = (
    "The runs differ in `{}`, which run 1 read.",
    "{} was read in run 2.",
    "It is `{}` in run 1 and nothing in run 2.",
)
_IN_FACTS = ("torch.note", "numpy.blas", "package.torch", "variable.EXPERIMENT", "git.remote")
_FORMS: Mapping[How, Sequence[str]] = {
    "name": _IN_NAMES,
    "path": _IN_PATHS,
    "arguments": _IN_ARGUMENTS,
    "sentence": _IN_SENTENCES,
    "text": (*_IN_LOGS, *_IN_SOURCE),
    "log": _IN_LOGS,
    "value": ("{}",),
    "facts": ("{}",),
    "versions": ("{}", "2.13.0+{}"),
    "settings": ("{}", "runs/{}"),
}
"""What stands around a text in a field, by the way in which the field leaves."""
Place = Callable[[Check, str, Draw], Check]


def one_line(text: str) -> str:
    """A secret as it stands in an argument, a variable or a name: line ends escaped."""
    return text.replace("\n", "\\n")


def _filled(forms: Sequence[str], text: str, draw: Draw) -> str:
    return draw.choice(forms).format(text)


def _first(thing: Any, kind: str, change: Callable[[Any], Any]) -> Any:
    """A thing with the first object of a class in it changed; the thing itself where there is
    none.
    """
    if type(thing).__name__ == kind:
        return change(thing)
    if isinstance(thing, tuple):
        return _first_of(thing, kind, change)
    if not is_dataclass(thing) or isinstance(thing, type):
        return thing
    for field in fields(thing):
        old = getattr(thing, field.name)
        new = _first(old, kind, change)
        if new is not old:
            return replace(thing, **{field.name: new})  # type: ignore[type-var]
    return thing


def _first_of(things: tuple[Any, ...], kind: str, change: Callable[[Any], Any]) -> Any:
    for index, old in enumerate(things):
        new = _first(old, kind, change)
        if new is not old:
            return (*things[:index], new, *things[index + 1 :])
    return things


def _changed(check: Check, kind: str, **values: object) -> Check:
    """The check with fields of the first object of a class changed."""
    changed: Check = _first(check, kind, lambda one: replace(one, **values))
    return changed


# --------------------------------------------------------------------------- places that have names


def _argument(check: Check, text: str, draw: Draw) -> Check:
    word = _filled(_IN_ARGUMENTS, one_line(text), draw)
    command = (*check.record.entry_point.command, "--name", word)
    return _changed(check, "EntryPoint", command=command)


def _variable(check: Check, text: str, draw: Draw) -> Check:
    facts = {**check.record.environment, "variable.EXPERIMENT": one_line(text)}
    return _changed(check, "CheckRecord", environment=facts)


def _host(check: Check, text: str, draw: Draw) -> Check:
    fact = draw.choice(("host.name", "platform.kernel", "variable.MASTER_ADDR"))
    facts = {**check.record.environment, fact: one_line(text)}
    said = f"Node 1 is {one_line(text)}."
    changed = _changed(check, "CheckRecord", environment=facts)
    return replace(changed, coverage=(*check.coverage, said))


def _path(check: Check, text: str, draw: Draw) -> Check:
    path = _filled(_IN_PATHS, one_line(text), draw)
    return replace(
        _changed(check, "FileChanges", created=(path,)), state_left=(path,), state_alike=()
    )


def _log(check: Check, text: str, draw: Draw) -> Check:
    shown = _filled(_IN_LOGS, text, draw)
    return _changed(check, "Run", stdout_tail=f"{check.runs[0].stdout_tail}{shown}\nepoch 2\n")


def _traceback(check: Check, text: str, draw: Draw) -> Check:
    return _changed(check, "Run", stderr_tail=_filled(_IN_TRACEBACKS, text, draw))


def _source(check: Check, text: str, draw: Draw) -> Check:
    line = SourceLine(file="train.py", line=7, text=_filled(_IN_SOURCE, one_line(text), draw))
    return _changed(check, "Cause", source=line)


def _notebook(check: Check, text: str, draw: Draw) -> Check:
    shown = _filled(_IN_NOTEBOOKS, text, draw)
    return _changed(check, "Run", stdout_tail=f"{check.runs[0].stdout_tail}{shown}\n")


def _series(check: Check, text: str, draw: Draw) -> Check:
    name = _filled(_IN_NAMES, one_line(text), draw)
    renamed = {"name": name, "reported": name}
    runs = tuple(_changed_run(run, name) for run in check.runs)
    return replace(_changed(check, "SeriesComparison", **renamed), runs=runs)


def _changed_run(run: Run, name: str) -> Run:
    changed: Run = _first(run, "Series", lambda one: replace(one, name=name))
    return changed


def _module(check: Check, text: str, draw: Draw) -> Check:
    name = _filled(_IN_NAMES, one_line(text), draw)
    detail = f"The inputs of `{name}` (Linear) agree, its output differs."
    said = f"In iteration 1 `{name}` (Linear) returns another output for the same inputs."
    return _on_rung(check, "forward", place=name, detail=detail, said=said)


def _hyper_parameter(check: Check, text: str, draw: Draw) -> Check:
    value = one_line(text)
    detail = f"`betas` of `AdamW` is `{value}` in run 1 and `0.9` in run 2."
    said = f"In iteration 1 the hyper-parameter `betas` of `AdamW` is `{value}` in run 1 alone."
    return _on_rung(check, "hyper-parameters", place=f"AdamW.{value}", detail=detail, said=said)


def _on_rung(check: Check, name: RungName, *, place: str, detail: str, said: str) -> Check:
    assert check.ladder is not None
    rungs = tuple(
        replace(rung, status="differs", place=place, detail=detail) if rung.rung == name else rung
        for rung in check.ladder.rungs
    )
    ladder = replace(check.ladder, rungs=rungs, sentence=said)
    lead = replace(_LEAD, rung=name, sentence=said)
    return replace(check, ladder=ladder, lead=lead)


def _script(check: Check, text: str, draw: Draw) -> Check:
    name, further = one_line(text), check.record.entry_point.command[2:]
    return _changed(check, "EntryPoint", command=("python", f"{name}.py", *further), name=name)


def _remote(check: Check, text: str, draw: Draw) -> Check:
    remote = f"https://git.example.org/{one_line(text)}/repo.git"
    facts = {**check.record.environment, "git.remote": remote}
    coverage = (*check.coverage, f"The repository {remote} was read.")
    return replace(_changed(check, "CheckRecord", environment=facts), coverage=coverage)


def _setting(check: Check, text: str, draw: Draw) -> Check:
    name, form = draw.choice([("output", "runs/{}"), ("python", "{}"), ("fail_on", "series:{}")])
    setting = Setting(name=name, value=form.format(one_line(text)), origin=f"--{name}")
    return _changed(check, "CheckRecord", settings=(setting,))


def _operation(check: Check, text: str, draw: Draw) -> Check:
    assert check.ladder is not None
    given = repr(one_line(text))
    module = Replay(
        framework="torch", name="torch.nn.Dropout", of="module", arguments=(), constructor=given
    )
    return replace(check, ladder=replace(check.ladder, replay=module))


NAMED: Mapping[str, Place] = {
    "argument": _argument,
    "environment variable": _variable,
    "host name": _host,
    "path": _path,
    "log": _log,
    "traceback": _traceback,
    "source line": _source,
    "notebook output": _notebook,
    "series name": _series,
    "module name": _module,
    "hyper-parameter": _hyper_parameter,
    "script name": _script,
    "git remote": _remote,
    "setting": _setting,
    "replay.py": _operation,
}


# ----------------------------------------------------------------------------- the rows of the list


def _in_field(kind: str, names: Sequence[str], check: Check, text: str, draw: Draw) -> Check:
    """A text in one of the fields of the first object of a class."""
    return in_field(check, kind, draw.choice(names), text, draw)


def in_field(check: Check, kind: str, name: str, text: str, draw: Draw) -> Check:
    """A text in a field of the first object of a class; the check itself where there is none."""
    changed: Check = _first(check, kind, lambda one: _with_text(one, name, text, draw))
    return changed


def _with_text(thing: Any, name: str, text: str, draw: Draw) -> Any:
    how = FIELDS[type(thing).__name__, name]
    if how != "text":
        text = one_line(text)
    if how == "facts":
        return _with_fact(thing, name, text, draw)
    shown, old = _filled(_FORMS[how], text, draw), getattr(thing, name)
    if how == "arguments":
        return replace(thing, **{name: (*old, shown)})
    return replace(thing, **{name: _shaped(old, shown)})


def _shaped(old: object, text: str) -> object:
    """A text as the field holds it."""
    if isinstance(old, Mapping):
        return {**old, "torch": text}
    if isinstance(old, tuple) and old and isinstance(old[0], tuple):
        return ((old[0][0], text),)
    if isinstance(old, tuple):
        return (text, *old)
    return text


def _with_fact(thing: Any, name: str, text: str, draw: Draw) -> Any:
    fact = draw.choice(_IN_FACTS)
    if isinstance(thing, EnvironmentDifference):
        return replace(thing, key=fact, reference=text)
    return replace(thing, **{name: {**getattr(thing, name), fact: text}})


def _rows() -> Iterator[tuple[str, Place]]:
    """A place for each class in which text can leave, with all of its fields."""
    for kind, ways in TABLES.check.items():
        names = [name for (_, name), how in rows({kind: ways}) if how != "as is"]
        if names:
            yield f"fields of {kind}", partial(_in_field, kind, names)


PLACES: Mapping[str, Place] = {**NAMED, **dict(_rows())}
"""Place -> what plants a text there."""


# ------------------------------------------------------------------------------------ a plain check


def plain() -> Check:
    """A check that fails, with something in each part of the result model."""
    losses = "The loss of iteration 1 differs by 0.5 between run 1 and run 2."
    rows = (
        Comparison(
            iteration=1,
            kind="forward",
            run=2,
            rank=0,
            loss_index=0,
            passed=False,
            max_difference=0.5,
            allowed=0.003,
            ulp=12345,
        ),
    )
    verdict = Verdict(
        verdict="not_reproducible",
        failed_check="forward",
        reason=losses,
        exit_code=1,
        comparisons=rows,
        bitwise=Bitwise(equal=False, first_iteration=1, ulp=12345),
        first_divergence=Divergence(iteration=1, run=2, rank=0, reference=2.0, value=2.5),
        outcomes=Outcomes(
            groups=(OutcomeGroup(runs=(1,)), OutcomeGroup(runs=(2,))), bound=None, statement=""
        ),
        series=(_differing_series(),),
    )
    return Check(
        record=_record(),
        runs=(_run(1, 0.0), _run(2, 0.5)),
        verdict=verdict,
        environment_differences=(_THREADS,),
        state_left=("last.pt",),
        state_caveat="Run 2 read what run 1 left.",
        ladder=_ladder(),
        lead=_LEAD,
        causes=(_CAUSE,),
        search=_search(),
        scan=_scan(),
    )


def compared() -> Check:
    """The same as a comparison of two recordings."""
    check = plain()
    side = Side(
        name="a.zip",
        entry_point=check.record.entry_point,
        started=check.record.started,
        reprocheck_version="0.1.0",
        settings=check.record.settings,
        environment=check.record.environment,
        runs=check.record.runs,
    )
    sources = (SourceDifference(file="train.py", diff="-lr = 0.1\n+lr = 0.2\n"),)
    drift = Drift(
        name="threads",
        title="number of threads",
        expects="rounding",
        why="A sum is rounded in another way.",
        reference="",
        differences=(_THREADS,),
    )
    between = Between(sentence="The sides differ in source.", drift=(drift,), sources=sources)
    return replace(
        check,
        record=replace(check.record, compared=(side, replace(side, name="b.zip"))),
        between=between,
    )


_LINE = SourceLine(file="train.py", line=7, text="rng = default_rng()")
_THREADS = EnvironmentDifference(key="torch.threads", run=2, reference=2, value=4)
_CAUSE = Cause(
    code="RC604",
    title="An input differs, and what produced it was not recorded",
    confidence="observed",
    evidence=("The loss differs.",),
    fix="Print the input in two runs.",
)


def _numbers(offset: float) -> LossSeries:
    return LossSeries(
        values=array("d", [2.0 - step / 10 + offset for step in range(10)]),
        dtype_of=array("B", bytes(10)),
        dtypes=("float32",),
        ends=array("q", range(1, 11)),
    )


def _differing_series() -> SeriesComparison:
    place = SeriesPlace(number=1, iteration=1, step=1.0, run=2, rank=0, reference=2.0, value=2.5)
    return SeriesComparison(
        name="val_loss",
        reported="val_loss",
        by="tensorboard",
        state="differs",
        values=10,
        first_unequal=place,
        first_outside=place,
        max_difference=0.5,
        allowed=0.003,
    )


def _run(number: int, offset: float) -> Run:
    losses = _numbers(offset)
    process = Process(pid=1, ppid=0, argv=("train.py",), python="3.11.7", name="MainProcess")
    series = Series(
        name="val_loss",
        by="tensorboard",
        numbers=losses,
        iterations=array("q", range(1, 11)),
        steps=array("d", range(1, 11)),
    )
    trace = Trace(
        rank=0,
        process=process,
        losses=losses,
        series=(series,),
        forward=Checked(kind="forward", iteration=1, start=0, end=1),
        backward=Checked(kind="backward", iteration=2, start=1, end=2),
        frameworks={"torch": "2.13.0"},
        environment={"torch.version": "2.13.0", "torch.threads": 2},
    )
    touch = Touch(control="private-rng", what="numpy.random.default_rng", value=17, source=_LINE)
    override = Override(control="seed", what="torch.manual_seed", old=3, new=0, source=_LINE)
    conflict = Conflict(control="tf32", what="allow_tf32", value=True, wanted=False, source=_LINE)
    controls = ControlTrace(
        touches=(touch,),
        overrides=(override,),
        conflicts=(conflict,),
        unavailable=(("seed", "no such generator"),),
    )
    return Run(
        record=_run_record(number),
        traces=(trace,),
        processes=(process,),
        controls=controls,
        stdout_tail="epoch 1 loss 2.0\n",
    )


def _run_record(number: int) -> RunRecord:
    return RunRecord(
        number=number,
        ended="completed",
        exit_status=0,
        started="2026-05-04T10:11:12+00:00",
        seconds=2.5,
        trace=f"run-{number}/trace",
        stdout=f"run-{number}/stdout.log",
        stderr=f"run-{number}/stderr.log",
        files=FileChanges(created=("last.pt",)),
    )


def _record() -> CheckRecord:
    entry = EntryPoint(command=("python", "train.py", "--lr", "0.1"), kind="script", name="train")
    records = (_run_record(1), _run_record(2))
    return CheckRecord(
        reprocheck_version="0.1.0",
        entry_point=entry,
        started="2026-05-04T10:11:12+00:00",
        tolerance=Tolerance(),
        settings=(Setting(name="runs", value=2, origin="default"),),
        runs=records,
        environment={"platform.system": "Linux", "cpu.count": 8, "python.version": "3.11.7"},
        deeper=(DeeperPair(level="op", iterations=2, runs=records, inside="fc"),),
        controls=("private-rng",),
        arms=(
            Arm(name="as-is", controls=(), runs=records, why="To see the difference again."),
            Arm(
                name="2-entropy",
                controls=("entropy",),
                runs=records,
                fixes=("RC402 train.py:3",),
                reference=("RC402 train.py:3",),
                spared=("entropy@train.py:3",),
                reason=Reason(
                    key="not at a place", names=("RC402 train.py:3",), place="train.py:3"
                ),
            ),
        ),
        files_after=(FilesAfter(put_back=("data.bin",), others=("notes.txt",)),),
    )


_SAID = "In iteration 1 `fc` (Linear) returns another output for the same inputs."
_LEAD = Lead(rung="forward", source=_LINE, sentence=_SAID)


def _ladder() -> Ladder:
    rungs = (Rung(rung=name, status="differs" if name == "forward" else "equal") for name in RUNGS)
    return Ladder(
        rungs=tuple(rungs),
        first="forward",
        sentence=_SAID,
    )


def _search() -> Search:
    tried = Tried(controls=("private-rng",), runs=3, agrees=True, bitwise=True, note="tried first")
    touch = Touch(control="private-rng", what="numpy.random.default_rng", value=17, source=_LINE)
    return Search(
        tried=(tried,),
        smallest=("private-rng",),
        sentence="The runs agree under `private-rng`.",
        confidence="3 of 3 runs agree.",
        fix="rng = default_rng(0)",
        patch="--- a/train.py\n+++ b/train.py\n@@ -7 +7 @@\n-rng\n+rng0\n",
        touches=(touch,),
        unavailable=(("seed", "no such generator"),),
    )


def _scan() -> StaticScan:
    finding = StaticFinding(
        code="RC103",
        name="unseeded-numpy",
        severity="error",
        message="`default_rng()` has no seed.",
        source=_LINE,
        fix="default_rng(0)",
        executed="executed",
        precedes=True,
    )
    return StaticScan(findings=(finding,), files=1, lines=20)


# ------------------------------------------------------------------------------------ many of them


@dataclass(frozen=True, slots=True)
class Sown:
    """A check, whose it is, and what is planted in it, by place."""

    check: Check
    whose: Sender
    secrets: Mapping[str, Planted]


def sown(seed: int) -> Iterator[Sown]:
    """Checks without end: a secret in each place of each, each kind as often as another.

    Of two that would stand in the same field the later one counts.
    """
    draw = random.Random(seed)
    while True:
        yield _sown(draw)


def text_of_fields(check: Check) -> str:
    """Return all that the fields of a check hold: its own `repr` is one line."""
    return repr([getattr(check, one.name) for one in fields(check)])


def _sown(draw: Draw) -> Sown:
    check, whose = draw.choice((plain, compared))(), sender(draw)
    kinds = draw.sample([*KINDS, *KINDS], len(PLACES))
    secrets: dict[str, Planted] = {}
    for place, kind in zip(PLACES, kinds, strict=True):
        secrets[place] = planted(kind, draw, whose)
        check = PLACES[place](check, secrets[place].text, draw)
    holds = text_of_fields(check)
    still_there = {
        place: one for place, one in secrets.items() if all(part in holds for part in one.needles)
    }
    return Sown(check, whose, still_there)
