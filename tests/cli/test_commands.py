"""`report`, `config` and `demo`."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import reprocheck as package
from tests.conftest import check, reprocheck, reprocheck_here

SOURCE = "import reprocheck\nfor step in range(5):\n    reprocheck.log_loss(1 / (step + 1))\n"


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A working directory with one recorded check."""
    folder = tmp_path_factory.mktemp("checked")
    (folder / "train.py").write_text(SOURCE)
    assert check("train.py", cwd=folder, draw=True).exit_code == 0
    return folder


def test_report_draws_again_what_was_deleted(checked: Path) -> None:
    latest = checked / "reports" / "latest"
    before = {
        name: (latest / name).read_bytes()
        for name in ("report.html", "report.md", "report.json", "junit.xml", "losses.csv")
    }
    for name in before:
        (latest / name).unlink()
    done = reprocheck_here("report", "reports/latest", cwd=checked)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("REPRODUCIBLE")
    assert {name: (latest / name).read_bytes() for name in before} == before


def test_a_check_packed_into_one_file_gives_the_same_reports_elsewhere(
    checked: Path, tmp_path: Path
) -> None:
    done = reprocheck_here("report", "reports/latest", "-o", "sent.zip", cwd=checked)
    assert (done.returncode, done.stdout) == (0, "PACKED  sent.zip\n"), done.stderr
    (tmp_path / "sent.zip").write_bytes((checked / "sent.zip").read_bytes())
    done = reprocheck_here("report", "sent.zip", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, "REPRODUCIBLE  sent/report.html\n"), done.stderr
    for name in ("report.html", "report.md", "report.json", "losses.csv"):
        assert (tmp_path / "sent" / name).read_bytes() == (
            checked / "reports" / "latest" / name
        ).read_bytes()
    again = reprocheck_here("report", "sent.zip", cwd=tmp_path)
    assert again.returncode == 2 and "sent exists" in again.stderr


def test_the_zip_of_a_report_folder_is_read_by_report_and_compare(
    checked: Path, tmp_path: Path
) -> None:
    folder = (checked / "reports" / "latest").resolve()
    shutil.make_archive(str(tmp_path / "folder"), "zip", folder.parent, folder.name)
    done = reprocheck_here("report", "folder.zip", "--format", "json", cwd=tmp_path)
    assert json.loads(done.stdout)["verdict"] == "reproducible", done.stderr
    compared = reprocheck_here("compare", "--no-draw", "folder.zip", folder, cwd=tmp_path)
    assert (compared.returncode, compared.stdout.splitlines()[0]) == (0, "REPRODUCIBLE"), (
        compared.stderr
    )


def test_report_prints_one_format(checked: Path) -> None:
    done = reprocheck_here("report", "reports/latest", "--format", "json", cwd=checked)
    assert json.loads(done.stdout)["verdict"] == "reproducible"
    done = reprocheck_here(
        "report", "reports/latest", "--format", "md", "-o", "issue.md", cwd=checked
    )
    assert done.returncode == 0 and done.stdout == ""
    assert (checked / "issue.md").read_bytes() == (
        checked / "reports" / "latest" / "report.md"
    ).read_bytes()


def test_report_of_a_folder_that_is_none(checked: Path, tmp_path: Path) -> None:
    missing = reprocheck_here("report", "reports/missing", cwd=checked)
    assert (
        missing.returncode == 2
        and "reports/missing" in missing.stderr
        and "reports/train-" in missing.stderr
    )
    empty = reprocheck_here("report", tmp_path, cwd=checked)
    assert empty.returncode == 2 and "record.json" in empty.stderr
    a_file = reprocheck_here("report", "reports/latest/report.html", cwd=checked)
    assert a_file.returncode == 2 and "Name the report folder" in a_file.stderr


def test_report_of_traces_that_are_cut_or_gone(checked: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(checked / "reports" / "latest", copy)
    for trace in copy.glob("run-2/trace/*.jsonl"):
        trace.write_bytes(trace.read_bytes()[:-9])
    assert reprocheck_here("report", copy, cwd=tmp_path).returncode == 0
    shutil.rmtree(copy / "run-2")
    done = reprocheck_here("report", copy, cwd=tmp_path)
    assert done.returncode == 0 and done.stdout.startswith("INCONCLUSIVE")


def test_config_prints_value_and_origin(workdir: Path) -> None:
    (workdir / "reprocheck.toml").write_text("runs = 5\n")
    text = reprocheck("config", "--steps", "all", cwd=workdir, REPROCHECK_RTOL="1e-5").stdout
    rows = {line.split()[0]: line.split()[1:] for line in text.splitlines()}
    assert rows["runs"] == ["5", "reprocheck.toml"]
    assert rows["steps"] == ["all", "--steps"]
    assert rows["rtol"] == ["1e-05", "REPROCHECK_RTOL"]
    assert rows["show-output"] == ["false", "default"]
    values = json.loads(reprocheck("config", "--format", "json", cwd=workdir).stdout)
    assert values["runs"] == {"value": 5, "origin": "reprocheck.toml"}
    assert values["python"] == {"value": None, "origin": "default"}


def test_demo_shows_both_verdicts_and_leaves_reports(workdir: Path) -> None:
    home = Path(package.__file__).parent / "demo"
    before = sorted(home.iterdir())
    done = reprocheck_here("demo", cwd=workdir, draw=True)
    assert done.returncode == 0, done.stderr
    verdicts = [
        line
        for line in done.stdout.splitlines()
        if line in ("REPRODUCIBLE", "NOT REPRODUCIBLE (forward)")
    ]
    assert verdicts == ["REPRODUCIBLE", "NOT REPRODUCIBLE (forward)"]
    reports = [
        line.split()[-1] for line in done.stdout.splitlines() if line.endswith("report.html")
    ]
    assert [Path(path).parts[:2] for path in reports] == [("reports", "demo")] * 2
    assert all((workdir / path).is_file() for path in reports)
    document = json.loads((workdir / reports[1]).with_name("report.json").read_text())
    (cause,) = document["causes"]
    assert (cause["code"], cause["fix"]) == ("RC601", "Write `shuffler = random.Random(0)`.")
    script = (workdir / reports[1]).parents[1] / "unseeded.py"
    line = script.read_text().splitlines()[cause["source"]["line"] - 1]
    assert line.strip().startswith("shuffler = random.Random()")
    assert "torch" not in done.stdout and "layer" not in done.stdout
    assert sorted(home.iterdir()) == before
    assert sorted(path.name for path in workdir.iterdir()) == ["reports"]


def test_demo_does_not_depend_on_the_users_settings(workdir: Path) -> None:
    (workdir / "reprocheck.toml").write_text('output = "elsewhere"\nruns = 7\nrtol = 1000.0\n')
    done = reprocheck_here("demo", "--quiet", cwd=workdir, draw=True)
    assert done.returncode == 0, done.stderr
    said = done.stdout.splitlines()
    assert [line.split(":")[0] for line in said[::2]] == [
        "REPRODUCIBLE",
        "NOT REPRODUCIBLE (forward)",
    ]
    assert all((workdir / place).is_file() for place in said[1::2])
    assert (workdir / "elsewhere" / "demo" / "clean.py").exists()
