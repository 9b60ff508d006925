from __future__ import annotations

import re
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import pytest

from benchmarks.sown import compared
from reprocheck.model import Cause, Setting
from reprocheck.model.replay import Replay
from reprocheck.report import collect_env, issue, smallest_command
from tests.report.samples import SAMPLES, led


@pytest.mark.parametrize("name", SAMPLES)
def test_every_sample_fits_an_issue(name: str) -> None:
    text = issue.text(SAMPLES[name]())
    assert len(text) <= issue.MOST - issue.ROOM
    assert text.startswith("### ") and "### Reproduce" in text


def test_the_second_line_has_the_versions() -> None:
    check = SAMPLES["explained"]()
    facts = {
        "torch.version": "2.13.0",
        "python.version": "3.11.7",
        "platform.system": "Linux",
        "platform.machine": "arm64",
    }
    runs = tuple(replace(run, environment=facts, traces=()) for run in check.runs)
    check = replace(check, runs=runs, record=replace(check.record, environment={}))
    version = check.record.reprocheck_version
    said = f"torch 2.13.0, Python 3.11.7, reprocheck {version}, Linux arm64"
    assert issue.text(check).splitlines()[1] == said
    other = replace(runs[1], environment={**facts, "torch.version": "2.12.0"})
    both = replace(check, between=compared().between, runs=(runs[0], other))
    assert issue.text(both).splitlines()[1] == f"{said}; {said.replace('2.13.0', '2.12.0')}"


def test_it_says_what_to_ask_for() -> None:
    check = SAMPLES["explained"]()
    assert check.ladder is not None
    without = replace(check, ladder=replace(check.ladder, replay=None))
    ask = "Ask for `reprocheck bundle --with-source`"
    assert ask in issue.text(without)
    assert ask not in issue.text(without, source=True)
    module = Replay(framework="torch", name="torch.nn.Dropout", of="module", arguments=())
    replayed = replace(check, ladder=replace(check.ladder, replay=module))
    assert ask not in issue.text(replayed)


def test_it_says_that_a_log_is_left_out_where_a_run_failed() -> None:
    check = SAMPLES["explained"]()
    first = replace(check.runs[0].record, ended="failed")
    runs = replace(check.runs[0], record=first, stderr_tail="", stdout_tail=""), check.runs[1]
    failed = replace(check, runs=runs)
    assert "`reprocheck bundle --with-log` adds them" in issue.text(failed)
    assert "--with-log" not in issue.text(check)


def test_what_is_too_long_is_left_out_and_what_follows_is_there() -> None:
    check = SAMPLES["explained"]()
    evidence = ("word " * 300,) * 100
    long = Cause(code="RC604", title="t", confidence="observed", evidence=evidence)
    text = issue.text(replace(check, causes=(long,)))
    assert len(text) <= issue.MOST
    assert "Where the runs diverge" in text and "Left out here for its length" in text
    assert "### Reproduce" in text


def test_a_name_of_any_length_leaves_room_for_the_rest() -> None:
    check = SAMPLES["explained"]()
    assert check.ladder is not None
    rungs = tuple(replace(rung, place="m." * 40_000) for rung in check.ladder.rungs)
    long = replace(
        check,
        ladder=replace(check.ladder, rungs=rungs, sentence="s" * 200_000),
        verdict=replace(check.verdict, reason="r" * 100_000),
    )
    text = issue.text(led(long))
    assert len(text) <= issue.MOST
    assert text.startswith("### NOT REPRODUCIBLE (forward)")
    assert "### Where the runs diverge" in text and "### Reproduce" in text


def test_the_environment_has_the_fields_of_collect_env_in_its_order() -> None:
    torch = find_spec("torch")
    if torch is None or torch.origin is None:
        pytest.skip("PyTorch is not installed")
    source = Path(torch.origin).parent / "utils/collect_env.py"
    form = re.search(r'env_info_fmt = """(.*?)"""', source.read_text(), re.DOTALL)
    assert form is not None
    theirs = re.findall(r"^([^\n:{]+):", form.group(1), re.MULTILINE)
    ours = [line.partition(":")[0] for line in collect_env.lines({})]
    assert [name for name in ours if name in theirs] == theirs


def test_known_facts_stand_in_their_fields() -> None:
    facts = {
        "torch.version": "2.13.0",
        "platform.system": "Linux",
        "platform.machine": "x86_64",
        "platform.release": "Debian GNU/Linux 12 (bookworm)",
        "platform.libc": "glibc 2.36",
        "gcc.version": "(Debian 12.2.0-14) 12.2.0",
        "torch.debug_build": False,
        "torch.cuda.devices": ["NVIDIA H100"],
        "package.torch": "2.13.0",
        "package.acme-internal": "1",
    }
    lines = list(collect_env.lines(facts))
    for line in (
        "PyTorch version: 2.13.0",
        "CUDA used to build PyTorch: None",
        "OS: Debian GNU/Linux 12 (bookworm) (x86_64)",
        "Libc version: glibc-2.36",
        "Is CUDA available: True",
        "GPU models and configuration: NVIDIA H100",
        "GCC version: (Debian 12.2.0-14) 12.2.0",
        "Clang version: Could not collect",
        "Is debug build: False",
        "HIP runtime version: N/A",
        "[pip3] torch==2.13.0",
    ):
        assert line in lines
    assert not any("acme" in line for line in lines)


def test_what_is_not_there_has_the_words_of_collect_env() -> None:
    said = dict(line.partition(": ")[::2] for line in collect_env.lines({"torch.version": "2.13"}))
    names = ("CUDA runtime version", "Is CUDA available", "Caching allocator config")
    assert [said[name] for name in names] == ["No CUDA", "False", "N/A"]
    with_cuda = {"torch.version": "2.13", "torch.cuda_build": "12.6"}
    said = dict(line.partition(": ")[::2] for line in collect_env.lines(with_cuda))
    assert said["Is CUDA available"] == "Could not collect", "the training did not use it"
    said = dict(line.partition(": ")[::2] for line in collect_env.lines({"python.version": "3.11"}))
    assert said["PyTorch version"] == "N/A"


def test_the_smallest_command_has_the_settings_that_matter() -> None:
    check = SAMPLES["explained"]()
    settings = (
        Setting(name="output", value="/srv/reports", origin="--output"),
        Setting(name="rtol", value=0.5, origin="--rtol"),
        Setting(name="control", value=("seed", "fixed-clock"), origin="reprocheck.toml"),
        Setting(name="deterministic", value=True, origin="--deterministic"),
        Setting(name="workdir", value="inplace", origin="--workdir"),
    )
    check = replace(check, record=replace(check.record, settings=settings))
    assert smallest_command.command(check) == (
        "reprocheck run --steps 2 --level op --rtol 0.5 --control seed --control fixed-clock"
        " --deterministic train.py --lr 0.1"
    )
