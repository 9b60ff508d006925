"""From a settings file to the suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.errors import SettingsError
from reprocheck.suite.model import KnownIssue, Resources
from reprocheck.suite.targets import load

FULL = """
runs = 3  # of `reprocheck run`, beside the suite

[suite]
folder = "of-the-team"
history = "sqlite:///all.sqlite"
webhooks = "https://chat.example/hook"
keep = 30

[suite.defaults]
tags = "every-night"
environment = { DATA = "/data", LIMIT = 1 }
steps = 20
timeout = 60

[[target]]
name = "resnet"
run = "train.py --name 'two words'"
folder = "vision"
environment = { LIMIT = 2 }
expect = "not_reproducible"
allow = "tolerance"
tags = ["vision", "slow"]
needs = { cpus = 4, gpus = 1 }
steps = "all"
fail-on = ["bitwise", "series:val_loss"]
python = ".venv/bin/python"

[[target]]
name = "ddp"
run = ["--", "torchrun", "--nproc-per-node", 2, "train.py"]
"""


def suite_of(text: str, tmp_path: Path):
    (tmp_path / "reprocheck.toml").write_text(text)
    return load(tmp_path)


def test_every_key_reaches_its_target(tmp_path: Path) -> None:
    suite = suite_of(FULL, tmp_path)
    resnet, ddp = suite.targets
    assert resnet.words == ("train.py", "--name", "two words")
    assert resnet.workdir == tmp_path / "vision"
    assert resnet.environment == {"DATA": "/data", "LIMIT": "2"}
    assert (resnet.expect, resnet.allow) == ("not_reproducible", "tolerance")
    assert resnet.tags == ("every-night", "vision", "slow")
    assert resnet.needs == Resources(cpus=4, gpus=1)
    assert resnet.options == {
        "steps": "all",
        "timeout": 60.0,
        "fail_on": "bitwise,series:val_loss",
        "python": str(tmp_path / ".venv/bin/python"),
    }
    assert resnet.file == suite.file == tmp_path / "reprocheck.toml"
    assert ddp.words == ("--", "torchrun", "--nproc-per-node", "2", "train.py")
    assert ddp.workdir == tmp_path
    assert ddp.options["steps"] == 20
    assert (ddp.expect, ddp.allow, ddp.needs) == ("reproducible", None, Resources())


def test_allow_may_be_a_table_of_limits_and_a_resume_has_its_own_known_issue(
    tmp_path: Path,
) -> None:
    suite = suite_of(
        '[[target]]\nname = "a"\nrun = "a.py"\nallow.curves = "tolerance"\nallow.memory = "5 %"\n'
        'allow."val_loss" = 1e-4\nknown_issue = { why = "x", until = 2026-12-31 }\n'
        'resume = { go-on = 3, known_issue = { why = "the loader", until = 2027-01-31 } }\n',
        tmp_path,
    )
    training, resume = suite.targets
    assert training.allow == "tolerance"
    assert training.limits == {"memory": 0.05, "val_loss": 1e-4}
    assert (resume.allow, resume.limits, resume.resume) == (None, {}, {"go-on": 3})
    assert resume.known_issue == KnownIssue(why="the loader", until="2027-01-31")


@pytest.mark.parametrize("day", ["2026-12-31", '"2026-12-31"'])
def test_people_are_named_in_the_suite(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, day: str
) -> None:
    monkeypatch.setenv("ADA_WEBHOOK", "https://example.org/a")
    suite = suite_of(
        '[suite]\nowners = { "@ada" = "$ADA_WEBHOOK" }\n[suite.defaults]\nowner = "@ada"\n'
        f'[[target]]\nname = "a"\nrun = "a.py"\nresume = true\nquarantine = "the disk"\n'
        f'known_issue = {{ why = "PyTorch 1234", until = {day} }}\n',
        tmp_path,
    )
    assert suite.owners == {"@ada": ("https://example.org/a",)}
    training, resume = suite.targets
    assert training.known_issue == KnownIssue(why="PyTorch 1234", until="2026-12-31")
    assert (training.owner, training.quarantine) == ("@ada", "the disk")
    assert (resume.owner, resume.known_issue, resume.quarantine) == ("@ada", None, "")


def test_a_resume_makes_another_target_behind_each(tmp_path: Path) -> None:
    suite = suite_of(
        """
