"""When pictures are drawn, and what a check that passes imports."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import clean_environment, reprocheck

PASSES = "import reprocheck\nfor step in range(5):\n    reprocheck.log_loss(1 / (step + 1))\n"
FAILS = PASSES.replace("1 / (step", "__import__('random').random() / (step")
PICTURES = {"loss.png", "loss.svg", "difference.png"}
REPORTS = {"report.html", "report.md", "report.json", "losses.csv", "junit.xml"}


def written(folder: Path, *options: str, source: str = PASSES) -> set[str]:
    """The reports of a check."""
    (folder / "train.py").write_text(source)
    done = reprocheck("run", "-q", *options, "train.py", cwd=folder)
    assert done.returncode == (source is FAILS), done.stderr
    names = {path.name for path in (folder / "reports" / "latest").iterdir()}
    return names & (PICTURES | REPORTS)


@pytest.mark.parametrize(
    ("options", "names"),
    [((), REPORTS), (("--draw",), REPORTS | PICTURES), (("--no-draw",), {"report.json"})],
)
def test_a_pass_has_pictures_only_if_they_are_asked_for(
    options: tuple[str, ...], names: set[str], tmp_path: Path
) -> None:
    assert written(tmp_path, *options) == names


def test_a_failure_has_pictures_and_a_pass_gets_them_from_report(tmp_path: Path) -> None:
    assert written(tmp_path, "--no-explain", source=FAILS) == REPORTS | PICTURES
    assert written(tmp_path) == REPORTS
    assert reprocheck("report", "reports/latest", cwd=tmp_path).returncode == 0
    assert {path.name for path in (tmp_path / "reports" / "latest").iterdir()} >= PICTURES


def test_the_reports_of_a_pass_show_its_curves_and_name_no_picture(tmp_path: Path) -> None:
    written(tmp_path)
    latest = tmp_path / "reports" / "latest"
    page = (latest / "report.html").read_text()
    assert "<img" not in page and page.count('class="chart-static"') == 2
    assert page.count('class="chart-preview"') == 1 and 'id="chart-data"' in page
    text = (latest / "report.md").read_text()
    assert "run 1  █▄▂▁▁  1 to 0.2" in text and not re.search(r"\.(png|svg)", text)


def test_a_check_that_passes_imports_no_library_for_pictures_or_tables(tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(PASSES)
    heavy = ("pandas", "matplotlib", "PIL", "libcst", "sqlalchemy")
    code = (
        "import sys\nfrom reprocheck.cli import main\nassert main(['run', '-q', 'train.py']) == 0\n"
        f"print([name for name in {heavy!r} if name in sys.modules])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=tmp_path,
        env=clean_environment(),
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[-1] == "[]"
