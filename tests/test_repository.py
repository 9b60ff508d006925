"""What a forge and its tools read of this repository: workflows, forms, hooks, addresses, the site."""

from __future__ import annotations

import re
import runpy
import tomllib
from pathlib import Path
from typing import Any

from reprocheck.scan.formats import sarif
from tests.conftest import ROOT
from tests.linters import passes, read_yaml, tool

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
SHELL = sorted(
    path
    for path in (ROOT / ".ci").iterdir()
    if path.read_bytes().startswith(b"#!/usr/bin/env bash")
)
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
SITE = tomllib.loads((ROOT / "zensical.toml").read_text())["project"]
LEFT_OUT = ("docs/rules/",)
"""Pages that the navigation does not name: the table of rules leads to each."""


def test_the_workflows_are_valid_and_safe() -> None:
    passes(
        tool("check-jsonschema"),
        "--builtin-schema",
        "vendor.github-workflows",
        *map(str, WORKFLOWS),
    )
    passes(
        tool("zizmor"), "--offline", "--no-progress", "--persona", "pedantic", *map(str, WORKFLOWS)
    )


def test_the_workflow_tries_each_python_that_the_package_names() -> None:
    matrix = read_yaml(GITHUB / "workflows" / "ci.yml")["jobs"]["tests"]["strategy"]["matrix"]
    prefix = "Programming Language :: Python :: "
    named = [
        line.removeprefix(prefix) for line in PROJECT["classifiers"] if line.startswith(prefix)
    ]
    assert set(named) <= set(matrix["python"])
    assert PROJECT["requires-python"] == f">={matrix['python'][0]}"


def test_the_scripts_of_ci_are_shell() -> None:
    passes(tool("shellcheck"), "--external-sources", *map(str, SHELL))


def test_the_page_on_the_architecture_names_each_script_of_ci() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text()
    table = page.partition("`.ci/`:")[2].partition("## ")[0]
    assert [path.name for path in SHELL if f"`{path.name}`" not in table] == []


def test_the_forms_are_valid_and_ask_for_a_bundle() -> None:
    passes(
        tool("check-jsonschema"), "--builtin-schema", "vendor.github-issue-forms", *map(str, FORMS)
    )
    config = GITHUB / "ISSUE_TEMPLATE" / "config.yml"
    passes(tool("check-jsonschema"), "--builtin-schema", "vendor.github-issue-config", str(config))
    asking = [form for form in FORMS if "reprocheck bundle reports/latest -o" in form.read_text()]
    assert [form.name for form in asking] == ["1-wrong-answer.yml", "2-error.yml"]


def test_the_host_of_the_site_builds_it_as_ci_does() -> None:
    file = ROOT / ".readthedocs.yaml"
    passes(tool("check-jsonschema"), "--builtin-schema", "vendor.readthedocs", str(file))
    assert "bash .ci/docs" in read_yaml(file)["build"]["commands"]


def test_each_hook_is_a_command_that_ci_runs() -> None:
    hooks = read_yaml(ROOT / ".pre-commit-config.yaml")["repos"][0]["hooks"]
    commands = [hook["entry"].removesuffix(" --force-exclude") for hook in hooks]
    run = (ROOT / ".ci" / "run").read_text()
    *of_ci, scan = commands
    assert [command for command in of_ci if command not in run] == []
    assert scan == ".venv/bin/reprocheck scan"


def test_the_project_has_one_address() -> None:
    home = PROJECT["urls"]["Documentation"]
    assert home == sarif.HOME
    assert SITE["site_url"].startswith(home)
    assert all(url.startswith(home) for url in PROJECT["urls"].values())


def named(entries: list[Any]) -> list[str]:
    """The pages of a navigation, in its order."""
    found = []
    for entry in entries:
        for value in entry.values() if isinstance(entry, dict) else [entry]:
            found.extend(named(value) if isinstance(value, list) else [value])
    return found


def test_the_navigation_of_the_site_names_each_page_of_the_documentation() -> None:
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")}
    in_order = named(SITE["nav"])
    assert len(in_order) == len(set(in_order))
    assert {page for page in pages if not page.startswith(LEFT_OUT)} - set(in_order) == set()
    assert [page for page in in_order if not (ROOT / page).is_file()] == []


def test_a_link_of_the_site_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    wrong = runpy.run_path(str(ROOT / ".ci" / "links.py"))["wrong"]
    (tmp_path / "below").mkdir()
    (tmp_path / "picture.png").touch()
    (tmp_path / "below" / "index.html").write_text('<h1 id="here">…</h1><a href="../">up</a>')
    good = '<a href="below/#here"><img src="picture.png"></a><a href="https://example.org/x">'
    (tmp_path / "index.html").write_text(good)
    assert list(wrong(tmp_path)) == []
    bad = '<a href="below/#gone"><a href="gone/"><img src="gone.png"><script src="//x.org/y.js">'
    (tmp_path / "index.html").write_text(bad)
    assert [re.sub(r"^index.html: ", "", line) for line in wrong(tmp_path)] == [
        "below/#gone: there is no such anchor",
        "gone/: there is no such file",
        "gone.png: there is no such file",
        "//x.org/y.js: it is loaded from another server",
    ]
