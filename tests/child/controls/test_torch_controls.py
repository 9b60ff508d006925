"""Controls on PyTorch: each removes exactly its source, says what it touched, and leaves a clean
script's numbers alone.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.child.controls.torch_runs import SCRIPTS, Start, Trained, pair
from tests.conftest import ROOT

pytest.importorskip("torch")

FAKE_NPU = str(ROOT / "tests" / "fakes" / "torch_npu")


def printed(run: Trained) -> dict[str, Any]:
    """What a script printed, of all its lines."""
    assert run.status == 0, run.errors
    return {
        key: value
        for line in run.output.splitlines()
        if line.startswith("{")
        for key, value in json.loads(line).items()
    }


def started(**runs: Start) -> dict[str, Trained]:
    """The ends of runs that are under way."""
    return {name: run.end() for name, run in runs.items()}


# ----------------------------------------------------------------------- seed, private-rng, entropy


def test_seed_reaches_default_generators_and_private_rng_the_others(tmp_path: Path) -> None:
    script = SCRIPTS / "draws.py"
    runs = started(
        seed=Start(script, tmp_path / "seed", "seed", seed=5),
        private=Start(script, tmp_path / "private", "private-rng", seed=5),
        again=Start(script, tmp_path / "again", "private-rng", seed=5),
        entropy=Start(script, tmp_path / "entropy", "entropy", seed=5),
    )
    seed, private, again, entropy = (printed(run) for run in runs.values())
    system = ("seeds", "drawn", "again", "late", "forked")
    assert seed["initial"] == 5 and private["initial"] != 5
    assert all(private[name] == again[name] for name in system)
    assert all(seed[name] != private[name] for name in system), (
        "seed leaves what is seeded from the system alone"
    )
    assert private["first"] != again["first"], (
        "private-rng leaves a default generator alone that nobody seeds"
    )
    for run in (private, entropy):
        assert len({*run["seeds"], run["again"], run["forked"]}) == 4, (
            "different draws stay different, in a fork too"
        )
    assert all(
        run["constant"] == private["constant"] and run["mine"] == private["mine"]
        for run in (seed, entropy)
    )
    assert all(all(run["kept"]) for run in (private, entropy))
    assert runs["seed"].touched("seed").keys() >= {"torch.manual_seed", "state of torch in a fork"}
    assert not runs["seed"].touched("private-rng")
    assert runs["private"].touched("private-rng")["torch.Generator.seed"] == 4
    assert next(
        event["l"]
        for event in runs["private"].events("control")
        if event["w"] == "torch.Generator.seed"
    ).endswith("draws.py:13")
    assert runs["entropy"].touched("entropy")["torch.Generator.seed"] == 4


def test_ranks_draw_their_own_and_the_same_from_run_to_run(tmp_path: Path) -> None:
    launcher = ("-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2")
    first, second = pair(
        SCRIPTS / "ranks.py",
        tmp_path,
        "seed",
        "private-rng",
        "fill-memory",
        launcher=launcher,
        OMP_NUM_THREADS="1",
    )
    assert (first.status, second.status) == (0, 0), first.errors
    assert first.losses() == second.losses()
    assert len(first.losses()) == 2 and first.losses()[0][1] != first.losses()[1][1]
    assert first.touched("private-rng")["torch.Generator.seed"] == 2
    seeds = {
        event["v"]
        for event in first.events("control", "private-rng")
        if event["w"] == "torch.Generator.seed"
    }
    assert len(seeds) == 2, "each rank has its own"


# ----------------------------------------------------------------------------------------- settings


def test_later_settings_that_contradict_stand_and_are_reported(tmp_path: Path) -> None:
    controls = ("deterministic", "single-thread", "no-compile")
    script = SCRIPTS / "contradicts.py"
    runs = started(
        stands=Start(script, tmp_path / "stands", *controls),
        replaced=Start(
            script, tmp_path / "replaced", *controls, override=True, arguments=("refused",)
        ),
        agrees=Start(script, tmp_path / "agrees", *controls, arguments=("agrees",)),
    )
    stands, agrees = printed(runs["stands"]), printed(runs["agrees"])
    assert stands["before"] == agrees["before"] == [True, True, False, False, 1]
    assert (
        stands["after"] == [True, False, True, False, 2]
        and stands["warns"]
        and not stands["disabled"]
    )
    assert agrees["after"] == [True, True, False, True, 1], (
        "a script that asks for it itself gets all that comes with it"
    )
    conflicts = {
        event["w"]: (event["v"], event["wanted"], event["l"])
        for event in runs["stands"].events("conflict")
    }
    assert conflicts["torch.backends.cudnn.benchmark"] == (True, False, f"{script}:16")
    assert conflicts["torch.backends.cudnn.deterministic"][:2] == (False, True)
    assert conflicts["torch.use_deterministic_algorithms"][:2] == ("True, warn_only=True", "True")
    assert conflicts["torch.set_num_threads"][:2] == (2, 1)
    assert conflicts["torch._dynamo.config.disable"][:2] == (False, True)
    assert [event["w"] for event in runs["stands"].events("override")] == [
        "torch.set_num_interop_threads"
    ], "taken once a process"
    assert not runs["agrees"].events("conflict") + runs["agrees"].events("override")

    replaced = runs["replaced"]
    assert (
        '"after": [true, true, false, false, 1], "warns": false, "disabled": true'
        in replaced.output.replace("\n", "")
    )
    assert {event["w"] for event in replaced.events("override")} == {
        *conflicts,
        "torch.set_num_interop_threads",
    }
    assert not replaced.events("conflict")
    assert replaced.status == 1
    assert (
        "put_ does not have a deterministic implementation" in replaced.errors
        and "contradicts.py" in replaced.errors
    )
    assert runs["stands"].touched("no-compile")["torch.compile"] == 1


# ------------------------------------------------------------------------------------------- memory


def test_what_a_control_sets_and_nothing_uses_is_told_from_what_acts(tmp_path: Path) -> None:
    """The script seeds by itself, and its layers fill what they allocate.

    Without its seeds it draws from all generators.
    """
    controls = ("seed", "fill-memory")
    quiet = Start(SCRIPTS / "quiet.py", tmp_path / "quiet", *controls)
    draws = Start(SCRIPTS / "quiet.py", tmp_path / "draws", *controls, arguments=("unseeded",))
    told, acted = (run.end().events("control") for run in (quiet, draws))
    seeded = {"random.seed", "numpy.random.seed", "torch.manual_seed"}
    assert (
        {event["w"] for event in told}
        == {event["w"] for event in told if event.get("set")}
        == seeded
    )
    drawn = {f"numbers drawn from {name}" for name in ("random", "numpy.random", "torch")}
    assert {event["w"] for event in acted if not event.get("set")} == drawn


@pytest.mark.parametrize("level", ["loss", "auto"])
def test_a_draw_in_a_library_is_told_with_the_line_that_called_it(
    tmp_path: Path, level: str
) -> None:
    """Without the weights and masks of layers, and draws from a generator of the script's own."""
    packages = tmp_path / "site-packages"
    packages.mkdir()
    (packages / "own_library.py").write_text(
        "import torch\n\ndef negatives(generator=None):\n"
        "    return torch.randint(0, 9, (3,), generator=generator)\n"
    )
    script = tmp_path / "train.py"
    script.write_text(
        f"import sys\nsys.path.append({str(packages)!r})\nimport own_library, torch\n"
        "layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Dropout(0.5))\n"
        "layers(torch.ones(3, 2))\nown_library.negatives(torch.Generator().manual_seed(1))\n"
        "for _ in range(9):\n    own_library.negatives()\norder = torch.randperm(4)\n"
        "torch.manual_seed(3)\ntorch.rand(2)\n"
    )
    run = Start(script, tmp_path / "run", "seed", level=level).end()
    told = [(event["w"], event["l"]) for event in run.events("control") if event.get("d")]
    assert told == [("numbers drawn from torch", f"{script}:{line}") for line in (8, 9)]


