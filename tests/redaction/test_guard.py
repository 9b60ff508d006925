from __future__ import annotations

from reprocheck.redaction import Redaction

COMMAND = (
    *("/opt/conda/envs/acme/bin/python", "/srv/acme/train.py", "--lr", "1e-3", "--user", "anna"),
    *("--config=conf/acme.yaml", "model.name=acme-1", "-m", "acme.main", "cuda", "--bf16"),
)


def test_arguments_leave_by_their_shape() -> None:
    assert Redaction().arguments(COMMAND) == (
        *("python", "<path>/train.py", "--lr", "1e-3", "--user", "<text>"),
        *("--config=<path>.yaml", "model.name=<text>", "-m", "acme.main", "cuda", "--bf16"),
    )


def test_strict_knows_options_of_a_list_alone() -> None:
    assert Redaction("strict").arguments(COMMAND) == (
        *("python", "file-1.py", "--lr", "1e-3", "--<option>", "<text>"),
        *("--config=<path>.yaml", "--<option>=<text>", "-m", "name-1", "cuda", "--bf16"),
    )


def test_of_variables_the_names_leave_and_unknown_facts_do_not() -> None:
    redaction = Redaction()
    assert redaction.fact("variable.NCCL_ALGO", "Ring") == ("variable.NCCL_ALGO", "<set>")
    assert redaction.fact("git.remote", "https://git.acme.io/a") is None
    assert redaction.fact("torch.version", "2.13.0") == ("torch.version", "2.13.0")
    assert redaction.counts["environment variable (name alone)"] == 1


def test_strict_numbers_names_and_keeps_those_of_usual_words() -> None:
    redaction = Redaction("strict")
    shown = [redaction.name(name) for name in ("encoder.layers.11.weight", "acme", "b", "acme")]
    assert shown == ["encoder.layers.11.weight", "name-1", "name-2", "name-1"]
    assert redaction.name("blocks.0.192.168.7") == "name-3"
    assert redaction.name("192.168") == "name-4"
    assert redaction.text("anything at all") == ""


def test_a_setting_that_names_a_series_is_a_name() -> None:
    assert Redaction("strict").setting("fail_on", "series:acme") == "series:name-1"
    assert Redaction().setting("workdir", "copy") == "copy"
    assert Redaction().setting("output", "/srv/acme/reports") == "<path>"
