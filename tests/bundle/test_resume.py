"""The attachment of a check of a resume: as that of a check."""

from __future__ import annotations

import json
import shlex
import zipfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from reprocheck.model import SourceLine
from reprocheck.redaction import redaction_of
from reprocheck.resume import attachment
from reprocheck.resume.check import load
from reprocheck.resume.model import Mark, Mechanism, ResumeCheck
from reprocheck.resume.report.formats import FORMATS
from tests.conftest import reprocheck
from tests.resume.recorded import resumed

SECRETS = ("hunter2abc", "acme-batch-17", "customer 4711")

DIFF = """--- a/train.py
+++ b/train.py
@@ -20,2 +20,3 @@
 start = 0
+state = None
 steps = 10
@@ -31,2 +32,2 @@
 seen = 1
-saved = {}
+saved = {"state": state}
"""
LINES = (20, 21, 22, 31, 32)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return resumed(tmp_path_factory.mktemp("resume") / "run")


@pytest.fixture
def check(folder: Path) -> ResumeCheck:
    """A check of a resume with secrets in its command, its options and its log."""
    found = load(folder)
    entry = replace(found.record.entry_point, command=("python", "train.py", "-phunter2abc"))
    (outcome,) = found.outcomes
    assert outcome.continued is not None
    run = replace(outcome.continued, stdout_tail="customer 4711 signs in\n")
    return replace(
        found,
        record=replace(found.record, entry_point=entry),
        asked=replace(found.asked, resume_with="--from acme-batch-17"),
        outcomes=(replace(outcome, continued=run, reason=f"train.py said {SECRETS[0]}"),),
    )


def test_nothing_of_what_it_was_given_leaves(check: ResumeCheck) -> None:
    files = attachment.made(check, redaction_of(check, "paste"), {}).files
    assert set(files) == {"README.md", "issue.md", "report.html", "report.json"}
    written = "\n".join(data.decode() for data in files.values())
    assert [secret for secret in SECRETS if secret in written] == []
    assert "train.py" in written and "-p" in written


@pytest.mark.parametrize("strict", [False, True])
def test_the_command_can_be_pasted(check: ResumeCheck, strict: bool) -> None:
    """Places and what is filled in stay; `shlex` reads what `--resume-with` is given as it reads
    the whole.
    """
    asked = replace(
        check.asked, at=("4", "twice"), resume_with="--resume '{checkpoint}' --pin hunter2abc"
    )
    outcomes = tuple(replace(one, place=replace(one.place, name="4")) for one in check.outcomes)
    check = replace(check, asked=asked, outcomes=outcomes)
    redaction = redaction_of(check, "paste", strict=strict)
    files = attachment.made(check, redaction, {}).files
    line = next(
        line for line in files["README.md"].decode().splitlines() if line.startswith("reprocheck")
    )
    words = shlex.split(line)
    assert [value for name, value in pairwise(words) if name == "--at"] == ["4", "twice"]
    added = shlex.split(words[words.index("--resume-with") + 1])
    pin = "--<option>" if strict else "--pin"
    assert added == ["--resume", "{checkpoint}", pin, "<text>"]
    assert words[words.index("--go-on") + 1] == "3" and "--steps" not in words
    assert json.loads(files["report.json"])["places"][0]["name"] == "4"


def test_all_lines_of_source_that_leave_are_named(check: ResumeCheck) -> None:
    marks = (
        Mark(role="reads", source=SourceLine(file="train.py", line=22, text="torch.load(at)")),
        Mark(role="saves", source=SourceLine(file="net.py", line=3, text="torch.save(net, at)")),
    )
    mechanism = Mechanism(code="RC118", title="The state is lost", marks=marks, fix=DIFF)
    outcomes = tuple(
        replace(
            one,
            explained=replace(one.explained, mechanism=mechanism),
            confirmation=None,
        )
        for one in check.outcomes
    )
    made = attachment.made(replace(check, outcomes=outcomes), redaction_of(check, "paste"), {})
    said = made.files["README.md"].decode()
    named = ", ".join(f"`{place}`" for place in ("net.py:3", *(f"train.py:{n}" for n in LINES)))
    assert f"- source: these lines: {named}\n" in said
    shown = [line[1:] for line in DIFF.splitlines() if line[:1] in (" ", "-") and line[1:2] == "s"]
    assert all(line in made.files["issue.md"].decode() for line in shown) and len(shown) == 4


def test_its_log_leaves_where_that_is_asked_for(check: ResumeCheck) -> None:
    bundle = attachment.made(check, redaction_of(check, "paste", with_log=True), {})
    assert bundle.files["log/run-1-stdout.txt"] == b"customer 4711 signs in\n"
    assert b"log/run-1-stdout.txt" in bundle.files["README.md"]


@pytest.mark.browser
def test_the_page_of_a_folder_copies_what_may_be_pasted(
    browser: Any, check: ResumeCheck, tmp_path: Path
) -> None:
    (tmp_path / "report.html").write_bytes(FORMATS["html"].render(check))
    issue = attachment.made(check, redaction_of(check, "paste"), {}).files["issue.md"].decode()
    page = browser.new_page()
    page.goto((tmp_path / "report.html").as_uri())
    page.evaluate("() => { navigator.clipboard.writeText = (text) => { window.copied = text; }; }")
    page.get_by_role("button", name="Copy for an issue").click()
    page.wait_for_function("window.copied !== undefined")
    assert page.evaluate("window.copied") == issue.rstrip("\n")
    assert [secret for secret in SECRETS if secret in issue] == []
    page.close()


def test_the_folder_is_packed_as_that_of_a_check(folder: Path, tmp_path: Path) -> None:
    done = reprocheck("bundle", folder, "-o", tmp_path / "issue.zip", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with zipfile.ZipFile(tmp_path / "issue.zip") as archive:
        report = json.loads(archive.read("report.json"))
        assert archive.read("issue.md").startswith(b"#")
    assert report["kind"] == "resume" and report["places"]