def test_a_seed_that_the_script_reads_counts_as_one_that_acts(tmp_path: Path) -> None:
    """`torch.manual_seed(torch.initial_seed())` draws nothing of what the control has seeded, and
    all that it trains hangs on that number.
    """
    asks = Start(SCRIPTS / "reads_seed.py", tmp_path / "run", "seed").end()
    told = {event["w"] for event in asks.events("control") if not event.get("set")}
    assert told == {"the seed of torch, which the script reads"}


def test_fill_memory_fills_what_nobody_has_initialised(tmp_path: Path) -> None:
    run = Start(SCRIPTS / "memory.py", tmp_path / "run", "fill-memory").end()
    found = printed(run)
    assert {tuple(values) for values in found["floats"].values()} == {(0.7470588088035583,)}, found[
        "floats"
    ]
    assert all(found["finite"].values()) and all(found["one"].values())
    assert found["integers"] == [[0, 0, 0]] * 3 + [[False] * 3]
    assert found["strides"] == [48, 1, 12, 3] and found["kept"] == [1.0, 1.0]
    assert found["version"] == 0, "autograd sees no write"
    assert (found["fake"], found["meta"], found["gradient"]) == ("FakeTensor", "meta", [2.0] * 3)
    assert set(run.touched("fill-memory")) >= {
        "aten::empty",
        "aten::empty_strided",
        "aten::resize_",
    }