[suite.defaults]
resume = true

[[target]]
name = "lm"
run = "train.py --lr {lr}"
matrix = { lr = [0.1] }
expect = "not_reproducible"
allow = "tolerance"
resume = { with = "--from {checkpoint}", at = ["first", 3], go-on = 20 }

[[target]]
name = "plain"
run = "train.py"

[[target]]
name = "alone"
run = "train.py"
resume = false
""",
        tmp_path,
    )
    names = [target.name for target in suite.targets]
    assert names == ["lm[lr=0.1]", "lm[lr=0.1,resume]", "plain", "plain[resume]", "alone"]
    run, resume, plain, plainly, alone = suite.targets
    assert resume.resume == {"with": "--from {checkpoint}", "at": ("first", "3"), "go-on": 20}
    assert plainly.resume == {}
    assert run.resume is plain.resume is alone.resume is None
    assert (resume.words, resume.values) == (run.words, run.values)
    assert (resume.expect, resume.allow) == ("reproducible", None)


def test_the_places_of_a_suite_start_from_its_file(tmp_path: Path) -> None:
    suite = suite_of(FULL, tmp_path)
    assert suite.folder == tmp_path / "of-the-team"
    assert suite.history == f"sqlite:///{tmp_path}/all.sqlite"
    assert (suite.webhooks, suite.keep_nights) == (("https://chat.example/hook",), 30)


def test_a_suite_without_a_table_has_its_places_beside_the_file(tmp_path: Path) -> None:
    suite = suite_of('[[target]]\nname = "a"\nrun = "train.py"\n', tmp_path)
    assert suite.folder == tmp_path / "nightly"
    assert suite.history == f"sqlite:///{tmp_path}/nightly/history.sqlite"
    assert (suite.webhooks, suite.keep_nights) == ((), None)


def test_a_shard_may_have_a_folder_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "reprocheck.toml").write_text("[suite]\nkeep = 3\n")
    suite = load(tmp_path, Path("shards/1"))
    assert suite.folder == tmp_path / "shards/1"
    assert suite.history == f"sqlite:///{tmp_path}/shards/1/history.sqlite"
    (tmp_path / "reprocheck.toml").write_text('[suite]\nhistory = "postgresql://db/nightly"\n')
    assert load(tmp_path, Path("shards/1")).history == "postgresql://db/nightly"


def test_secrets_come_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NIGHTLY_HOOK", "https://chat.example/secret")
    monkeypatch.setenv("NIGHTLY_PASSWORD", "s3")
    suite = suite_of(
        '[suite]\nwebhooks = ["$NIGHTLY_HOOK", "$NIGHTLY_UNSET"]\n'
        'history = "postgresql+psycopg://nightly:${NIGHTLY_PASSWORD}@db/nightly"\n',
        tmp_path,
    )
    assert suite.webhooks == ("https://chat.example/secret", "$NIGHTLY_UNSET")
    assert suite.history == "postgresql+psycopg://nightly:s3@db/nightly"


def test_the_nearest_file_that_names_a_suite_holds(tmp_path: Path) -> None:
    inner = tmp_path / "src" / "deep"
    inner.mkdir(parents=True)
    (tmp_path / "pyproject.toml").write_text(
        '[[tool.reprocheck.target]]\nname = "a"\nrun = "train.py"\n'
    )
    # settings of `run` alone are no suite
    (tmp_path / "src" / "reprocheck.toml").write_text("steps = 4\n")
    (inner / "pyproject.toml").write_text("[tool.reprocheck]\nsteps = 4\n")
    assert load(inner).file == tmp_path / "pyproject.toml"
    (tmp_path / "src" / "reprocheck.toml").write_text('[[target]]\nname = "b"\nrun = "b.py"\n')
    assert [target.name for target in load(inner).targets] == ["b"]


def test_a_matrix_makes_a_target_for_each_combination(tmp_path: Path) -> None:
    suite = suite_of(
        """
