from __future__ import annotations

from dataclasses import replace

import pytest

from reprocheck.model import Process
from reprocheck.redaction import Redaction, known_values, redaction_of
from reprocheck.redaction.shapes import values_of
from tests.report.samples import SAMPLES

COMMAND = (
    *("/opt/conda/envs/acme/bin/python", "/srv/acme/train.py", "--lr", "1e-3", "--user", "anna"),
    *("--config=conf/acme.yaml", "model.name=acme-1", "-m", "acme.main", "cuda", "--bf16"),
)
SECRET = "hunter2abc"


def test_arguments_leave_by_their_shape() -> None:
    assert Redaction().arguments(COMMAND) == (
        *("python", "<path>/train.py", "--lr", "1e-3", "--user", "<text>"),
        *("--config=<path>.yaml", "model.name=<text>", "-m", "<text>", "cuda", "--bf16"),
    )


@pytest.mark.parametrize(
    "words, shown",
    [
        (f"train.py -p{SECRET}", "train.py -p<text>"),
        (f"train.py -p={SECRET}", "train.py -p=<text>"),
        (f"train.py -p:{SECRET}", "train.py -p:<text>"),
        (f"train.py -p {SECRET}", "train.py -p <text>"),
        ("train.py -abc -vv -n4 -lr 0.1", "train.py -a<text> -v<text> -n4 -l<text> 0.1"),
        (f"train.py --pin:{SECRET} --pin={SECRET}", "train.py --pin:<text> --pin=<text>"),
        (f"train.py --model.lr=0.1 --pin=a={SECRET}", "train.py --model.lr=0.1 --pin=<text>"),
        (
            f"train.py +db.pin={SECRET} ++pin={SECRET} ~db",
            "train.py +db.pin=<text> ++pin=<text> <text>",
        ),
        (f"train.py pin={SECRET} pin:{SECRET} /pin:{SECRET}", "train.py pin=<text> <text> <path>"),
        (f"train.py --pin%3D{SECRET} pin%3D{SECRET}", "train.py <text> <text>"),
        ("DATA=s3://acme/x HOST=gpu07 train.py", "DATA=<path> HOST=<text> train.py"),
        ("train.py aHVudGVyMmFiYw== aHVudGVyMmFiYw=", "train.py <text> <text>"),
        (f"train.py <{SECRET}> <secret>", "train.py <text> <secret>"),
        (f"train.py -m {SECRET} -m{SECRET}", "train.py -m <text> -m<text>"),
        (f"train.py {SECRET}.py -p{SECRET}.py", "train.py <path>.py -p<path>.py"),
        (f"torchrun -np 2 train.py -p{SECRET}", "torchrun -np 2 train.py -p<text>"),
        (f"python -m acme.train -p{SECRET}", "python -m acme.train -p<text>"),
        (f"python -macme.train -p{SECRET}", "python -macme.train -p<text>"),
        (
            f"python -m torch.distributed.run -m acme.train -m {SECRET}",
            "python -m torch.distributed.run -m acme.train -m <text>",
        ),
    ],
)
def test_of_an_option_leaves_its_name_alone(words: str, shown: str) -> None:
    assert " ".join(Redaction().arguments(tuple(words.split()))) == shown


@pytest.mark.parametrize(
    ("typed", "shown"),
    [
        ("--from {checkpoint} --k={iteration}", "--from {checkpoint} --k={iteration}"),
        (f"+ckpt={SECRET}/{{iteration}}.pt", "'+ckpt=<path>{iteration}<path>.pt'"),
        (f"{SECRET} -m {SECRET} {SECRET}.py", "'<text>' -m '<text>' '<path>.py'"),
    ],
)
def test_of_words_behind_a_script_what_is_filled_in_leaves(typed: str, shown: str) -> None:
    assert Redaction().shown(typed, "words") == shown


def test_a_command_within_a_word_is_a_text() -> None:
    inner = f"mysql -p{SECRET} && python train.py"
    assert Redaction().arguments(("bash", "-c", inner)) == ("bash", "-c", "<text>")
    assert SECRET in set(values_of(("bash", "-c", inner)))
    assert set(values_of(("bash", "-c", "echo 'it"))) == {"echo 'it", "'it"}


def test_what_runs_keeps_its_name_although_another_argument_has_it() -> None:
    command = ("python", "-m", "falcon.train", "--name", "falcon", "--user", SECRET)
    check = SAMPLES["explained"]()
    entry = replace(check.record.entry_point, command=command)
    check = replace(check, record=replace(check.record, entry_point=entry), runs=())
    assert {"falcon", SECRET} & set(known_values(check)) == {SECRET}


