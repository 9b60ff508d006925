"""`reprocheck suite` and its commands: help, and what is said of a mistake."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.cli import main, suite
from reprocheck.cli.application import made


@pytest.mark.parametrize("words", [["suite"], ["suite", "-h"], ["suite", "--help"]])
def test_the_commands_are_listed_within_80_columns(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 0
    said = capsys.readouterr().out
    assert said.strip() == suite.help_text()
    assert all(len(line) <= 80 for line in said.splitlines())
    assert all(f"  {name} " in said and text in said for name, text in suite.COMMANDS.items())


def test_no_command_is_imported_for_the_list_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suite, "_made", None)
    assert made("suite").list_commands(None) == list(suite.COMMANDS)
    assert main(["suite"]) == 0


@pytest.mark.parametrize("name", suite.COMMANDS)
def test_every_command_has_help(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suite", name, "--help"]) == 0
    said = capsys.readouterr().out
    assert f"reprocheck suite {name}" in said
    assert "\\[" not in said and "[[" not in said and " <" not in said


@pytest.mark.parametrize(
    ("words", "argument"),
    [
        (["suite", "list"], "[TARGET]...  Targets by name or pattern (`resnet*`). [all]"),
        (["suite", "merge"], "[SHARD]...  Folders of suites that ran elsewhere"),
        (["suite", "baseline", "export"], "FILE.json    `-` is standard output."),
        (["report"], "DIR|ZIP  A report folder, such as reports/latest"),
    ],
)
def test_help_says_what_an_argument_is(
    words: list[str], argument: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*words, "--help"]) == 0
    assert argument in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (["suite", "lits"], "Did you mean `reprocheck suite list`?"),
        (["suite", "xyzzy"], "`reprocheck suite --help` lists the commands."),
        (["suite", "--jobs"], "`reprocheck suite --help` lists the commands."),
        (["suite", "list", "--tga"], "`reprocheck suite list --help` lists the options."),
        (["siute"], "Did you mean `reprocheck suite`?"),
    ],
)
def test_a_mistyped_command_is_answered_with_what_to_type(
    words: list[str], fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert fix in capsys.readouterr().err


def test_without_a_suite_the_first_command_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["suite", "list"]) == 2
    assert "`reprocheck suite init`" in capsys.readouterr().err
