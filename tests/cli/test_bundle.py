"""`reprocheck bundle` and `run --attach`, as a user types them."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from reprocheck.cli import main

SCRIPT = """
import random
import sys
import reprocheck

for step in range(4):
    reprocheck.log_loss(random.random())
print("uploading to https://anna:tr0ub4dor@git.acme.io/x")
print("anna.k of customer K-4711 reads", "plan_b" + ".csv")
raise RuntimeError(f"there is no customer {'K'}-4711")
"""
SECRETS = ("tr0ub4dor", "acme.io", "/data/acme", "acme-large")
OF_THE_LOG = ("anna.k", "K-4711", "plan_b.csv")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which a check failed with --attach; what it printed is in `printed`."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "train.py").write_text(SCRIPT)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("PYTHONHASHSEED", raising=False)
        assert main(["run", "--attach", "--no-explain", "train.py", "--data", "/data/acme"]) == 1
    return folder


@pytest.fixture
def at(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(folder)
    return folder


def test_run_attaches_a_failed_check(folder: Path) -> None:
    with zipfile.ZipFile(folder / "reports/latest/issue.zip") as archive:
        texts = [archive.read(name).decode() for name in archive.namelist()]
    assert len(texts) == 5
    left = (*SECRETS, *OF_THE_LOG)
    assert [secret for secret in left for text in texts if secret in text] == []
    assert any("ended with RuntimeError: &lt;log&gt;" in text for text in texts)
    assert any("- log: none; `--with-log` adds its end" in text for text in texts)


def test_the_end_of_the_log_leaves_where_it_is_asked_for_and_is_shown_before(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bundle", "reports/latest", "--with-log", "--preview"]) == 0
    shown = capsys.readouterr().out
    assert main(["bundle", "reports/latest", "-o", "log.zip", "--with-log"]) == 0
    with zipfile.ZipFile(at / "log.zip") as archive:
        ends = {name: archive.read(name).decode() for name in archive.namelist() if "log/" in name}
        said = archive.read("README.md").decode()
    assert list(ends) == [
        f"log/run-{number}-{name}.txt" for number in (1, 2) for name in ("stderr", "stdout")
    ]
    for text in ends.values():
        assert text in shown
        assert not [secret for secret in SECRETS if secret in text]
    for secret in OF_THE_LOG:
        assert any(secret in text for text in ends.values())
    assert "- `log/`: the ends of the logs of the runs" in said and "`log/run-1-stderr.txt`" in said
    assert main(["bundle", "reports/latest", "--with-log", "--redact", "strict"]) == 2
    assert "No log leaves with --redact strict" in capsys.readouterr().err


def test_bundle_writes_the_same_file(at: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bundle", "reports/latest", "-o", "issue.zip"]) == 0
    assert (at / "issue.zip").read_bytes() == (at / "reports/latest/issue.zip").read_bytes()
    printed = capsys.readouterr().out
    assert printed.startswith("BUNDLE  issue.zip  (")
    assert "argument (shape alone): 1" in printed


def test_one_part_alone(at: Path) -> None:
    assert main(["bundle", "reports/latest", "-o", "issue.md"]) == 0
    assert main(["bundle", "reports/latest", "-o", "page.html"]) == 0
    assert (at / "issue.md").read_text().startswith("### NOT REPRODUCIBLE (forward)\n")
    assert (at / "page.html").read_text().startswith("<!doctype html>")


def test_a_preview_prints_what_leaves_and_writes_nothing(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bundle", "reports/latest", "-o", "none.zip", "--preview"]) == 0
    printed = capsys.readouterr().out
    assert "# What this is" in printed and "### NOT REPRODUCIBLE" in printed
    assert "report.html" in printed and " bytes\n" in printed
    assert not (at / "none.zip").exists()


def test_the_script_is_inside_where_it_is_asked_for(
    at: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["bundle", "reports/latest", "-o", "with.zip", "--with-source"]) == 0
    with zipfile.ZipFile(at / "with.zip") as archive:
        script = archive.read("source/train.py").decode()
        said = archive.read("README.md").decode()
    assert script == SCRIPT.replace("anna:tr0ub4dor@git.acme.io/x", "<credentials>@<host>/<path>")
    assert "- source: `source/train.py`" in said and "which lies in `source/`" in said
    assert main(["bundle", "reports/latest", "--with-source", "--redact", "strict"]) == 2
    assert "No source leaves with --redact strict" in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, said",
    [
        (["-o", "issue.tar"], "an attachment is a .zip, .html or .md file"),
        (["--redact", "some"], "--redact some: there is no such level"),
        (["-o", "missing/issue.zip"], "cannot be written"),
        (["--with-values"], "reports/latest holds no values of tensors"),
    ],
)
def test_what_cannot_be_done_is_said(
    at: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert main(["bundle", "reports/latest", *words]) == 2
    assert said in " ".join(capsys.readouterr().err.split())


def test_without_the_detector_free_text_is_left_out(
    at: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reprocheck.redaction.found_scanner", lambda: None)
    assert main(["bundle", "reports/latest", "-o", "less.zip"]) == 0
    said = capsys.readouterr()
    assert "taken out (as with --redact strict, since the detector" in said.out
    assert 'pip install "reprocheck[bundle]"' in " ".join(said.err.split())
    with zipfile.ZipFile(at / "less.zip") as archive:
        assert "(`--redact strict`)" in archive.read("README.md").decode()
        assert "uploading to" not in archive.read("report.html").decode()
