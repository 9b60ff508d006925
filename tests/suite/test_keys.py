from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from msgspec import structs

from reprocheck.errors import UsageError
from reprocheck.suite import check_report, keys
from reprocheck.suite.check_report import CheckReport, Environment, Setting
from reprocheck.suite.model import Key
from reprocheck.suite.target import Target
from tests.suite.nights import GOOD, made

FACTS = {"cpu.model": "EPYC", "cpu.usable": 8, "python.version": "3.11.7", "package.rich": "14"}
TORCH = {"torch.version": "2.13.0", "torch.threads": 4, "numpy.version": "2.2", **FACTS}


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> CheckReport:
    folder = made(tmp_path_factory.mktemp("key"), "good", GOOD).job.folder
    return check_report.read(folder, CheckReport)


def with_facts(report: CheckReport, facts: dict[str, object], world: int = 1) -> CheckReport:
    """The report as if the first run had recorded these facts."""
    first, *others = report.runs
    return structs.replace(
        report,
        environment=Environment(facts=facts, not_recorded=frozenset()),
        runs=(structs.replace(first, world=world), *others),
    )


def facts_of(report: CheckReport, target: Target | None = None) -> dict[str, str]:
    target = target or Target(name="a", words=("train.py",), workdir=Path())
    return dict(_key(report, target).facts)


def _key(report: CheckReport, target: Target) -> Key:
    return keys.key_of(report.facts, report.runs[0].world, report.values, target)


def test_the_key_holds_what_may_change_numbers(recorded: CheckReport) -> None:
    assert facts_of(with_facts(recorded, TORCH, world=2)) == {
        "torch": "2.13.0",
        "device": "EPYC",
        "ranks": "2",
        "threads": "4",
        "options": "train.py",
    }


def test_of_an_accelerator_the_model_and_the_driver_count(recorded: CheckReport) -> None:
    gpus = {
        "torch.cuda.devices": "NVIDIA H100, NVIDIA H100",
        "torch.cuda.driver": 12080,
        "driver.nvidia": "NVRM 570.1",
    }
    found = facts_of(with_facts(recorded, {**TORCH, **gpus}))
    assert (found["device"], found["driver"]) == ("NVIDIA H100", "NVRM 570.1, 12080")


def test_without_a_framework_numpy_or_python_stands_in(recorded: CheckReport) -> None:
    assert facts_of(with_facts(recorded, FACTS))["python"] == "3.11.7"
    with_numpy = facts_of(with_facts(recorded, {**FACTS, "numpy.version": "2.2"}))
    assert with_numpy["numpy"] == "2.2"
    assert "python" not in with_numpy


def test_an_ascend_device_of_mindspore_is_told_from_the_processor(recorded: CheckReport) -> None:
    facts = {**FACTS, "mindspore.version": "2.5", "mindspore.device_target": "Ascend"}
    assert facts_of(with_facts(recorded, facts))["device"] == "Ascend, EPYC"


def test_arguments_variables_and_options_that_change_numbers_are_options(
    recorded: CheckReport,
) -> None:
    target = Target(
        name="a", words=("train.py", "--lr", "0.1"), workdir=Path(), environment={"SIZE": "2"}
    )
    given = {"steps": Setting(20), "timeout": Setting(60.0)}
    report = structs.replace(recorded, settings={**recorded.settings, **given})
    assert facts_of(report, target)["options"] == "SIZE=2 --steps 20 train.py --lr 0.1"


@pytest.mark.parametrize(
    "text",
    [
        "train.py",
        "SIZE=2 'TEXT=a b=c' --steps all --control 'seed, workers' --deterministic -m pkg.train x",
        "--seed 3 --no-dropout --all-controls -- torchrun --steps 5 train.py",
    ],
)
def test_what_the_key_says_of_options_is_read_back(text: str) -> None:
    found = keys.as_run(Key(facts={"options": text}))
    assert found is not None
    assert found.text == text


def test_a_key_without_options_says_nothing_of_them() -> None:
    assert keys.as_run(Key(facts={"torch": "2.13.0"})) is None


def test_everything_else_stands_beside_the_key(recorded: CheckReport) -> None:
    beside = keys.beside(with_facts(recorded, {**TORCH, "package.torch": "2.13.0"}).facts)
    assert beside["package.rich"] == "14"
    assert beside["numpy.version"] == "2.2"
    assert {"torch.version", "package.torch"}.isdisjoint(beside)


def test_the_same_facts_have_the_same_digest(recorded: CheckReport) -> None:
    target = Target(name="a", words=("train.py",), workdir=Path())
    one = _key(with_facts(recorded, TORCH), target)
    other = _key(with_facts(recorded, dict(reversed(TORCH.items()))), target)
    assert one.digest == other.digest
    changed = _key(with_facts(recorded, {**TORCH, "torch.threads": 8}), target)
    assert changed.digest != one.digest


SECRET = Target(
    name="a",
    words=("train.py", "--wandb-key", "pa55-of-wandb", "--lr", "0.1", "--data", "~/data"),
    workdir=Path(),
    environment={"DB_PASSWORD": "pa55-of-db", "SIZE": "2"},
    resume={"with": "--hf-token hf-pa55 --from {checkpoint}"},
)


def test_a_key_holds_no_secret_and_a_digest_tells_targets_apart(recorded: CheckReport) -> None:
    facts = facts_of(recorded, SECRET)
    assert facts["options"] == (
        "'DB_PASSWORD=<secret>' SIZE=2 train.py --wandb-key '<secret>' --lr 0.1 --data '~/data'"
    )
    assert facts["resume"] == "--resume-with '--hf-token <secret> --from {checkpoint}'"
    assert "pa55" not in repr(facts)
    other = replace(SECRET, environment={**SECRET.environment, "DB_PASSWORD": "another"})
    assert facts_of(recorded, other)[keys.DIGEST] != facts[keys.DIGEST]
    assert facts_of(recorded, SECRET) == facts
    assert keys.masked(facts) == facts
    assert keys.DIGEST not in facts_of(recorded)


def test_what_was_masked_is_run_as_it_is_typed_now(recorded: CheckReport) -> None:
    was = keys.as_run(_key(recorded, replace(SECRET, words=("train.py", "--key", "x"))))
    now = keys.as_held(recorded.values, SECRET)
    assert was is not None
    assert keys.as_typed(was, now).environment == SECRET.environment
    same = keys.as_run(_key(recorded, SECRET))
    assert same is not None and same.words != SECRET.words
    assert keys.as_typed(same, now).words == SECRET.words
    with pytest.raises(UsageError, match="<secret> in that night is not known"):
        keys.as_typed(same, replace(now, words=("train.py",)))