@pytest.mark.parametrize("error", ["KeyError: 'k1'", "Refused: kirschbaum", "Refused: tenant 17b"])
def test_no_message_of_an_error_is_too_short_to_be_taken_out(error: str) -> None:
    check = SAMPLES["explained"]()
    process = Process(pid=1, ppid=0, argv=(), python="", name="", error=error)
    check = replace(check, runs=(replace(check.runs[0], processes=(process,)),))
    shown = redaction_of(check, "paste").sentence(f"Run 1 ended with {error}, before its end.")
    assert "<log>, before its end." in shown and error.partition(": ")[2] not in shown


def test_the_name_of_a_target_is_masked_as_long_as_it_is_found_by_it() -> None:
    redaction = Redaction("folder", identity=("/home/ann", "ann", "node1"), known=["ann-1234"])
    assert redaction.shown("ann-1234 on node1", "target") == "ann-1234 on node1"
    assert redaction.shown("a@acme.com", "target") == "<email>"
    assert Redaction(known=["ann-1234"]).shown("lm[r=ann-1234]", "target") == "lm[r=<argument>]"


def test_strict_knows_options_of_a_list_alone() -> None:
    assert Redaction(strict=True).arguments(COMMAND) == (
        *("python", "file-1.py", "--lr", "1e-3", "--<option>", "<text>"),
        *("--config=<path>.yaml", "--<option>=<text>", "-m", "<text>", "cuda", "--bf16"),
    )


def test_of_variables_the_names_leave_and_unknown_facts_do_not() -> None:
    redaction = Redaction()
    assert redaction.fact("variable.NCCL_ALGO", "Ring") == ("variable.NCCL_ALGO", "<set>")
    assert redaction.fact("git.remote", "https://git.acme.io/a") is None
    assert redaction.fact("torch.version", "2.13.0") == ("torch.version", "2.13.0")
    assert redaction.counts["environment variable (name alone)"] == 1
    assert redaction.fact("variable.NIGHT", "") == ("variable.NIGHT", "not set")
    commit = "5f2c9e10ab125f2c9e10ab125f2c9e10ab125f2c+"
    assert redaction.fact("commit", commit) == ("commit", commit)


def test_strict_lets_facts_of_lists_leave_alone() -> None:
    redaction = Redaction(strict=True)
    for key, value in {
        "cpu.model": "Intel(R) Xeon(R) Platinum 8480C",
        "platform.libc": "glibc 2.36",
        "platform.release": "Debian GNU/Linux 12 (bookworm)",
        "torch.version": "2.13.0+cu126",
        "torch.cuda.devices": "NVIDIA H100 80GB HBM3, NVIDIA H100 80GB HBM3",
        "git.commit": "5f2c9e10ab125f2c9e10ab125f2c9e10ab125f2c",
        "package.nvidia-cublas-cu12": "12.4.5",
    }.items():
        assert redaction.fact(key, value) == (key, value)
    for key, value in {
        "platform.kernel": "6.1.0-acme",
        "torch.version": "2.13.0+acme",
        "numpy.blas": "10.23.13.197",
        "package.torch-acme": "1.0",
    }.items():
        assert redaction.fact(key, value) is None
    assert redaction.fact("variable.ACME_MODE", "1") == ("variable.-1", "<set>")
    assert redaction.version("torch", "2.13.0+acme") == "<set>"


def test_a_fact_goes_through_the_detector() -> None:
    assert Redaction().fact("platform.kernel", "6.1.0-a@acme.io") == (
        "platform.kernel",
        "<email>",
    )


def test_strict_numbers_names_and_keeps_those_of_usual_words() -> None:
    redaction = Redaction(strict=True)
    shown = [redaction.name(name) for name in ("encoder.layers.11.weight", "acme", "b", "acme")]
    assert shown == ["encoder.layers.11.weight", "name-1", "name-2", "name-1"]
    assert redaction.name("blocks.0.192.168.7") == "name-3"
    assert redaction.name("192.168") == "name-4"
    assert redaction.text("anything at all") == ""


def test_a_setting_that_names_a_series_is_a_name() -> None:
    assert Redaction(strict=True).setting("fail_on", "series:acme") == "series:name-1"
    assert Redaction().setting("workdir", "copy") == "copy"
    assert Redaction().setting("output", "/srv/acme/reports") == "<path>"


@pytest.mark.parametrize(
    ("package", "version", "shown"),
    [
        ("grobid", "0.11.0.1", "0.11.0.1"),
        ("opencv-python", "4.10.0.84", "4.10.0.84"),
        ("nvidia-curand-cu12", "10.3.5.147", "10.3.5.147"),
        ("acme", "10.23.13.197", "<address>"),
        ("acme", "2.0+10.23.13.197", "2.0+<address>"),
    ],
)
def test_a_version_of_four_parts_is_no_address(package: str, version: str, shown: str) -> None:
    fact = Redaction().fact(f"package.{package}", version)
    assert fact == (f"package.{package}", shown)
