"""`examples/nightly`: what schedulers are given to run the suite, checked by their own linters, with
every command line in it parsed as reprocheck parses it.
"""

from __future__ import annotations

import configparser
import re
import shlex

import pytest

from reprocheck.cli.application import made
from reprocheck.suite.targets import load, missing
from reprocheck.suite.targets.scripts import below
from tests.conftest import ROOT
from tests.e2e.nightly_files import (
    GITLAB,
    JENKINS,
    NIGHTLY,
    SLURM,
    UNITS,
    WORKFLOW,
    cron_line,
    github_steps,
    gitlab_script,
    jenkins_step,
    systemd_commands,
)
from tests.linters import passes, tool


def all_shell() -> str:
    """All that a shell is given by any of the files."""
    parts = [
        *github_steps().values(),
        gitlab_script(),
        jenkins_step(),
        cron_line()[1],
        systemd_commands(),
    ]
    return "\n".join([*parts, *(script.read_text() for script in SLURM)])


def test_the_workflow_of_github_is_valid_and_safe() -> None:
    passes(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(WORKFLOW))
    passes(tool("zizmor"), "--offline", "--no-progress", str(WORKFLOW))
    for step in github_steps().values():
        passes(tool("shellcheck"), "--shell", "bash", "-", text=step)


def test_the_job_of_gitlab_is_valid() -> None:
    schema = ("--builtin-schema", "vendor.gitlab-ci", "--data-transform", "gitlab-ci")
    passes(tool("check-jsonschema"), *schema, str(GITLAB))
    passes(tool("shellcheck"), "--shell", "sh", "-", text=f"set -e\n{gitlab_script()}")


def test_the_pipeline_of_jenkins_is_groovy_and_its_steps_are_shell() -> None:
    tree_sitter = pytest.importorskip("tree_sitter")
    groovy = pytest.importorskip("tree_sitter_groovy")
    parser = tree_sitter.Parser(tree_sitter.Language(groovy.language()))
    text = JENKINS.read_bytes()
    assert not parser.parse(text).root_node.has_error
    assert parser.parse(text.replace(b"}", b"", 1)).root_node.has_error
    shell = ("--shell", "sh", "--exclude", "SC1091")
    passes(tool("shellcheck"), *shell, "-", text=f"set -e\n{jenkins_step()}")


def test_the_line_of_cron_is_a_time_and_a_command() -> None:
    croniter = pytest.importorskip("croniter").croniter
    when, what = cron_line()
    assert croniter.is_valid(when)
    # the shell of cron follows no file that is sourced
    passes(tool("shellcheck"), "--shell", "sh", "--exclude", "SC1091", "-", text=what)
    assert "%" not in what, "cron would end the line there"


def test_the_scripts_of_slurm_are_shell() -> None:
    # a file that is sourced is not there
    passes(tool("shellcheck"), "--exclude", "SC1091", *map(str, SLURM))


def test_the_units_of_systemd_have_sections_of_keys() -> None:
    for unit in UNITS:
        parser = configparser.ConfigParser(strict=True, interpolation=None)
        parser.read_string(unit.read_text())
        assert set(parser.sections()) <= {"Unit", "Service", "Timer", "Install"}


def test_every_command_in_the_files_is_one_of_reprocheck() -> None:
    found = re.findall(r"reprocheck suite (?:\\\n|[^\n>|;&#`])*", all_shell())
    commands = [shlex.split(line.replace("\\\n", " "))[2:] for line in found]
    assert {words[0] for words in commands} >= {"run", "report", "merge"}
    group = made("suite")
    for name, *words in commands:
        group.get_command(None, name).make_context(name, words)


def test_the_suite_of_the_examples_names_every_example() -> None:
    suite = load(NIGHTLY)
    started = {target.script.resolve() for target in suite.targets if target.script}
    assert {script.path.resolve() for script in below(ROOT / "examples", NIGHTLY)} == started
    found = [missing(target) for target in suite.targets if target.words[0] != "--"]
    assert found == [None] * len(found)
