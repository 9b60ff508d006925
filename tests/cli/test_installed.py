"""Another distribution that installs the same package is named when a command starts."""

from __future__ import annotations

from pathlib import Path

import pytest

import reprocheck
from reprocheck.cli import installed, main


def site(folder: Path, **records: str) -> Path:
    """A folder of packages with ours in it, and with distributions that have recorded files of
    theirs.
    """
    package = folder / "reprocheck"
    package.mkdir()
    (package / "__init__.py").touch()
    for name, record in records.items():
        info = folder / f"{name}-1.0.dist-info"
        info.mkdir()
        (info / "RECORD").write_text(record)
    return package


OURS = "reprocheck/__init__.py,sha256=abc,10\nreprocheck-1.0.dist-info/RECORD,,\n"
THEIRS = "../../../bin/reprocheck,sha256=abc,10\nreprocheck/__init__.py,sha256=def,12\n"


def test_only_who_shares_our_folder_is_named(tmp_path: Path) -> None:
    package = site(
        tmp_path,
        reprocheck=OURS,
        reprocheck_cli=THEIRS,
        reprocheck_plugin="reprocheck_plugin/__init__.py,,\n",
    )
    assert installed.others(package) == ["reprocheck-cli"]


def test_alone_there_is_nobody_to_name(tmp_path: Path) -> None:
    assert installed.others(site(tmp_path, reprocheck=OURS)) == []
    assert installed.others(Path(reprocheck.__file__).parent) == []


def test_a_command_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    package = site(tmp_path, reprocheck=OURS, reprocheck_cli=THEIRS)
    monkeypatch.setattr(reprocheck, "__file__", str(package / "__init__.py"))
    assert main(["config", "--format", "json"]) == 0
    out, error = capsys.readouterr()
    assert out.startswith("{") and "reprocheck-cli overwrites files of this package" in " ".join(
        error.split()
    )
    assert "pip uninstall reprocheck-cli reprocheck" in " ".join(error.split())
    assert main(["config", "--help"]) == 0
    assert capsys.readouterr().err == ""
