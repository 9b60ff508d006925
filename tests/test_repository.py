"""What a forge and its tools read of this repository: workflows, forms, hooks, addresses, the site."""

from __future__ import annotations

import re
import runpy
import subprocess
import threading
import tomllib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.linters import passes, read_yaml, tool

GITHUB = ROOT / ".github"
WORKFLOWS = sorted((GITHUB / "workflows").glob("*.yml"))
FORMS = sorted((GITHUB / "ISSUE_TEMPLATE").glob("[0-9]*.yml"))
SHELL = sorted(
    path
    for path in (ROOT / ".ci").iterdir()
    if path.is_file() and path.read_bytes().startswith(b"#!/usr/bin/env bash")
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


def test_the_tests_that_a_newer_dependency_reaches_are_there() -> None:
    newer = runpy.run_path(str(ROOT / ".ci" / "newer.py"))
    named_there = re.findall(r"--ignore (\S+\.py)", (ROOT / ".ci" / "newest").read_text())
    paths = (*newer["reached"]([*newer["REACH"], "another package"]), *named_there)
    assert [path for path in paths if not (ROOT / path).exists()] == []


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


PLACEHOLDER = "https://git.example.org/reprocheck"
"""What stands for the address of the project in the recipes of the nightly: nobody has it."""


def addresses(project: dict[str, Any]) -> list[str]:
    """What is named as a place of the project in files that are read with it."""
    words = ["git", "grep", "-hIoEi", r"https?://[^ )>\"']*reprocheck[^ )>\"']*", "--", "."]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode > 1:
        pytest.skip("not a checkout")
    known = {*project.get("urls", {}).values(), PLACEHOLDER}
    return [one for one in done.stdout.split() if one not in known]


def test_no_file_names_an_address_of_the_project_that_pyproject_does_not() -> None:
    assert addresses(PROJECT) == []


@pytest.fixture
def server() -> Iterator[str]:
    """The address of a server that has one page."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200 if self.path == "/here" else 404)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as made:
        thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{made.server_port}"
        made.shutdown()
        thread.join()


def test_a_commit_is_published_with_addresses_that_answer_its_tag_and_its_day(
    server: str, tmp_path: Path
) -> None:
    lacking = runpy.run_path(str(ROOT / ".ci" / "ready.py"))["lacking"]
    (tmp_path / "reprocheck").mkdir()
    (tmp_path / "reprocheck" / "_version.py").write_text('__version__ = "1.2.0"\n')
    project, changes = tmp_path / "pyproject.toml", tmp_path / "CHANGELOG.md"
    project.write_text(f'[project.urls]\nSource = "{server}/here"\n')
    changes.write_text("# Changes\n\n## 1.2.0 — 2026-11-23\n")
    assert list(lacking(tmp_path, "v1.2.0")) == []
    project.write_text(f'[project.urls]\nSource = "{server}/gone"\n')
    changes.write_text("# Changes\n\n## 1.2.0 — unreleased\n")
    gone, unreleased, untagged = lacking(tmp_path, "")
    assert gone.startswith(f"[project.urls] Source: {server}/gone does not answer: HTTP Error 404")
    assert "has no heading `## 1.2.0 — YYYY-MM-DD`" in unreleased
    assert untagged == "The commit has no tag: it is to be v1.2.0."
    project.write_text("[project]\n")
    unnamed, _, mistagged = lacking(tmp_path, "v1.3.0")
    assert "has no [project.urls]" in unnamed
    assert mistagged == "The tag is v1.3.0, and the version of the package 1.2.0."


@pytest.mark.parametrize(("exits", "lacks"), [(0, []), (1, ["The catalogues lack something: run"])])
def test_a_commit_is_published_with_every_message_translated(
    exits: int, lacks: list[str], tmp_path: Path
) -> None:
    script = tmp_path / "translations.py"
    script.write_text(f"print('run')\nraise SystemExit({exits})\n")
    untranslated = runpy.run_path(str(ROOT / ".ci" / "ready.py"))["untranslated"]
    assert list(untranslated(script)) == lacks


ADVISORY = """
id: PYSEC-2026-1
modified: 2026-01-02T03:04:05Z
aliases: [CVE-2026-1]
affected:
- package: {name: Some_Package, ecosystem: PyPI}
  ranges:
  - {type: GIT, repo: none, events: [{introduced: "0"}]}
  - {type: ECOSYSTEM, events: [{fixed: "1.10"}, {introduced: "1.2"}, {introduced: "2.0rc1"}]}
  versions: ["0.9.post1"]
"""


@pytest.mark.parametrize(
    ("version", "reached"),
    [("1.1", 0), ("1.2", 1), ("1.9", 1), ("1.10", 0), ("2.0", 1), ("0.9.post1", 1), ("0.9", 0)],
)
def test_an_advisory_reaches_the_versions_that_it_names(
    version: str, reached: int, tmp_path: Path
) -> None:
    found = runpy.run_path(str(ROOT / ".ci" / "advisories.py"))
    folder = tmp_path / "vulns" / "some-package"
    folder.mkdir(parents=True)
    (folder / "PYSEC-2026-1.yaml").write_text(ADVISORY)
    (folder / "PYSEC-2026-2.yaml").write_text(ADVISORY + "withdrawn: 2026-02-03T04:05:06Z\n")
    ((package, pinned),) = found["pinned"]([f"some_package=={version}", "# a remark"]).items()
    advisories = list(found["read"](tmp_path, package))
    assert sum(one.reaches(package, pinned) for one in advisories) == reached
    assert not any(one.reaches("another", pinned) for one in advisories)


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


def test_the_page_on_the_requirements_names_tests_that_are_there() -> None:
    page = (ROOT / "docs" / "requirements.md").read_text()
    file, named = Path(), 0
    for path, name in re.findall(r"`(tests/[\w/]+\.py)?(?:::(\w+))?(?:\[[^]`]*\])?`", page):
        if path:
            file = ROOT / path
        if path or name:
            named += 1
            assert f"def {name}" in file.read_text(), f"{path}::{name}"
    assert named > 70
