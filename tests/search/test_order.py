"""Which control the search tries first: what a line says where the runs diverge goes before everything
else.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest

from reprocheck.causes.cause import causes_of
from reprocheck.causes.scan_findings import suspected
from reprocheck.causes.usercode import UserCode
from reprocheck.model import Cause, Check, SourceLine
from reprocheck.model.evidence import GivenOtherwise, InputsDiffer, Loaded, WeightWritten
from reprocheck.model.static import StaticFinding, StaticScan
from reprocheck.rules import entry
from reprocheck.search import order
from reprocheck.search.confirmed_causes import confirmed
from reprocheck.search.place import Place
from reprocheck.wording import say
from tests.causes.cause_ladders import GROSS, STATES, check, ladder, write
from tests.search.test_confirmed_causes import AGREED

CLOCK_IN_LAYER = """import random, time, torch
class Mask(torch.nn.Module):
    def forward(self, x):
        generator = torch.Generator()
        generator.manual_seed(time.time_ns())
        return x * torch.rand(x.shape, generator=generator)
"""
SEED_DRAWN = """import random, time, torch
started = time.time()
seed = random.randint(1, 9999)
torch.manual_seed(seed)
"""


@pytest.fixture(autouse=True)
def _workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def with_causes(differs: Check) -> Check:
    return replace(differs, causes=causes_of(differs, "."))


def test_a_clock_that_a_layer_reads_is_tried_first() -> None:
    write(CLOCK_IN_LAYER)
    facts = {"class_": "Mask", "given_generator": True}
    differs = with_causes(
        check(ladder("forward", **facts, source=SourceLine(file="train.py", line=6), **GROSS))
    )
    assert order.candidates(differs, Path(".")).likely[0] == "clock"


def test_a_clock_by_which_weights_are_written_is_tried_first() -> None:
    """Noise without a seed would do the same, and no line makes any."""
    write("import time\nweight.data.mul_(time.time() % 1)\n")
    differs = with_causes(check(ladder("update", evidence=WeightWritten(), **GROSS)))
    assert differs.causes[0].code == "RC904"
    assert order.candidates(differs, Path(".")).likely[0] == "clock"


def test_a_seed_that_another_generator_draws_is_removed_by_seeding_that_one() -> None:
    """The recorded seeds say that the seed differs: that is the cause, and not that nothing was
    seeded.
    """
    write(SEED_DRAWN)
    facts = {
        **STATES,
        "seeded": ["torch"],
        "seeds": {"torch": (2540, 9591)},
        "seed_line": "train.py:4",
    }
    differs = with_causes(
        check(
            ladder("initial weights", **facts, source=SourceLine(file="train.py", line=4), **GROSS)
        )
    )
    assert order.candidates(differs, Path(".")).likely[0] == "seed"
    found = confirmed(differs, ["seed"], AGREED)
    assert (found[0].code, found[0].confidence) == ("RC402", "confirmed")
    seeds = "The torch generator was seeded with 2540 in run 1 and 9591 in run 2."
    assert seeds in map(say, found[0].statements)


@pytest.mark.parametrize("loaded", ["", "start.pt"])
def test_a_seed_of_this_process_says_nothing_of_weights_that_it_loads(loaded: str) -> None:
    facts = {
        "seeded": ["torch"],
        "generators": [],
        "loaded": Loaded(file=loaded) if loaded else None,
    }
    differs = check(ladder("initial weights", **facts, **GROSS))
    cause = Cause(code="RC301", title="…", confidence="suspected", evidence=(), fix="")
    likely = order.candidates(replace(differs, causes=(cause,)), Path(".")).likely
    assert (likely[0] == "seed") is bool(loaded)


@pytest.mark.parametrize(("code", "first"), [("RC406", "seed"), ("RC401", "private-rng")])
def test_a_draw_that_nothing_seeds_is_seeded_from_outside_first_whatever_the_script_seeds_elsewhere(
    code: str, first: str
) -> None:
    facts = {"seeded": ["numpy"], "seeds": {"numpy": (1, 2)}}
    differs = check(ladder("initial weights", **facts, **GROSS))
    cause = Cause(code=code, title="…", confidence="suspected", evidence=(), fix="")
    assert order.candidates(replace(differs, causes=(cause,)), Path(".")).likely[0] == first


def test_memory_is_tried_before_addresses() -> None:
    write("import numpy as np\nrows = np.empty((8, 4))\norder = sorted(parts, key=id)\n")
    differs = with_causes(check(ladder("batch", samples="other content", worker=None)))
    found = order.candidates(differs, Path("."))
    assert found.likely[0] == "fill-memory"
    assert found.harmless.index("fill-memory") < found.harmless.index("fixed-addresses")


DRAWN_AT_IMPORT = SourceLine(file="encoding.py", line=8)
VICTIM = SourceLine(file="trainer.py", line=26)


def with_a_draw_before_the_seed() -> Check:
    """The inputs of the model differ and nothing recorded made them; the scan finds a draw that ran
    before.
    """
    drawn = StaticFinding(
        code="RC406",
        name="unseeded-draw",
        severity="warning",
        message="torch.randn draws here, before torch is seeded",
        source=DRAWN_AT_IMPORT,
        fix="seed it earlier",
        executed="executed",
        precedes=True,
    )
    facts = {"class_": "Linear", "evidence": InputsDiffer(), "dtype": "float32"}
    differs = with_causes(check(ladder("forward", **facts, source=VICTIM, **GROSS)))
    differs = replace(differs, scan=StaticScan(findings=(drawn,), files=2))
    return replace(differs, causes=suspected(differs))


def test_the_control_of_what_the_scan_found_is_tried_first_and_confirms_it_on_its_line() -> None:
    differs = with_a_draw_before_the_seed()
    assert order.candidates(differs, Path(".")).likely[0] == "seed"
    first, *_ = confirmed(differs, ["seed"], AGREED)
    assert (first.code, first.confidence, first.source, first.remedy) == (
        "RC406",
        "confirmed",
        DRAWN_AT_IMPORT,
        "seed it earlier",
    )


def test_a_seed_that_is_the_hash_of_a_text_is_removed_by_fixing_hashes() -> None:
    """The scan calls it a seed that differs, for which a clock is the nearest source."""
    write("import torch\ngenerator = torch.Generator().manual_seed(hash(name) % 99)\n")
    line = SourceLine(file="train.py", line=2)
    found = StaticFinding(
        code="RC402",
        name="clock-seed",
        severity="error",
        message="the seed comes from the hash of a string",
        source=line,
        executed="executed",
        precedes=True,
    )
    batch = ladder("batch", samples="other content", source=line, **GROSS)
    differs = replace(check(batch), scan=StaticScan(findings=(found,), files=1))
    assert order.candidates(with_causes(differs), Path(".")).likely[0] == "hash-seed"


def test_of_what_can_come_from_several_places_the_control_of_the_line_is_tried_first() -> None:
    """The scan is sure of the line that uses what a clock gave, and names the one that asks it."""
    write(CLOCK_IN_LAYER)
    asked, used = SourceLine(file="train.py", line=5), SourceLine(file="train.py", line=6)
    found = StaticFinding(
        code="RC604",
        name="unrecorded-input",
        severity="error",
        message="this holds the clock",
        source=used,
        origin=asked,
        executed="executed",
        precedes=True,
    )
    differs = with_causes(check(ladder("loss", source=used, **GROSS)))
    differs = replace(differs, scan=StaticScan(findings=(found,), files=1))
    tried = order.candidates(differs, Path("."))
    assert tried.likely[0] == "clock"
    assert tried.reasons["clock"].code == "RC604"


def test_suspects_are_one_control_for_each_source_that_the_scan_finds_and_the_runs_passed() -> None:
    differs = with_a_draw_before_the_seed()
    (drawn,) = differs.scanned.findings
    other = replace(drawn, code="RC505", name="set-order", severity="error", precedes=False)
    passed_over = replace(drawn, code="RC508", name="arrival-order", executed="not_executed")
    worth_knowing = replace(drawn, code="RC303", name="uninitialised-memory", severity="note")
    scan = StaticScan(findings=(drawn, other, passed_over, worth_knowing), files=2)
    suspects = order.candidates(replace(differs, scan=scan), Path(".")).suspects
    assert {"seed", "hash-seed"} <= set(suspects)
    assert {"single-worker", "fill-memory"}.isdisjoint(suspects)


def test_what_was_given_from_outside_is_not_searched_among_what_alters_the_training() -> None:
    given = GivenOtherwise(kind="variable")
    differs = with_causes(check(ladder("files and arguments", place="SEED", evidence=given)))
    tried = order.candidates(differs, Path("."))
    assert tried.altering == ()
    assert "file-order" in tried.harmless
    made = replace(given, made=True)
    by_each_run = with_causes(check(ladder("files and arguments", place="a.pt", evidence=made)))
    assert "data-order" in order.candidates(by_each_run, Path(".")).altering


def test_a_seed_that_was_given_from_outside_and_no_line_makes_is_no_suspect() -> None:
    write("import os, torch\ntorch.manual_seed(int(os.environ['SEED']))\n")
    seeded = Cause(
        code="RC402",
        title="…",
        confidence="observed",
        fix="",
        source=SourceLine(file="train.py", line=2),
    )
    drawn = replace(check(ladder("RNG state", **STATES)), causes=(seeded,))
    given = GivenOtherwise(kind="variable")
    from_outside = ladder("files and arguments", place="SEED", evidence=given)
    assert order.candidates(drawn, Path(".")).suspects == ("clock",)
    assert order.candidates(replace(drawn, ladder=from_outside), Path(".")).suspects == ()


def test_a_control_that_acted_on_another_line_does_not_confirm_what_the_scan_found() -> None:
    differs = with_a_draw_before_the_seed()
    elsewhere = Place(line=SourceLine(file="noise.py", line=3), what="a seed of numpy.random")
    first, *others = confirmed(
        differs, ["private-rng"], AGREED, places={"private-rng": (elsewhere,)}
    )
    assert (first.code, first.confidence, first.source) == ("RC601", "confirmed", elsewhere.line)
    assert [(cause.code, cause.confidence) for cause in others] == [("RC406", "suspected")]


def test_reprocheck_itself_is_no_code_of_the_users_wherever_it_lies() -> None:
    write(
        "import reprocheck\nfrom reprocheck.api import check\nimport own\nreprocheck.log_loss(own.RNG.random())\n"
    )
    for name in ("reprocheck/__init__.py", "reprocheck/api.py", "own.py"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text("import random\n\nRNG = random.Random()\n")
    differs = check(ladder("loss", **GROSS))
    assert [hint.source.file for hint in UserCode(differs, Path(".")).hints] == [
        "train.py",
        "own.py",
    ]


@pytest.mark.parametrize(
    ("code", "severity", "line", "new"),
    [
        ("RC407", "error", 2, True),
        ("RC407", "warning", 2, False),
        ("RC402", "error", 3, True),
        ("RC402", "error", 4, False),
        ("RC505", "error", 2, True),
        ("RC301", "error", 2, False),
    ],
)
def test_a_patch_is_of_what_is_new_in_each_start_where_the_scan_is_sure(
    code: str, severity: Literal["error", "warning"], line: int, new: bool
) -> None:
    write(
        "import time, random\nrng = random.Random()\nrandom.seed(time.perf_counter_ns())\nrandom.seed(time.time())\n"
    )
    found = StaticFinding(
        code=code,
        name=entry(code).name,
        severity=severity,
        message="it draws",
        source=SourceLine(file="train.py", line=line),
        executed="executed",
        precedes=True,
    )
    differs = replace(check(ladder("batch")), scan=StaticScan(findings=(found,), files=1))
    assert order.anew(differs, UserCode(differs, Path("."))) == ({found.fix_name} if new else set())
