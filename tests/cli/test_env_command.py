"""`reprocheck env` prints lines that a shell takes, for every variable of the controls that are
asked for.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck.cli.application import invoke
from reprocheck.cli.env import MEANINGS, SHELLS
from reprocheck.errors import UsageError
from reprocheck.settings import controls

ASSIGNMENT = {
    "sh": r"export (\w+)=(\S+)",
    "fish": r"set -gx (\w+) (\S+)",
    "powershell": r"\$env:(\w+) = '(\S+)'",
}


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder without settings, an environment without the variables of controls."""
    monkeypatch.chdir(tmp_path)
    for name in [*os.environ]:
        if name in MEANINGS or name.startswith("REPROCHECK_"):
            monkeypatch.delenv(name)


def printed(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    assert invoke(["env", *words]) == 0
    return capsys.readouterr().out.splitlines()


def variables(lines: list[str], shell: str = "sh") -> dict[str, str]:
    found = [re.match(ASSIGNMENT[shell], line) for line in lines]
    pairs = [match.groups() for match in found if match]
    assert len(dict(pairs)) == len(pairs), "each variable once"
    assert all(match or line.startswith("# ") for match, line in zip(found, lines, strict=True))
    return dict(pairs)


@pytest.mark.parametrize("shell", list(SHELLS))
def test_every_shell_gets_the_variables_of_the_table(
    shell: str, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = printed(capsys, "--seed", "11", "--deterministic", "--shell", shell)
    assert variables(lines, shell) == {
        "PYTHONHASHSEED": "11",
        **controls.control("deterministic").environment,
    }
    assert any("reprocheck.seed_all(11, mode=True)" in line for line in lines)


def test_a_shell_takes_the_lines_and_a_process_of_it_has_the_values(
    capsys: pytest.CaptureFixture[str],
) -> None:
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("needs bash")
    lines = printed(
        capsys, "--seed", "0", "--deterministic", "--control", "single-thread,launch-blocking"
    )
    wanted = variables(lines)
    code = "import json, os; print(json.dumps(dict(os.environ)))"
    script = "\n".join(["set -eu", *lines, f"{sys.executable} -c '{code}'"])
    done = subprocess.run([bash, "-c", script], capture_output=True, text=True, check=True)
    seen = json.loads(done.stdout)
    assert {name: seen.get(name) for name in wanted} == wanted
    assert len(wanted) > 15


def test_every_variable_says_what_it_does_and_what_no_variable_does_is_said(
    capsys: pytest.CaptureFixture[str],
) -> None:
    lines = printed(capsys, "--all-controls")
    found = variables(lines)
    plain = {
        name
        for one in controls.table()
        for name, value in one.environment.items()
        if "{tmp}" not in value
    }
    assert set(found) == plain
    assert all(
        f"# {MEANINGS[name]}" in line
        for line in lines
        for name in found
        if re.match(rf"export {name}=", line)
    )
    for name in ("file-order", "fresh-workdir", "clock", "fixed-addresses"):
        assert any(line.startswith(f"# {name}: no variable does this") for line in lines), name
    assert not [line for line in lines if "{" in line]


def test_a_value_that_is_replaced_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUBLAS_WORKSPACE_CONFIG", ":0:0")
    monkeypatch.setenv("HCCL_DETERMINISTIC", "strict")
    lines = printed(capsys, "--deterministic")
    after = lines[next(n for n, line in enumerate(lines) if line.startswith("export CUBLAS")) + 1]
    assert (
        after
        == "# ^ replaces CUBLAS_WORKSPACE_CONFIG=:0:0, which is set here and contradicts the control"
    )
    assert len([line for line in lines if "replaces" in line]) == 1


def test_settings_files_count_as_they_do_for_a_run(capsys: pytest.CaptureFixture[str]) -> None:
    Path("reprocheck.toml").write_text('control = ["hash-seed"]\nseed = 5\n')
    assert variables(printed(capsys)) == {"PYTHONHASHSEED": "5"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "needs a control"),
        (["--seed", "1", "--shell", "csh"], "no such shell"),
        (["--control", "seeed"], "no control 'seeed'"),
        (["--seed", "-1"], "not allowed"),
        (["--seed", "4294967296"], "not allowed"),
    ],
)
def test_mistakes_are_named(words: list[str], says: str) -> None:
    with pytest.raises(UsageError, match=says):
        invoke(["env", *words])