[[target]]
name = "lm"
run = "train.py --lr {lr} --json {{lr}} --home ${HOME}"
folder = "part-{seed}"
environment = { SEED = "{seed}" }
steps = "{steps}"
control = ["hash-seed"]
[target.matrix]
lr = [0.1, "2e-1"]
seed = [1]
steps = [5, 10]
""",
        tmp_path,
    )
    assert [target.name for target in suite.targets] == [
        "lm[lr=0.1,seed=1,steps=5]",
        "lm[lr=0.1,seed=1,steps=10]",
        "lm[lr=2e-1,seed=1,steps=5]",
        "lm[lr=2e-1,seed=1,steps=10]",
    ]
    last = suite.targets[-1]
    assert last.words == ("train.py", "--lr", "2e-1", "--json", "{lr}", "--home", "${HOME}")
    assert last.workdir == tmp_path / "part-1"
    assert last.environment == {"SEED": "1"}
    assert last.options == {"steps": 10, "control": "hash-seed"}
    assert last.values == {"lr": "2e-1", "seed": "1", "steps": "10"}


def target(lines: str) -> str:
    return f'[[target]]\nname = "a"\nrun = "train.py"\n{lines}\n'


MISTAKES = {
    "unknown key": (target("step = 3"), "target 'a': a target has no key 'step'.", "steps?"),
    "a resume without such a key": (
        target("resume = { on = 3 }"),
        "resume = {'on': 3} is not allowed: it has no key on; its keys are with, checkpoint",
        "resume takes true, or a table",
    ),
    "a place that is none": (
        target('resume = { at = "last" }'),
        "at takes first, epoch-end, second-epoch or a number of updates",
        "resume takes true, or a table",
    ),
    "tables in the plural": (
        '[[targets]]\nname = "a"\n',
        "no table or setting 'targets'",
        "mean target?",
    ),
    "tables of another name": (
        '[targte]\nname = "a"\n',
        "no table or setting 'targte'",
        "suite, target",
    ),
    "a setting of the file": ("step = 3\n", "no table or setting 'step'", "Did you mean steps?"),
    "a value that is not allowed": (
        target("steps = 0"),
        "target 'a': steps = 0 is not allowed.",
        "a whole number, 1 or more, or all",
    ),
    "another control": (target('control = "seeds"'), "no control 'seeds'", "Did you mean seed?"),
    "an option twice": (target('fail-on = "bitwise"\nfail_on = "checks"'), "fail-on stands", "one"),
    "decided by the suite": (target('output = "x"'), "a suite decides output", "Remove it"),
    "expectation": (target('expect = "fine"'), 'expect = "fine" is not', "not_reproducible"),
    "limit": (
        target('allow = { memory = "much" }'),
        "memory is a relative limit",
        "or a table of limits",
    ),
    "allowance": (target('allow = "bit"'), 'allow = "bit" is not', "bits, tolerance"),
    "resources": (
        target("needs = { gpus = 0.5 }"),
        "gpus is a whole number",
        "cpus, gpus, npus",
    ),
    "other resources": (target("needs = { tpus = 1 }"), "no key tpus", "npus"),
    "nodes": (
        target("needs = { nodes = 0 }"),
        "nodes is a whole number of at least 1",
        "nodes",
    ),
    "an owner without a target": (
        '[suite]\nowners = { "@adda" = "https://example.org" }\n' + target('owner = "@ada"'),
        "suite: owners names '@adda'",
        "Did you mean @ada?",
    ),
    "environment": (target('environment = "A=1"'), "environment", "a table of variables"),
    "tags": (target("tags = 3"), "tags = 3 is not allowed", "a text or a list"),
    "no name": ('[[target]]\nrun = "a.py"\n', "target 1 has no name", "name ="),
    "brackets in a name": ('[[target]]\nname = "a[1]"\n', "is not allowed", "letters, digits"),
    "an e-mail address as a name": (
        '[[target]]\nname = "lm@acme.com"\nrun = "a.py"\n',
        "target 'lm@acme.com': its name 'lm@acme.com' holds a secret or an address",
        "another name",
    ),
    "a token in a value of a matrix": (
        target('environment = { A = "{r}" }\n[target.matrix]\nr = ["hf_' + "aB3" * 9 + '"]'),
        "target 'a[r=hf_aB3",
        "a secret belongs in a variable of the shell",
    ),
    "a password in a value of a matrix": (
        target('environment = { DB_PASSWORD = "{r}" }\n[target.matrix]\nr = ["Regen#12"]'),
        "target 'a[r=Regen#12]': its name",
        "another name",
    ),
    "an e-mail address as a tag": (
        target('tags = ["fast", "ann@acme.com"]'),
        "target 'a': its tag 'ann@acme.com' holds",
        "another tag",
    ),
    "an e-mail address as an owner": (
        target('owner = "ann@acme.com"'),
        "target 'a': its owner 'ann@acme.com' holds",
        "[suite.owners]",
    ),
    "a known issue without an end": (
        target('known_issue = { why = "PyTorch 1234" }'),
        "it takes why and until, and link",
        "until = 2026-12-31",
    ),
    "a known issue until no day": (
        target('known_issue = { why = "PyTorch 1234", until = "soon" }'),
        "is not allowed: until is a day, such as 2026-12-31.",
        "until = 2026-12-31",
    ),
    "a known issue of all": (
        '[suite.defaults]\nknown_issue = { why = "x", until = 2026-12-31 }\n',
        "known_issue cannot be a default",
        "each",
    ),
    "nothing to run": ('[[target]]\nname = "a"\n', "nothing to run", "train.py"),
    "an open quote": ('[[target]]\nname = "a"\nrun = "a.py \'x"\n', "No closing", "run takes"),
    "its own name": ('[[target]]\nname = "a"\nrun = "reprocheck run a.py"\n', "starts", "behind"),
    "an option in front": ('[[target]]\nname = "a"\nrun = "--runs 3 a.py"\n', "--runs", "keys of"),
    "two names": (target("") * 2, "two targets have the name 'a'", "another name"),
    "one bracket": ('[target]\nname = "a"\n', "not a list of tables", "[[target]]"),
    "unknown placeholder": (
        '[[target]]\nname = "a"\nrun = "a.py {lt}"\n[target.matrix]\nlr = [1]\n',
        "{lt} has no axis",
        "Did you mean {lr}?",
    ),
    "unused axis": (target("[target.matrix]\nlr = [1]"), "nothing uses the axis lr", "{lr}"),
    "an axis of one value": (target("[target.matrix]\nlr = 1"), "matrix.lr = 1 is not", "[1, 2]"),
    "an axis with tables": (target("[target.matrix]\nlr = [[1]]"), "something else", "texts"),
    "a value twice": (target("[target.matrix]\nlr = [1, 1]"), "holds 1 twice", "Remove"),
    "a name that is no axis": (target('[target.matrix]\n"l r" = [1]'), "cannot be", "letters"),
    "a large matrix": (
        target(f"[target.matrix]\na = {list(range(40))}\nb = {list(range(40))}"),
        "makes 1,600 targets",
        "Take values out",
    ),
    "a key of the suite": ("[suite]\nfolders = 1\n", "suite has no key 'folders'", "folder?"),
    "nights to keep": ("[suite]\nkeep = 0\n", "keep = 0 is not allowed", "a number of nights"),
    "a default name": ('[suite.defaults]\nname = "a"\n', "name cannot be a default", "each"),
    "a default that is unknown": ("[suite.defaults]\nstep = 1\n", "no key 'step'", "steps?"),
    "a folder around the file": ('[suite]\nfolder = "."\n', "is around", "such as nightly"),
    "a folder around a target": (
        '[suite]\nfolder = "x"\n' + target('folder = "x/y"'),
        "is around",
        "such as nightly",
    ),
    "the folder by another key": (target('workdir = "x"'), 'workdir = "x"', "is `folder`"),
    "no table": ("suite = 3\n", "suite is not a table", "[suite]"),
    "no TOML": ("[[target]\n", "is not valid TOML", "Correct"),
}


@pytest.mark.parametrize(("text", "said", "fix"), MISTAKES.values(), ids=MISTAKES)
def test_a_mistake_is_named_with_file_and_key(
    text: str, said: str, fix: str, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError) as caught:
        suite_of(text, tmp_path)
    assert said in caught.value.message
    assert str(tmp_path / "reprocheck.toml") in caught.value.message
    assert fix in caught.value.fix


def test_two_files_of_one_folder_cannot_both_name_a_suite(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[tool.reprocheck.suite]\nkeep = 3\n")
    with pytest.raises(SettingsError, match="beside it both name a suite"):
        suite_of(target(""), tmp_path)


def test_where_there_is_no_suite_the_next_command_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert "reprocheck suite init" in caught.value.fix
