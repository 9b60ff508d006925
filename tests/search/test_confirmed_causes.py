"""What runs that agree under a control confirm: a cause that this control can remove, for each
control and each cause.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from pathlib import Path

import pytest

from reprocheck.causes.cause import causes_of
from reprocheck.causes.usercode import UserCode
from reprocheck.model import RUNGS, Cause, Check, SourceLine
from reprocheck.model.controls import Touch, TouchedLine
from reprocheck.model.evidence import GivenOtherwise
from reprocheck.model.statements.search import ActedAt, Agreement, DiffersWithout, Sample
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.rules import catalogue, likely
from reprocheck.rules.likely import VAGUE
from reprocheck.search import order
from reprocheck.search.arm_runs import generator_of
from reprocheck.search.confirmed_causes import confirmed
from reprocheck.search.place import Place, _places
from reprocheck.settings import controls
from tests.causes.cause_ladders import GROSS, check, differing, ladder, write

ONE_THING = {
    "hash-seed": {"RC505", "RC506"},
    "fixed-addresses": {"RC507"},
    "file-order": {"RC103", "RC104", "RC105"},
    "fill-memory": {"RC303"},
    "cpu-rng": {"RC405"},
    "fresh-workdir": {"RC004", "RC101", "RC102", "RC103"},
}
"""Controls that take away one kind of difference, and the causes that are of this kind."""
PRIVATE = {"RC304", "RC407", "RC502", "RC504", "RC601", "RC705"}
"""Causes that name a generator of its own, which no seed of the default ones reaches."""
STREAM = SourceLine(
    file="rng.py", line=7, text="return jax.random.fold_in(jax.random.key(seed), hash(name))"
)
KEYS = {
    "generators": ["jax (rng.py:7)"],
    "seed_line": "rng.py:7",
}

AGREED = Agreement(
    names=("seed",),
    runs=2,
    arms=("1-seed",),
    exact=True,
    later=None,
    seen=Sample(runs=2, odd=1),
)


def one_cause(code: str) -> Cause:
    return Cause(
        code=code, title="It", confidence="observed", source=SourceLine(file="train.py", line=3)
    )


@pytest.mark.parametrize("control", [found.name for found in controls.table()])
def test_no_control_confirms_a_cause_that_it_cannot_remove(control: str) -> None:
    for known in catalogue():
        for rung in RUNGS:
            differs = check(ladder(rung), causes=(one_cause(known.code),))
            first, *others = confirmed(differs, [control], AGREED)
            assert first.confidence == "confirmed"
            assert likely.place_of(control, first.code) is not None, (known.code, rung)
            assert first.code in ONE_THING.get(control, {first.code}), (known.code, rung)
            assert control != "seed" or first.code not in PRIVATE, (known.code, rung)
            assert all(one.confidence != "confirmed" for one in others)


def test_the_lists_name_causes_and_controls_that_there_are() -> None:
    lists, known = likely.table(), {found.name for found in controls.table()}
    assert set(lists.implied) == known, "each control has a table [implied.NAME]"
    assert all("" in codes for codes in lists.implied.values())
    codes = chain(
        lists.causes, lists.instead, *(table.values() for table in lists.implied.values())
    )
    assert set(codes) <= {entry.code for entry in catalogue()}
    named = (*lists.causes.values(), *lists.rungs.values(), lists.hints.values(), lists.acts)
    by_nature = (lists.anew, lists.anew_where_shown, lists.many_values, lists.randomness)
    assert set(chain(*named, *by_nature, lists.accelerators, lists.start)) <= known
    assert set(lists.rungs) <= set(RUNGS)


def test_what_is_only_tried_for_a_cause_stands_in_its_list() -> None:
    """Else a line of the table would do nothing."""
    for code, names in likely.table().instead.items():
        assert set(names) < set(likely.table().causes[code])


def hash_of_a_name(**of_rung: object) -> Check:
    """The scan is sure of a line that ran before the first difference."""
    found = StaticFinding(
        code="RC505",
        name="hash-order",
        severity="error",
        message="`hash()` of a string differs in each process",
        source=STREAM,
        fix="zlib.crc32(name.encode())",
        executed="executed",
        precedes=True,
    )
    differs = check(
        ladder("RNG state", **{**KEYS, **of_rung}, source=STREAM, **GROSS), framework="jax"
    )
    differs = replace(differs, scan=StaticScan(findings=(found,), files=1))
    return replace(differs, causes=causes_of(differs, "."))


@pytest.fixture(autouse=True)
def _workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    ("facts", "code", "confidence"),
    [
        ({"seeded": ["jax (rng.py:7)"]}, "RC403", "suspected"),
        (
            {
                "seeded": ["jax (rng.py:7)"],
                "seeds": {"jax (rng.py:7)": (11, 12)},
                "folded": True,
            },
            "RC402",
            "observed",
        ),
    ],
)
def test_the_hash_seed_confirms_the_line_that_the_scan_names(
    facts: dict[str, object], code: str, confidence: str
) -> None:
    differs = hash_of_a_name(**facts)
    assert (differs.causes[0].code, differs.causes[0].confidence) == (code, confidence)
    first, *_ = confirmed(differs, ["hash-seed"], AGREED)
    assert (first.code, first.source, first.remedy) == (
        "RC505",
        STREAM,
        "zlib.crc32(name.encode())",
    )
    found = order.candidates(differs, Path("."))
    assert (found.likely[0], found.reasons["hash-seed"].code) == ("hash-seed", "RC505")
    assert order.sure_lines(differs, "hash-seed"), (
        "fewer runs exclude luck where the source speaks for a control"
    )


@pytest.mark.parametrize(("made", "code"), [(2, "RC604"), (None, "RC402")])
def test_a_control_that_acts_where_the_number_of_a_finding_is_made_confirms_it(
    made: int | None, code: str
) -> None:
    """The scan names the line that uses what the clock gave; the control acts on the one that asks
    the clock.
    """
    used, asked = SourceLine(file="train.py", line=9), SourceLine(file="train.py", line=2)
    origin = SourceLine(file="train.py", line=made) if made else None
    found = StaticFinding(
        code="RC604",
        name="unrecorded-input",
        severity="error",
        message="…",
        source=used,
        executed="executed",
        precedes=True,
        origin=origin,
    )
    differs = check(ladder("forward", **GROSS))
    suspect = replace(one_cause("RC604"), confidence="suspected", source=used)
    differs = replace(differs, scan=StaticScan(findings=(found,), files=1), causes=(suspect,))
    places = {"clock": (Place(line=asked, what="datetime.now"),)}
    first, *_ = confirmed(differs, ["clock"], AGREED, places=places)
    assert (first.code, first.confidence) == (code, "confirmed")


SOURCE = Place(
    line=SourceLine(file="dataset.py", line=25), what="GeneratorDataset(num_parallel_workers)"
)
MAP = Place(line=SourceLine(file="dataset.py", line=29), what="MapDataset(num_parallel_workers)")


def test_of_the_datasets_with_workers_the_one_that_draws_is_blamed() -> None:
    differs = check(
        ladder("batch", samples="other content", **GROSS),
        framework="mindspore",
    )
    first, *_ = confirmed(
        differs,
        ["single-worker"],
        AGREED,
        places={"single-worker": (SOURCE, replace(MAP, draws=True))},
    )
    assert (first.code, first.source) == ("RC509", MAP.line)
    assert first.statements[-1] == ActedAt(
        control="single-worker", at="dataset.py:29", what=MAP.what, first=False, draws=True
    )


@pytest.mark.parametrize(
    ("text", "acted", "line"),
    [
        ("noise = random.Random(os.getpid())\n", 3, 3),
        ("name = str(os.getpid())\nseed = hash(name)\nnoise = random.Random(seed)\n", 3, 4),
    ],
)
def test_a_control_of_what_is_read_speaks_for_the_seed_that_is_made_of_it(
    text: str, acted: int, line: int
) -> None:
    write(f"import os\nimport random\n{text}")
    facts = ladder("batch", samples="other content", worker=None, **GROSS)
    differs = replace(check(facts), causes=(replace(one_cause("RC504"), confidence="suspected"),))
    seed = UserCode(differs, Path(".")).seed_made_of(SourceLine(file="train.py", line=acted))
    place = Place(line=SourceLine(file="train.py", line=acted), what="os.getpid", seed=seed)
    first, *_ = confirmed(differs, ["entropy"], AGREED, places={"entropy": (place,)})
    assert (first.code, first.at) == ("RC402", f"train.py:{line}")


@pytest.mark.parametrize(
    ("generators", "line"), [(("numpy",), 9), (("python",), 5), (("torch",), 12), ((), 0)]
)
def test_a_cause_without_a_line_gets_the_one_that_draws_from_what_differs(
    generators: tuple[str, ...], line: int
) -> None:
    differs = check(ladder("batch", samples="other content", unused_generators=generators, **GROSS))
    drawing = {
        number: Place(line=SourceLine(file="train.py", line=number), what=what, draws=True)
        for number, what in (
            (5, "numbers drawn from random"),
            (9, "numbers drawn from numpy.random"),
            (12, "numbers drawn from torch"),
        )
    }
    first, *_ = confirmed(differs, ["seed"], AGREED, places={"seed": tuple(drawing.values())})
    assert first.source == (drawing[line].line if line else None)
    seen = replace(differs, causes=(one_cause("RC511"),))
    with_line, *_ = confirmed(seen, ["seed"], AGREED, places={"seed": tuple(drawing.values())})
    assert with_line.at == "train.py:3"


@pytest.mark.parametrize(
    ("control", "what", "code"),
    [
        ("private-rng", "numpy.default_rng", "RC407"),
        ("seed", "numbers drawn from numpy.random", "RC406"),
    ],
)
def test_what_the_program_draws_that_writes_the_data_is_its_own_cause(
    control: str, what: str, code: str
) -> None:
    """`python prepare.py; python train.py`: the training shows other samples alone."""
    made = GivenOtherwise(kind="input", made=True)
    writer = SourceLine(file="prepare.py", line=5)
    batch = differing("batch", samples="other content", unused_generators=("numpy",), **GROSS)
    of_files = differing("files and arguments", **GROSS)
    first = replace(of_files, source=writer, evidence=made)
    rungs = tuple(first if one.rung == first.rung else one for one in ladder("batch").rungs)
    rungs = tuple(batch if one.rung == "batch" else one for one in rungs)
    both = replace(ladder("batch"), rungs=rungs, first="files and arguments")
    line = SourceLine(file="prepare.py", line=3)
    seen = replace(one_cause("RC504"), confidence="suspected", source=line)
    differs = check(both, causes=(one_cause("RC103"), seen))
    place = Place(line=line, what=what, draws=True)
    first_cause, *others = confirmed(differs, [control], AGREED, places={control: (place,)})
    assert (first_cause.code, first_cause.at) == (code, "prepare.py:3")
    assert [one.code for one in others] == ["RC103"]


def test_where_nothing_shows_which_of_them_it_is_all_are_named() -> None:
    differs = check(
        ladder("batch", samples="other content", **GROSS),
        framework="mindspore",
    )
    first, *_ = confirmed(
        differs, ["single-worker"], AGREED, places={"single-worker": (SOURCE, MAP)}
    )
    assert first.source == SOURCE.line
    assert first.statements[-1] == ActedAt(
        control="single-worker",
        at="dataset.py:25",
        what=SOURCE.what,
        first=True,
        draws=False,
        others=(("dataset.py:29", MAP.what),),
    )


def test_what_the_scan_is_sure_of_and_saw_run_is_tried_first() -> None:
    write("import numpy\nbatch = numpy.empty(3)\n")
    differs = check(ladder("batch", samples="other content", worker=None, **GROSS))
    differs = replace(differs, causes=causes_of(differs, "."))
    assert order.candidates(differs, Path(".")).likely[0] == "fill-memory"
    sure = replace(differs, scan=hash_of_a_name().scan)
    found = order.candidates(sure, Path("."))
    assert found.likely[0] == "hash-seed"
    assert found.reasons["hash-seed"].code == "RC505"


def test_a_recorded_cause_goes_before_what_the_scan_is_sure_of() -> None:
    differs = replace(hash_of_a_name(), causes=(replace(one_cause("RC402"), source=None),))
    assert "RC402" not in VAGUE
    assert "RC505" not in order.candidates(differs, Path(".")).reasons.get("hash-seed", "")


def two_lines() -> Check:
    """A cause was recorded on line 6; the scan is sure of another one, on a line of its own."""
    at = SourceLine(file="train.py", line=8, text="noise = np.random.default_rng()")
    found = StaticFinding(
        code="RC407",
        name="generator-without-seed",
        severity="error",
        message="`default_rng()` starts from the operating system",
        source=at,
        fix="noise = np.random.default_rng(0)",
        executed="executed",
        precedes=True,
    )
    seen = replace(one_cause("RC301"), source=SourceLine(file="train.py", line=6))
    differs = check(ladder("initial weights"), causes=(seen,))
    return replace(differs, scan=StaticScan(findings=(found,), files=1))


def test_a_control_confirms_what_stands_on_the_line_on_which_it_acted() -> None:
    """A model before the seed, and a generator without one: a control of the second is no proof of
    the first.
    """
    differs = two_lines()
    place = Place(line=SourceLine(file="train.py", line=8), what="numpy.default_rng", draws=True)
    both = confirmed(differs, ["seed", "private-rng"], AGREED, places={"private-rng": (place,)})
    assert [(one.code, one.at, one.confidence) for one in both] == [
        ("RC301", "train.py:6", "confirmed"),
        ("RC407", "train.py:8", "confirmed"),
    ]
    alone, other = confirmed(differs, ["private-rng"], AGREED, places={"private-rng": (place,)})
    assert (alone.code, alone.at, alone.confidence) == ("RC407", "train.py:8", "confirmed")
    assert (other.code, other.confidence) == ("RC301", "observed"), "it is still told"


def test_a_control_beside_others_confirms_what_the_scan_finds_behind_the_first_difference() -> None:
    """Draws for as long as a clock allows: the scan stands on the draw, the control acted on the
    line that asks the clock.
    """
    draws = StaticFinding(
        code="RC403",
        name="shifted-stream",
        severity="error",
        message="torch.rand is called as often as the clock allows",
        source=SourceLine(file="train.py", line=23),
        executed="entered",
        precedes=None,
    )
    clock = Place(line=SourceLine(file="train.py", line=21), what="time.time")
    weights = check(ladder("initial weights", **GROSS), causes=(one_cause("RC302"),))
    weights = replace(weights, scan=StaticScan(findings=(draws,), files=1))
    found = confirmed(weights, ["seed", "clock"], AGREED, places={"clock": (clock,)})
    assert [(one.code, one.source and one.source.line) for one in found] == [
        ("RC302", 3),
        ("RC403", 23),
    ]
    assert {one.confidence for one in found} == {"confirmed"}


def test_memory_that_nobody_filled_has_the_line_that_asked_for_it() -> None:
    built, asked = SourceLine(file="model.py", line=11), SourceLine(file="train.py", line=18)
    cause = Cause(code="RC303", title="It", confidence="suspected", source=built)
    differs = check(ladder("initial weights", source=built), causes=(cause,))
    places = {"fill-memory": (Place(line=asked, what="aten::empty"),)}
    first, *_ = confirmed(differs, ["fill-memory"], AGREED, places=places)
    assert (first.code, first.source) == ("RC303", asked)


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ('model.to_empty(device="cpu")', True),
        ("scale = nn.Parameter(torch.empty(64))", True),
        ("values = torch.Tensor(3, 4)", True),
        ("noise.resize_(8)", True),
        ("loss = model(batch).mean()", False),
    ],
)
def test_a_kernel_that_allocates_names_a_line_that_asks_for_unfilled_memory(
    text: str, is_named: bool, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text(f"{text}\n")
    line = SourceLine(file="train.py", line=1)
    touch = Touch(
        control="fill-memory", what="aten::empty", count=1, lines=(TouchedLine(source=line),)
    )
    code = UserCode(check(ladder("initial weights")), tmp_path)
    assert bool([*_places([touch], "fill-memory", code)]) == is_named


@pytest.mark.parametrize(("rung", "code"), [("loss", "RC406"), ("initial weights", "RC301")])
def test_a_draw_of_the_scripts_is_no_draw_of_a_layer(rung: str, code: str) -> None:
    line = SourceLine(file="train.py", line=12)
    place = Place(line=line, what="numbers drawn from torch", draws=True)
    differs = check(ladder(rung, unused_generators=("torch",), **GROSS))
    first, *_ = confirmed(differs, ["seed"], AGREED, places={"seed": (place,)})
    assert first.code == code


@pytest.mark.parametrize(
    ("what", "generator"),
    [
        ("numbers drawn from numpy.random", "numpy.random"),
        ("the seed of torch, which the script reads", "torch"),
        ("state of random in a fork", "random"),
        ("random.seed in a forked process", "random"),
        ("tf.random.set_seed", "tf"),
        ("mindspore.dataset.config.set_seed", "mindspore"),
    ],
)
def test_the_generator_of_what_the_control_seed_did(what: str, generator: str) -> None:
    assert generator_of(what) == generator


def test_each_generator_that_is_needed_has_the_cause_of_its_own_line() -> None:
    """The framework's comes first, and takes nothing that NumPy draws; one that draws at no line is
    none of the causes.
    """
    seen = replace(one_cause("RC406"), source=SourceLine(file="train.py", line=13))
    differs = check(ladder("loss", unused_generators=("torch", "numpy"), **GROSS), causes=(seen,))
    places = [
        Place(line=SourceLine(file="train.py", line=line), what=what, draws=True)
        for line, what in (
            (13, "numbers drawn from numpy.random"),
            (20, "numbers drawn from torch"),
        )
    ]
    causes = confirmed(
        differs,
        ["seed"],
        AGREED,
        places={"seed": places},
        needed={"seed": ("torch", "numpy.random", "random")},
    )
    assert [(one.at, one.confidence) for one in causes] == [
        ("train.py:20", "confirmed"),
        ("train.py:13", "confirmed"),
    ]
    assert causes[1].statements[1] == DiffersWithout(name="seed", place="numpy.random")


def test_each_line_that_is_needed_is_a_cause() -> None:
    places = [
        Place(line=SourceLine(file="train.py", line=line), what="random.Random without a seed")
        for line in (5, 8, 9)
    ]
    first, second = confirmed(
        check(ladder("loss", **GROSS)),
        ["private-rng"],
        AGREED,
        places={"private-rng": places},
        needed={"private-rng": ("train.py:5", "train.py:9")},
    )
    assert (first.at, second.at) == ("train.py:5", "train.py:9")
