"""Help, version, completion, and what they may import."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from typer.main import get_command
from typer.testing import CliRunner

from reprocheck import __version__
from reprocheck.cli import COMPLETE, help_pages, main, overview
from reprocheck.cli.application import app
from reprocheck.settings import OPTIONS
from tests.conftest import clean_environment, reprocheck

HEAVY = ("numpy", "pandas", "matplotlib", "jinja2", "rich", "psutil", "msgspec")


def modules_after(words: list[str], *asked: str) -> list[str]:
    code = f"import sys\nfrom reprocheck.cli import main\nmain({words!r})\nprint(*[n for n in {asked!r} if n in sys.modules], file=sys.stderr)"
    # nothing of a check that was killed elsewhere is there to be put back
    with TemporaryDirectory() as empty:
        environment = clean_environment(TMPDIR=empty)
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
    return done.stderr.split()


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_the_overview_imports_no_parser(words: list[str]) -> None:
    assert modules_after(words, "typer", "click", "reprocheck.settings", *HEAVY) == []


def test_parsing_imports_nothing_heavy() -> None:
    heavy = (*HEAVY, "reprocheck.launch", "reprocheck.report")
    assert modules_after(["env", "--seed", "0"], *heavy) == []


@pytest.mark.parametrize("words", [["run", "--help"], ["help", "suite"], ["suite", "run", "-h"]])
def test_the_help_of_a_command_imports_no_parser(words: list[str]) -> None:
    of_ours = ("reprocheck.settings", "reprocheck.model", "reprocheck.cli.run")
    assert modules_after(words, "typer", "click", "dataclasses", *of_ours, *HEAVY) == []


def test_an_entry_of_the_catalogue_imports_no_parser() -> None:
    found = modules_after(["rules", "RC302"], "typer", "click", "reprocheck.model", *HEAVY)
    assert found == []


def test_the_help_that_is_kept_is_what_the_parser_prints() -> None:
    text = Path(help_pages.FILE).read_text(encoding="utf-8")
    assert text == help_pages.by_parser(), "`python .ci/pages.py` writes it"
    assert set(overview.COMMANDS) < set(help_pages.pages())


def test_help_is_wrapped_where_a_terminal_is_narrow(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert main(["run", "--help"]) == 0
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) < 60
    assert "Run 1 is the reference." in " ".join(text.split())


def test_the_overview_is_what_typer_prints_and_lists_the_commands() -> None:
    by_typer = CliRunner().invoke(app, ["--help"]).stdout
    assert by_typer.rstrip() == overview.help_text()
    group = get_command(app)
    assert all(group.get_command(None, name).name == name for name in overview.COMMANDS)  # type: ignore[attr-defined]
    assert group.get_command(None, "unknown") is None  # type: ignore[attr-defined]
    assert all(len(line) <= 80 for line in overview.help_text().splitlines())


@pytest.mark.parametrize("name", overview.COMMANDS)
def test_the_help_of_a_command_is_what_the_parser_prints_and_plain_text(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    text = capsys.readouterr().out
    assert "\\[" not in text and "default: " not in text
    by_parser = CliRunner().invoke(app, [name, "--help"], prog_name="reprocheck").stdout
    assert text.split() == by_parser.split()


def test_version(workdir: Path) -> None:
    assert reprocheck("--version", cwd=workdir).stdout == f"reprocheck {__version__}\n"
    assert CliRunner().invoke(app, ["--version"]).stdout == f"reprocheck {__version__}\n"


def test_the_help_of_run_shows_every_setting_with_its_default() -> None:
    text = CliRunner().invoke(app, ["run", "--help"], terminal_width=80).stdout
    assert all(option.flag in text for option in OPTIONS)
    words = " ".join(text.split())
    assert "Run 1 is the reference. [2]" in words and "the whole training. [10]" in words
    assert "reprocheck run [OPTIONS] -- COMMAND [ARGS]..." in text


def completions(words: str, index: int) -> list[str]:
    environment = clean_environment(
        **{COMPLETE: "complete_bash", "COMP_WORDS": words, "COMP_CWORD": str(index)}
    )
    done = subprocess.run(
        [sys.executable, "-m", "reprocheck"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.split()


def test_completion_of_commands_options_and_choices() -> None:
    assert completions("reprocheck r", 1) == ["run", "resume", "record", "report", "rules"]
    assert "--steps" in completions("reprocheck run --st", 2)
    assert completions("reprocheck run --workdir ", 3) == ["inplace", "copy"]
    assert completions("reprocheck run --format j", 3) == ["json", "junit"]


def test_after_the_script_nothing_of_ours_is_completed() -> None:
    assert completions("reprocheck run train.py --st", 3) == []


def test_where_no_shell_is_known_the_completion_script_is_no_internal_error(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def unknown(*_: object) -> None:
        raise OSError("as ShellDetectionFailure of shellingham is one")

    monkeypatch.setattr("shellingham.detect_shell", unknown)
    assert main(["--show-completion"]) == 2
    said = capsys.readouterr().err
    assert "The shell that reprocheck was started from is not known." in said
    assert "Type the command in bash, zsh, fish or PowerShell." in said


def test_the_completion_script_is_printed(workdir: Path) -> None:
    done = reprocheck("--show-completion", "bash", cwd=workdir)
    assert (
        COMPLETE
        in done.stdout + reprocheck("--show-completion", cwd=workdir, SHELL="/bin/bash").stdout
    )