# ------------------------------------------------------------------------------------------ dropout


def test_dropout_off_reaches_every_dropout(tmp_path: Path) -> None:
    script = SCRIPTS / "dropouts.py"
    runs = started(
        off=Start(script, tmp_path / "off", "dropout-off", steps=None),
        plain=Start(script, tmp_path / "plain", steps=None),
    )
    off, plain = printed(runs["off"]), printed(runs["plain"])
    assert not any(plain["same"].values()), plain["same"]
    assert [name for name, same in off["same"].items() if not same] == ["not safe"]
    assert off["ones"] == [True, True] and off["kept"]
    touched = runs["off"].touched("dropout-off")
    assert {
        "torch.nn.functional.dropout",
        "torch.nn.LSTM",
        "aten::dropout",
        "aten::native_dropout",
        "HandDropout.forward",
    } <= set(touched)
    assert [event["why"] for event in runs["off"].events("unavailable")] == [
        "the module HalvingDropout: what it returns is not shaped as what it is given"
    ]


# --------------------------------------------------------------------------------------------- data


def test_loaders_without_workers_and_in_order(tmp_path: Path) -> None:
    script = SCRIPTS / "loaders.py"
    controls, options = (
        ("data-order", "private-rng", "seed"),
        {"steps": None, "arguments": ("sorted",)},
    )
    runs = started(
        single=Start(script, tmp_path / "single", "single-worker", "seed", steps=None),
        order=Start(script, tmp_path / "order", *controls, **options),
        again=Start(script, tmp_path / "again", *controls, **options),
    )
    single, order, again = printed(runs["single"]), printed(runs["order"]), printed(runs["again"])
    assert (single["elsewhere"], order["elsewhere"]) == ([False], [True])
    asked = {event.get("v") for event in runs["single"].events("control", "single-worker")}
    assert asked <= {None, "2, worker_init_fn is not called", "1, worker_init_fn is not called"}
    assert runs["single"].touched("single-worker")["DataLoader(num_workers)"] == 3

    found = order["found"]
    assert found["random"] == list(range(12)) != single["found"]["random"]
    assert (
        found["replacement"] == [*range(12), 0, 1]
        and found["subset"] == [5, 3, 1]
        and found["weighted"] == list(range(12))
    )
    assert found["distributed"] == [0, 2, 4, 6, 8, 10] != single["found"]["distributed"]
    assert found["split"] == [list(range(8)), list(range(8, 12))] != single["found"]["split"]
    assert found["own"] == found["own loader"] == list(range(11, -1, -1)), (
        "a sampler of the user's own is left alone"
    )
    assert (
        [row[0] for row in found["fork"]] == [row[0] for row in found["spawn"]] == list(range(12))
    )
    whys = " ".join(event["why"] for event in runs["order"].events("unavailable"))
    assert "the sampler Backwards" in whys and "Stream is an IterableDataset" in whys

    assert found == again["found"], "workers of both kinds draw the same from run to run"
    private = [row[2] for row in found["fork"] + found["spawn"]]
    assert len(set(private)) == len(private), (
        "each worker, and each generator in it, has its own stream"
    )


