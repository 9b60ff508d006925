"""Causes from ladders made by hand: each picture gives its entry, and an equal ladder gives
none.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reprocheck.causes.cause import causes_of
from reprocheck.model import (
    RUNGS,
    Check,
    EnvironmentDifference,
    Ladder,
    Rung,
    RungName,
    SourceLine,
)
from reprocheck.model.evidence import ChangedAfterBackward, InputsDiffer, PathDiffers, SeededLater
from reprocheck.model.statements.causes import FilesOfRun1, SeededAfterwards
from reprocheck.rules import entry
from reprocheck.rules.operators import Operator
from reprocheck.wording import say
from tests.causes.cause_ladders import (
    EQUAL_STATES,
    GROSS,
    ROUNDING,
    STATES,
    check,
    differing,
    ladder,
    names,
    write,
)


@pytest.fixture(autouse=True)
def _workdir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_an_equal_ladder_has_no_cause() -> None:
    write("import random\nfor name in set('abc'): random.SystemRandom().random()\n")
    equal = Ladder(rungs=tuple(Rung(rung=rung, status="equal") for rung in RUNGS), first=None)
    assert causes_of(check(equal), ".") == ()
    assert causes_of(check(None), ".") == ()


"""Pictures that show that something differs, and not what makes it so: memory, a draw, a hash, a
clock.
"""


@pytest.mark.parametrize(
    ("rung", "fields", "facts", "expected"),
    [
        ("environment", {}, {}, []),
        ("hyper-parameters", GROSS, {"values": (0.1, 0.2)}, ["drifting-hyper-parameter"]),
        (
            "initial weights",
            GROSS,
            {**STATES, "seeded": []},
            ["unseeded-weights"],
        ),
        (
            "initial weights",
            GROSS,
            {**STATES, "seeded": ["torch"], "seeds": {"torch": (1, 2)}},
            ["clock-seed"],
        ),
        (
            "initial weights",
            GROSS,
            {**STATES, "seeded": ["torch"]},
            ["shifted-stream"],
        ),
        ("initial weights", GROSS, EQUAL_STATES, ["uninitialised-memory?", "private-initialiser?"]),
        (
            "initial weights",
            GROSS,
            {**EQUAL_STATES, "shapes": ((8, 1), (16, 1))},
            ["random-hyper-parameter?", "drifting-hyper-parameter?"],
        ),
        (
            "initial weights",
            GROSS,
            {**EQUAL_STATES, "like_left_over_memory": True},
            ["uninitialised-memory"],
        ),
        (
            "initial weights",
            GROSS,
            {**STATES, "seeded": [], "like_left_over_memory": True},
            ["uninitialised-memory?", "unseeded-weights"],
        ),
        (
            "initial weights",
            GROSS,
            {**EQUAL_STATES, "missing_from": ""},
            ["partial-checkpoint", "uninitialised-memory?"],
        ),
        ("initial weights", GROSS, {"states_known": False}, ["unseeded-weights?"]),
        (
            "initial weights",
            GROSS,
            {"states_known": False, "seeded": ["torch"]},
            ["unseeded-weights?", "private-initialiser?"],
        ),
        (
            "RNG state",
            {},
            {**STATES, "class_": "Dropout"},
            ["unseeded-layer"],
        ),
        (
            "RNG state",
            {},
            {**STATES, "seeded": ["torch"]},
            ["shifted-stream"],
        ),
        ("RNG state", {}, {**STATES, "seeds": {"torch": (1, 2)}}, ["clock-seed"]),
        (
            "RNG state",
            {},
            {**STATES, "seeds": {"torch": (1, 2)}, "by_system": ["torch"]},
            ["unseeded-layer"],
        ),
        (
            "RNG state",
            {},
            {**STATES, "got": "batch"},
            ["unseeded-layer"],
        ),
        ("batch", {}, {"samples": "other order", "whole_epoch": True}, ["private-shuffle?"]),
        (
            "batch",
            {},
            {"samples": "other order", "private_generators": ["generator"]},
            ["private-shuffle"],
        ),
        (
            "batch",
            {},
            {"samples": "other content", "worker": None},
            ["private-augmentation?"],
        ),
        (
            "batch",
            {},
            {"samples": "other content", "worker": 1},
            ["private-augmentation?"],
        ),
        ("batch", {}, {"only_in_one_run": True}, ["different-path"]),
        ("forward", ROUNDING, {"class_": "Linear"}, ["noisy-forward-kernel"]),
        ("forward", GROSS, {"class_": "PrivateDropout"}, ["private-draw?"]),
        ("forward", GROSS, {"evidence": PathDiffers()}, ["different-path"]),
        ("forward", GROSS, {"reads_unfilled": True}, ["uninitialised-memory"]),
        (
            "forward",
            GROSS,
            {"evidence": InputsDiffer(), "dtype": "float32"},
            ["unrecorded-input"],
        ),
        (
            "forward",
            ROUNDING,
            {"class_": "LayerNorm", "device": "npu:0"},
            ["ascend-kernel", "noisy-forward-kernel?"],
        ),
        (
            "loss",
            GROSS,
            {"only_labels": True, "dtype": "int64"},
            ["unrecorded-input", "hash-order?"],
        ),
        (
            "forward",
            GROSS,
            {
                "operator": "aten.index_put_.default",
                "inputs_differ": False,
            },
            ["noisy-forward-kernel"],
        ),
        (
            "forward",
            GROSS,
            {"operator": "aten.add.Tensor", "inputs_differ": True},
            ["unrecorded-input"],
        ),
        (
            "forward",
            GROSS,
            {"operator": "aten.rand.generator", "inputs_differ": False},
            ["private-draw"],
        ),
        (
            "forward",
            GROSS,
            {"evidence": InputsDiffer(), "given_generator": True},
            ["private-draw"],
        ),
        ("RNG state", {}, {**STATES, "got": "batch", "outside": True}, ["unseeded-draw"]),
        ("loss", GROSS, {}, ["private-draw?"]),
        (
            "gradient",
            ROUNDING,
            {"operations": ("IndexBackward0",)},
            ["noisy-backward-kernel"],
        ),
        (
            "gradient",
            GROSS,
            {"operations": ("IndexBackward0",)},
            ["noisy-backward-kernel", "private-gradient-noise?"],
        ),
        (
            "gradient",
            GROSS,
            {"operations": ("Noise",)},
            ["private-gradient-noise?", "noisy-backward-kernel?"],
        ),
        (
            "gradient",
            GROSS,
            {"operator": "aten.randn.generator", "given_generator": True},
            ["private-gradient-noise"],
        ),
        (
            "gradient",
            ROUNDING,
            {"operations": ("Upsample",), "device": "cuda:0"},
            ["upsample-backward", "noisy-backward-kernel"],
        ),
        (
            "gradient",
            ROUNDING,
            {"operations": ("ConvolutionBackward0",), "device": "cuda"},
            ["convolution-algorithm", "noisy-backward-kernel"],
        ),
        (
            "gradient",
            ROUNDING,
            {"operations": ("FlashSelfAttention",), "device": "cuda"},
            ["attention-backward", "noisy-backward-kernel"],
        ),
        (
            "gradient",
            ROUNDING,
            {"operations": ("MambaBlock",), "device": "cuda"},
            ["extension-backward", "noisy-backward-kernel"],
        ),
        (
            "gradient",
            GROSS,
            {"evidence": ChangedAfterBackward(agreed_before=True)},
            ["gradient-changed"],
        ),
        ("reduced gradient", GROSS, {}, ["gradient-changed?"]),
        ("update", GROSS, {}, ["noisy-update"]),
        ("later", {}, {}, ["late-drift"]),
    ],
)
def test_each_picture_gives_its_entry(
    rung: RungName, fields: dict[str, object], facts: dict[str, object], expected: list[str]
) -> None:
    """`NAME?`: only suspected, as nothing was recorded of the thing that the entry blames."""
    found = causes_of(check(ladder(rung, **facts, **fields)), ".")
    said = [
        f"{name}{'?' * (cause.confidence == 'suspected')}"
        for name, cause in zip(names(found), found, strict=True)
    ]
    assert said[: len(expected) or 1] == expected
    for cause in found:
        assert cause.title == entry(cause.code).title and cause.remedy
        assert cause.statements[0] == ladder(rung).rung(rung).statement


@pytest.mark.parametrize(
    ("rung", "facts", "draw", "expected"),
    [
        (
            "initial weights",
            {"generators": [], "states_known": True},
            "np.random.randn(3)",
            "unseeded-weights",
        ),
        (
            "batch",
            {"samples": "other samples"},
            "random.shuffle(rows)",
            "unseeded-shuffle",
        ),
        (
            "batch",
            {"samples": "other samples"},
            "np.random.randn(3)",
            "unseeded-augmentation",
        ),
    ],
)
def test_a_generator_that_nobody_was_seen_to_draw_from_is_blamed_with_a_line_that_draws(
    rung: RungName, facts: dict[str, object], draw: str, expected: str
) -> None:
    write(f"import random\nimport numpy as np\n{draw}\n")
    found = causes_of(
        check(ladder(rung, **{**facts, "unused_generators": ("numpy", "python")})), "."
    )
    assert (names(found)[0], found[0].confidence) == (expected, "suspected")
    assert found[0].source and found[0].source.line == 3
    assert expected not in names(
        causes_of(check(ladder(rung, **{**facts, "unused_generators": ()})), ".")
    )


def test_lines_are_found_below_a_masked_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "train.py").write_text("import torch\ntorch.seed()\n", encoding="utf-8")
    monkeypatch.setenv("HOME", str(tmp_path))
    facts = {
        **STATES,
        "seeds": {"torch": (1, 2)},
        "by_system": ["torch"],
        "seed_line": "~/train.py:2",
    }
    found = causes_of(check(ladder("RNG state", **facts)), ".")
    assert (names(found)[0], found[0].source) == (
        "unseeded-layer",
        SourceLine(file="~/train.py", line=2, text="torch.seed()"),
    )


@pytest.mark.parametrize(
    ("text", "taken", "line", "fix"),
    [
        ("{}seed = zlib.crc32(str(folder).encode())\ntorch.manual_seed(seed)\n", 5, 4, "seed = 0"),
        ("{}\ntorch.manual_seed(zlib.crc32(str(folder).encode()))\n", 5, 5, "import torch"),
        (
            "{}def seed_all(number):\n    torch.manual_seed(number)\n\n"
            "seed_all(zlib.crc32(folder.encode()) % 2**31)\n",
            *(5, 7, "import torch"),
        ),
        (
            "{}def draw():\n    return hash(folder)\n\nnumber = draw()\ntorch.manual_seed(number)\n",
            *(8, 5, "import torch"),
        ),
    ],
)
def test_the_line_of_a_seed_is_the_one_that_makes_it(
    text: str, taken: int, line: int, fix: str
) -> None:
    write(text.format("import tempfile, zlib\nimport torch\nfolder = tempfile.mkdtemp()\n"))
    facts = {**STATES, "seeds": {"torch": (1, 2)}, "seed_line": f"train.py:{taken}"}
    found = causes_of(check(ladder("RNG state", **facts)), ".")[0]
    assert found.source is not None
    assert (found.code, found.confidence, found.source.line) == ("RC402", "observed", line)
    assert say(found.remedy).startswith(fix)


def test_a_set_is_known_by_the_name_that_holds_it() -> None:
    write("words = set('a b'.split())\nids = {word: number for number, word in enumerate(words)}\n")
    found = causes_of(check(ladder("batch", samples="other content", worker=None)), ".")
    assert (names(found)[0], found[0].confidence) == ("hash-order", "suspected")
    assert found[0].source and found[0].source.line == 2


def test_the_first_of_several_readings_is_the_observed_one() -> None:
    found = causes_of(check(ladder("gradient", operations=("IndexBackward0",), **GROSS)), ".")
    assert [cause.confidence for cause in found] == ["observed", "suspected"]
    listed = [one for one in found[0].statements if isinstance(one, Operator)]
    assert any("torch.Tensor.__getitem__" in one.name for one in listed)
    assert {one.list.version for one in listed} == {"2.13.0"}


def test_a_list_alone_blames_nothing() -> None:
    """A listed operator whose inputs differ is a victim; on another device the list does not
    count.
    """
    victim = {
        "operator": "aten.index_put_.default",
        "inputs_differ": True,
    }
    assert (
        names(causes_of(check(ladder("gradient", **victim, **GROSS)), "."))[0]
        == "private-gradient-noise"
    )
    on_cpu = causes_of(
        check(ladder("gradient", operations=("UpsampleBilinear2DBackward0",), **ROUNDING)),
        ".",
    )
    assert names(on_cpu) == ["noisy-backward-kernel"]
    assert not any(isinstance(one, Operator) for one in on_cpu[0].statements)
    equal = Ladder(
        rungs=tuple(
            Rung(rung=rung, status="equal", operations=("IndexBackward0",)) for rung in RUNGS
        ),
        first=None,
    )
    assert causes_of(check(equal), ".") == ()


# --------------------------------------------------------------------------------- the loader draws


@pytest.mark.parametrize(
    ("status", "facts", "expected"),
    [
        ("differs", {"samples": "other order"}, "unseeded-shuffle"),
        ("differs", {"samples": "other content", "worker": 0}, "worker-seed"),
        (
            "differs",
            {"samples": "other content", "worker": None},
            "unseeded-augmentation",
        ),
        ("equal", {}, "unseeded-layer"),
    ],
)
def test_a_loader_that_draws_is_judged_by_its_batches(
    status: str, facts: dict[str, object], expected: str
) -> None:
    batch = replace(differing("batch", **facts), status=status)
    found = causes_of(
        check(ladder("RNG state", batch, **{**STATES, "got": "batch"})),
        ".",
    )
    assert names(found)[0] == expected and found[0].confidence == "observed"


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("rows = np.random.permutation(9)", "unseeded-shuffle"),
        ("noise = np.random.normal(9)", "unseeded-draw"),
        ("rows = np.random.choice(9, 3)", "unseeded-shuffle"),
        ("action = np.random.choice(2, p=chances)", "unseeded-draw"),
    ],
)
def test_what_a_plain_loop_draws_is_called_shuffled_only_where_an_order_is_drawn(
    line: str, expected: str
) -> None:
    write(f"import numpy as np\n{line}\n")
    batch = differing("batch", samples="unknown", by_loader=False)
    facts = {"generators": ["numpy"], "got": "batch"}
    assert names(causes_of(check(ladder("RNG state", batch, **facts)), "."))[0] == expected


@pytest.mark.parametrize(
    ("line", "order", "by_indices", "expected"),
    [
        ("rows = np.random.permutation(9)", "", False, "unseeded-shuffle"),
        ("noise = np.random.normal(9)", "", False, "unseeded-augmentation"),
        (
            "noise = np.random.normal(9)",
            "other samples",
            False,
            "unseeded-augmentation",
        ),
        (
            "noise = np.random.normal(9)",
            "other samples",
            True,
            "unseeded-shuffle",
        ),
        ("noise = np.random.normal(9)", "other order", False, "unseeded-shuffle"),
    ],
)
def test_what_a_loader_draws_is_called_shuffled_only_where_an_order_is_shown_or_drawn(
    line: str, order: str, by_indices: bool, expected: str
) -> None:
    write(f"import numpy as np\n{line}\n")
    batch = differing(
        "batch",
        samples=order,
        by_indices=by_indices,
        worker=None,
    )
    facts = {"generators": ["numpy"], "got": "batch"}
    assert names(causes_of(check(ladder("RNG state", batch, **facts)), "."))[0] == expected


def test_a_seed_from_the_system_is_no_seed() -> None:
    write("import torch\ntorch.manual_seed(0)\ntorch.seed()\n")
    facts = {
        **STATES,
        "seeds": {"torch": (1, 2)},
        "by_system": ["torch"],
        "seed_line": "train.py:3",
    }
    found = causes_of(check(ladder("RNG state", **facts)), ".")
    assert names(found) == ["unseeded-layer"]
    assert found[0].source == SourceLine(file="train.py", line=3, text="torch.seed()")


def test_a_seed_that_was_recorded_after_the_weights_is_named_with_who_set_it() -> None:
    write("import torch\nmodel = torch.nn.Linear(4, 1)\ntrainer = Trainer(model)\n")
    later = {"torch": SeededLater(by="transformers", line="train.py:3", seed=1234)}
    facts = {**STATES, "seeded": [], "later": later}
    found = causes_of(
        check(
            ladder("initial weights", **facts, source=SourceLine(file="train.py", line=2), **GROSS)
        ),
        ".",
    )
    assert [(name, cause.confidence) for name, cause in zip(names(found), found, strict=True)] == [
        ("seed-after-model", "observed"),
        ("unseeded-weights", "suspected"),
    ]
    assert (
        SeededAfterwards(generator="torch", by="transformers", line="train.py:3", seed="1234")
        in found[0].statements
    )
    assert found[0].source and found[0].source.text == "model = torch.nn.Linear(4, 1)"


def test_a_seed_in_the_source_that_was_not_recorded_is_no_evidence() -> None:
    write("import torch\nmodel = torch.nn.Linear(4, 1)\nif False:\n    torch.manual_seed(0)\n")
    facts = {**STATES, "seeded": []}
    found = causes_of(
        check(
            ladder("initial weights", **facts, source=SourceLine(file="train.py", line=2), **GROSS)
        ),
        ".",
    )
    assert names(found) == ["unseeded-weights"]


def test_an_equal_seed_of_one_generator_says_nothing_of_another() -> None:
    facts = {
        "generators": ["torch"],
        "states_known": True,
        "seeded": ["numpy"],
    }
    found = causes_of(check(ladder("initial weights", **facts, **GROSS)), ".")
    assert (names(found), found[0].confidence) == (["unseeded-weights"], "observed")
    unknown = {
        "generators": [],
        "states_known": False,
        "seeded": ["numpy", "torch"],
    }
    found = causes_of(check(ladder("initial weights", **unknown, **GROSS)), ".")
    assert "shifted-stream" not in names(found)
    assert {cause.confidence for cause in found} == {"suspected"}


# ----------------------------------------------------------------------------------- lines that fit


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("label_of = {name: n for n, name in enumerate(set(names))}", "hash-order"),
        ("for name in {'a', 'b'}: pass", "hash-order"),
        ("bucket = hash(name) % 10", "hash-order"),
        ("files = os.listdir('data')", "directory-order"),
        ("files = list(Path('data').iterdir())", "directory-order"),
        ("shards = [tempfile.mkstemp() for _ in range(3)]", "temporary-names"),
        ("parts = sorted(parts, key=id)", "address-order"),
        ("parts.sort(key=lambda part: id(part))", "address-order"),
        ("for module in set(net.modules()): module.reset_parameters()", "address-order"),
        ("layers = list({layer for layer in net.children() if layer})", "address-order"),
        ("done = [job.result() for job in as_completed(jobs)]", "arrival-order"),
        ("train, test = train_test_split(samples)", "unseeded-split"),
    ],
)
def test_labels_that_differ_are_followed_to_a_line(line: str, expected: str) -> None:
    imports = (
        "import os, tempfile; from concurrent.futures import as_completed\n"
        "from pathlib import Path; from sklearn.model_selection import train_test_split"
    )
    write(f"{imports}\n{line}\n")
    found = causes_of(
        check(ladder("loss", only_labels=True, dtype="int64", **GROSS)),
        ".",
    )
    assert names(found)[:2] == [expected, "unrecorded-input"]
    assert found[0].confidence == "suspected" and found[1].confidence == "observed"
    assert found[0].source == SourceLine(file="train.py", line=3, text=line)


@pytest.mark.parametrize(
    "line",
    [
        "label_of = {n: l for l, n in enumerate(sorted(set(names)))}",
        "files = sorted(os.listdir('data'))",
        "rng = numpy.random.default_rng(0)",
    ],
)
def test_a_line_in_order_is_no_hint(line: str) -> None:
    write(f"import os\n{line}\n")
    found = causes_of(
        check(ladder("loss", only_labels=True, dtype="float32", **GROSS)),
        ".",
    )
    assert names(found) == ["unrecorded-input"]


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("for name in set(names): pass", "for name in sorted(set(names)): pass"),
        (
            "ids = {name: n for n, name in enumerate(set(names))}",
            "ids = {name: n for n, name in enumerate(sorted(set(names)))}",
        ),
        (
            "seed = abs(hash(args.name)) % 99",
            "import zlib\n\nseed = abs(zlib.crc32(repr(args.name).encode())) % 99",
        ),
    ],
)
def test_the_fix_of_an_order_by_hash_is_its_own_line(line: str, fix: str) -> None:
    write(f"{line}\n")
    found = causes_of(check(ladder("loss", only_labels=True, dtype="int64", **GROSS)), ".")
    assert (names(found)[0], say(found[0].remedy), found[0].fix_from) == (
        "hash-order",
        fix,
        "place",
    )


def test_a_fixed_hash_seed_acquits_the_hash() -> None:
    write("for name in set('abc'): pass\n")
    differs = ladder("loss", only_labels=True, dtype="int64", **GROSS)
    assert "hash-order" in names(causes_of(check(differs), "."))
    assert "hash-order" not in names(
        causes_of(check(differs, environment={"python.hash_seed": "0"}), ".")
    )


@pytest.mark.parametrize(
    ("body", "expected"),
    [("init.normal_(one.weight)", "address-order"), ("total.append(one.upper())", "hash-order")],
)
def test_what_a_loop_asks_of_the_elements_of_a_set_tells_objects_from_texts(
    body: str, expected: str
) -> None:
    write(f"for one in {{a, b}}:\n    {body}\n")
    facts = {**STATES, "seeded": ["torch"], "filled_in_other_order": True}
    found = causes_of(
        check(
            ladder("initial weights", **facts, source=SourceLine(file="train.py", line=2), **GROSS)
        ),
        ".",
    )
    assert names(found) == [expected, "different-path"]
    assert [cause.confidence for cause in found] == ["suspected", "observed"]


def test_a_hash_seed_set_too_late_is_said() -> None:
    write("import os\nos.environ['PYTHONHASHSEED'] = '0'\nfor name in set('abc'): pass\n")
    found = names(causes_of(check(ladder("loss", only_labels=True, **GROSS)), "."))
    assert found[:2] == ["hash-order", "late-hash-seed"]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("lr = 0.05 + time.time_ns() % 7", ["drifting-hyper-parameter"]),
        (
            "lr = 10 ** random.uniform(-4, -2)",
            ["random-hyper-parameter", "drifting-hyper-parameter"],
        ),
        ("lr = 0.1 * (1 - (time.perf_counter() - start) / 60)", ["drifting-hyper-parameter"]),
    ],
)
def test_a_hyper_parameter_is_followed_to_a_line(line: str, expected: list[str]) -> None:
    write(f"import random, time\nstart = time.time()\n{line}\nprint(time.time() - start)\n")
    found = causes_of(check(ladder("hyper-parameters", place="lr", **GROSS)), ".")
    assert names(found) == expected
    assert found[0].source and found[0].source.line == 3


def test_a_private_generator_is_found_in_an_imported_file() -> None:
    write("from data import Jittered\n")
    write("import numpy as np\n\nclass Jittered:\n    rng = np.random.default_rng()\n", "data.py")
    found = causes_of(check(ladder("batch", samples="other content", worker=0)), ".")
    assert names(found) == ["private-augmentation"]
    assert found[0].source == SourceLine(
        file="data.py", line=4, text="rng = np.random.default_rng()"
    )


@pytest.mark.parametrize("order", ["other content", "other order"])
@pytest.mark.parametrize("call", ["torch.seed()", "numpy.random.seed()"])
def test_a_default_generator_that_is_seeded_from_the_system_is_no_private_one(
    call: str, order: str
) -> None:
    write(f"import torch, numpy\ntorch.manual_seed(0)\n{call}\n")
    found = causes_of(check(ladder("batch", samples=order, worker=None, **GROSS)), ".")
    assert names(found)[0] == "clock-seed"
    assert found[0].source == SourceLine(file="train.py", line=3, text=call)


def test_memory_that_nobody_filled_is_told_from_a_private_draw() -> None:
    write(
        "import torch, numpy\na = torch.empty(4)\nb = numpy.random.default_rng().normal(size=4)\n"
    )
    for line, expected, sure in (
        (2, "uninitialised-memory", "observed"),
        (3, "private-initialiser", "suspected"),
    ):
        found = causes_of(
            check(
                ladder(
                    "initial weights",
                    **EQUAL_STATES,
                    source=SourceLine(file="train.py", line=line),
                    **GROSS,
                )
            ),
            ".",
        )
        assert (names(found)[0], found[0].confidence) == (expected, sure)
        assert found[0].source and found[0].source.line == line


@pytest.mark.parametrize(
    ("line", "fix"),
    [
        ("padded = np.empty((8, 12))", "np.zeros(shape, dtype)"),
        ("padded = torch.empty(8, 12)", "torch.zeros(shape)"),
    ],
)
def test_a_batch_that_is_made_of_unfilled_memory_is_told_from_addresses_and_draws(
    line: str, fix: str
) -> None:
    """What memory held are often addresses: it is named before them, with the fix that fits the
    call.
    """
    write(f"import torch\nimport numpy as np\n{line}\norder = sorted(parts, key=id)\n")
    content = {"samples": "other content", "worker": None}
    found = causes_of(check(ladder("batch", **content)), ".")
    assert names(found) == ["uninitialised-memory", "address-order", "private-augmentation"]
    assert {cause.confidence for cause in found} == {"suspected"}
    assert found[0].source == SourceLine(file="train.py", line=3, text=line) and fix in say(
        found[0].remedy
    )


def test_a_clock_that_seeds_the_generator_of_a_layer_is_named_with_its_line() -> None:
    write(
        "import time, torch\ng = torch.Generator()\ng.manual_seed(time.time_ns())\nmask = torch.rand(3, generator=g)\n"
    )
    drawn = {
        "given_generator": True,
        "operator": "aten.rand.generator",
        "inputs_differ": False,
    }
    found = causes_of(
        check(ladder("forward", **drawn, source=SourceLine(file="train.py", line=4), **GROSS)),
        ".",
    )
    assert names(found) == ["clock-seed", "private-draw"]
    assert found[0].source == SourceLine(
        file="train.py", line=3, text="g.manual_seed(time.time_ns())"
    )


def test_a_file_that_changed_since_is_not_looked_at() -> None:
    write("for name in set('abc'): pass\n")
    old = check(ladder("loss", only_labels=True, dtype="float32", **GROSS))
    old = replace(old, record=replace(old.record, started="2001-01-01T00:00:00+00:00"))
    assert names(causes_of(old, ".")) == ["unrecorded-input"]


# -------------------------------------------------------------------------------- beside the ladder


def test_state_left_and_the_environment_come_from_the_first_pair() -> None:
    left = causes_of(
        check(ladder("files and arguments", place="out/last.pt"), state_left=("out/last.pt",)), "."
    )
    assert names(left) == ["state-left"] and left[0].statements[1] == FilesOfRun1(number=1)
    assert say(left[0].remedy).endswith("\nreprocheck run --workdir copy train.py")
    differences = tuple(
        EnvironmentDifference(key=key, run=2, reference=1, value=2)
        for key in ("torch.threads", "package.numpy", "cpu.model", "python.hash_seed")
    )
    found = causes_of(check(ladder("environment"), environment_differences=differences), ".")
    assert names(found) == ["other-machine", "thread-count", "version-drift"]
    beside = causes_of(
        check(
            ladder("forward", class_="Linear", **ROUNDING),
            environment_differences=differences[:1],
        ),
        ".",
    )
    assert [(name, cause.confidence) for name, cause in zip(names(beside), beside)] == [
        ("noisy-forward-kernel", "observed"),
        ("thread-count", "suspected"),
    ]
    assert "thread-count" not in names(
        causes_of(check(ladder("forward", **GROSS), environment_differences=differences[:1]), ".")
    )


def test_a_file_of_which_the_making_draws_is_no_checkpoint() -> None:
    drawn = differing("RNG state", generators=("torch",), seeded=("torch",))
    made = ladder("files and arguments", drawn, place="cache/blocks.pt")
    left = causes_of(check(made, state_left=("cache/blocks.pt",)), ".")[0]
    assert say(left.remedy).splitlines()[2:4] == [
        "torch.manual_seed(0)",
        "# from the third start on all runs find it, and agree",
    ]
    assert "--resume" not in say(left.remedy)


def test_several_ranks() -> None:
    found = causes_of(check(ladder("reduced gradient", **ROUNDING), ranks=2), ".")
    assert names(found) == ["collective-order"]
    assert "rank-sampler" in names(
        causes_of(check(ladder("batch", samples="other order"), ranks=2), ".")
    )
    assert "seed-per-process" in names(
        causes_of(check(ladder("RNG state", **STATES), ranks=2), ".")
    )


def test_a_difference_that_did_not_come_back() -> None:
    found = causes_of(
        check(
            Ladder(
                rungs=tuple(Rung(rung=rung, status="equal") for rung in RUNGS),
                first=None,
                came_back=False,
            )
        ),
        ".",
    )
    assert names(found) == ["intermittent-difference"] and found[0].confidence == "suspected"


@pytest.mark.parametrize("class_", ["Dropout", "RandomNoise"])
def test_mindspore_layers_show_no_state(class_: str) -> None:
    found = causes_of(
        check(
            ladder("forward", class_=class_, **GROSS),
            framework="mindspore",
        ),
        ".",
    )
    assert names(found)[0] == "unseeded-layer" and "mindspore.set_seed" in say(found[0].remedy)


def with_frameworks(made: Check, *names: str) -> Check:
    """A check in whose first run these frameworks were imported, in this order."""
    trace = replace(made.runs[0].traces[0], frameworks=dict.fromkeys(names, "1"))
    return replace(made, runs=(replace(made.runs[0], traces=(trace,)), *made.runs[1:]))


def test_the_fix_is_that_of_the_framework_that_the_code_uses_and_not_of_one_that_is_only_imported() -> (
    None
):
    unseeded = ladder("initial weights", states_known=False, **GROSS)
    write("import jax\nimport torch\n\nnet = torch.nn.Linear(4, 1)\n")
    assert "torch.manual_seed" in say(
        causes_of(with_frameworks(check(unseeded), "jax", "torch"), ".")[0].remedy
    )
    write("import lightning as L\n\nL.Trainer().fit(build())\n")
    assert "torch.manual_seed" in say(
        causes_of(with_frameworks(check(unseeded), "jax", "torch"), ".")[0].remedy
    )
    write(
        "import torch\nimport jax\nfrom jax import numpy\n\nkeys = jax.random.split(jax.random.key(0)), numpy.ones(3)\n"
    )
    (jax, *_) = causes_of(with_frameworks(check(unseeded), "torch", "jax"), ".")
    assert say(jax.remedy) == "Make the key of a fixed number."


def test_a_program_without_a_framework_gets_words_and_code_of_none() -> None:
    private = ladder("loss", **GROSS)
    draws = (
        "import random, reprocheck\n\nrng = random.Random()\nreprocheck.log_loss(rng.random())\n"
    )
    # a library may have imported one that the program does not use
    for frameworks in ((), ("torch",)):
        write(draws)
        (cause, *_) = causes_of(with_frameworks(check(private), *frameworks), ".")
        assert cause.code == "RC601" and cause.title == entry("RC601").titles["python"]
        assert say(cause.remedy) == "Give this generator a fixed seed."
    write(
        draws.replace("import random,", "import sklearn.linear_model, random,")
        + "model = sklearn.linear_model.SGDClassifier()\n"
    )
    (estimator, *_) = causes_of(with_frameworks(check(private)), ".")
    assert say(estimator.remedy) == say(cause.remedy)


def test_a_generator_that_the_frameworks_own_seed_reaches_is_seeded_by_that() -> None:
    drawn = ladder(
        "initial weights",
        **{**STATES, "generators": ["numpy"], "seeded": []},
        **GROSS,
    )
    fixes = {
        name: say(causes_of(check(drawn, framework=name), ".")[0].remedy)
        for name in ("mindspore", "torch")
    }
    assert "mindspore.set_seed" in fixes["mindspore"]
    assert "numpy.random.seed(0)" in fixes["torch"]


def test_fixes_are_those_of_the_framework() -> None:
    for framework, words in (
        ("torch", "torch.manual_seed"),
        ("mindspore", "mindspore.set_seed"),
        ("keras", "keras.utils.set_random_seed"),
    ):
        found = causes_of(
            check(
                ladder("initial weights", states_known=False, **GROSS),
                framework=framework,
            ),
            ".",
        )
        assert words in say(found[0].remedy)
    write("import time, jax\nkey = jax.random.key(time.time_ns() % 2**31)\n")
    found = causes_of(
        check(ladder("initial weights", states_known=False, **GROSS), framework="jax"),
        ".",
    )
    assert (
        names(found)[0] == "clock-seed"
        and say(found[0].remedy) == "Make the key of a fixed number."
    )


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("data = data.map(flip, num_parallel_calls=tf.data.AUTOTUNE)", ("parallel-map", 2)),
        ("data = data.map(flip, num_parallel_calls=1)", ("private-augmentation", None)),
        (
            "data = data.map(lambda x, y: (x, y[None]), num_parallel_calls=tf.data.AUTOTUNE)",
            ("private-augmentation", None),
        ),
        (
            "data = data.map(map_func=lambda x: (x, x), num_parallel_calls=4)",
            ("private-augmentation", None),
        ),
        (
            "def own(x): return x[0]\ndata = data.map(own, num_parallel_calls=4)",
            ("private-augmentation", None),
        ),
        (
            "def own(x): return flip(x)\ndata = data.map(own, num_parallel_calls=4)",
            ("parallel-map", 3),
        ),
        ("class Batches(keras.utils.PyDataset): pass", ("private-augmentation", None)),
    ],
)
def test_a_parallel_map_is_suspected_only_where_a_line_maps_in_parallel(
    line: str, expected: tuple[str, int | None]
) -> None:
    write(f"import keras, tensorflow as tf\n{line}\n")
    facts = {"samples": "other content", "worker": None}
    found = causes_of(check(ladder("batch", **facts, **GROSS), framework="keras"), ".")
    assert (names(found)[0], found[0].source and found[0].source.line) == expected
    assert names(found)[-1] == "private-augmentation"