# ------------------------------------------------------------------------------------------ devices


def test_a_device_that_nobody_seeds(tmp_path: Path) -> None:
    script, path = SCRIPTS / "npu.py", {"PYTHONPATH": FAKE_NPU}
    runs = started(
        seed=Start(script, tmp_path / "seed", "seed", steps=None, **path),
        again=Start(script, tmp_path / "again", "seed", steps=None, **path),
        more=Start(
            script,
            tmp_path / "more",
            "seed",
            "cpu-rng",
            "fill-memory",
            "dropout-off",
            "deterministic",
            steps=None,
            **path,
        ),
    )
    assert len(runs["seed"].losses()[0][1]) == 4
    assert runs["seed"].losses() == runs["again"].losses() != runs["more"].losses()
    assert not any(printed(runs["seed"])["same"]), "a device draws from its own generator"
    more = printed(runs["more"])
    assert more["same"] == [True] * 4 and more["empty"] == [0.7470588088035583] * 3
    assert {"aten::normal_", "aten::uniform_", "aten::exponential_", "aten::randperm"} <= set(
        runs["more"].touched("cpu-rng")
    )
    assert "torch.use_deterministic_algorithms, read by torch_npu" in runs["more"].touched(
        "deterministic"
    )


# ------------------------------------------------------------------------------------ clean scripts


def test_a_clean_script_keeps_its_numbers(tmp_path: Path) -> None:
    script = SCRIPTS / "clean.py"
    silent = (
        "seed",
        "private-rng",
        "entropy",
        "single-worker",
        "no-compile",
        "fill-memory",
        "dropout-off",
        "data-order",
        "augment-off",
    )
    runs = started(
        plain=Start(script, tmp_path / "plain"),
        silent=Start(script, tmp_path / "silent", *silent),
        rounded=Start(script, tmp_path / "rounded", "deterministic", "single-thread", "cpu-rng"),
    )
    plain, rounded = (runs[name].losses()[0][1] for name in ("plain", "rounded"))
    assert len(plain) == 4
    assert runs["plain"].losses() == runs["silent"].losses(), "what is not there is not touched"
    assert list(map(float, rounded)) == pytest.approx(list(map(float, plain)), rel=1e-4)
    assert not [
        event
        for run in runs.values()
        for kind in ("conflict", "override")
        for event in run.events(kind)
    ]
    (environment,) = runs["rounded"].events("environment")
    built_for_accelerators = environment["facts"].get("torch.cuda_build") is not None
    nothing_to_do = "nothing to do: this PyTorch draws on the CPU only"
    assert [event["why"] for event in runs["rounded"].events("unavailable")] == (
        [] if built_for_accelerators else [nothing_to_do]
    )


# ----------------------------------------------------------------------------------- planted causes

CASES = ROOT / "tests" / "e2e" / "cases" / "torch"


@pytest.mark.parametrize(
    ("case", "control", "override"),
    [("unseeded_order", "entropy", False), ("atomic_gradient", "single-thread", True)],
)
def test_the_named_control_removes_the_cause(
    case: str, control: str, override: bool, tmp_path: Path
) -> None:
    """Beside those that a search over the cases names."""
    first, second = pair(CASES / f"{case}.py", tmp_path, control, override=override)
    assert first.status == second.status == 0
    assert len(first.losses()[0][1]) == 4
    assert first.losses() == second.losses()
    assert first.touched(control)


def test_all_the_others_together_do_not(tmp_path: Path) -> None:
    others = (
        "seed",
        "single-worker",
        "deterministic",
        "single-thread",
        "no-compile",
        "fill-memory",
        "data-order",
        "cpu-rng",
    )
    first, second = pair(CASES / "stock_dropout_unseeded.py", tmp_path, *others)
    assert first.losses() != second.losses()
    assert len(first.losses()[0][1]) == len(second.losses()[0][1]) == 4
