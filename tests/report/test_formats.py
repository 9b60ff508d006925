"""Writing a report folder: all files, the same bytes each time, nothing half-written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reprocheck.errors import ReportError
from reprocheck.report import FORMATS, write
from tests.report.samples import SAMPLES, bitwise_equal, forward_fails, hostile

FILES = {
    "report.html", "report.md", "report.json", "losses.csv", "loss.png", "loss.svg",
    "difference.png", "junit.xml",
}  # fmt: skip


def test_every_format_is_written_and_nothing_else(tmp_path: Path) -> None:
    write(forward_fails(), tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == FILES
    assert all(path.stat().st_size > 40 for path in tmp_path.iterdir())


def test_some_formats(tmp_path: Path) -> None:
    write(bitwise_equal(), tmp_path, ["json", "csv"])
    assert {path.name for path in tmp_path.iterdir()} == {"report.json", "losses.csv"}


@pytest.mark.parametrize("name", FORMATS)
def test_the_same_check_gives_the_same_bytes(name: str) -> None:
    form = FORMATS[name]
    assert form.render(forward_fails()) == form.render(forward_fails())


@pytest.mark.parametrize("sample", SAMPLES)
def test_text_formats_are_utf8(sample: str) -> None:
    check = SAMPLES[sample]()
    for name in ("html", "md", "json", "junit", "csv", "svg"):
        assert FORMATS[name].render(check).decode("utf-8")


def test_png_and_svg_are_images() -> None:
    check = hostile()
    assert FORMATS["png"].render(check).startswith(b"\x89PNG\r\n\x1a\n")
    assert FORMATS["difference"].render(check).startswith(b"\x89PNG\r\n\x1a\n")
    svg = FORMATS["svg"].render(check)
    assert b"<svg" in svg and b"<dc:date>" not in svg


def test_a_missing_folder_is_a_report_error(tmp_path: Path) -> None:
    with pytest.raises(ReportError, match="No such file") as caught:
        write(bitwise_equal(), tmp_path / "gone", ["json"])
    assert caught.value.fix


def test_a_full_disk_is_a_report_error_and_keeps_the_old_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(bitwise_equal(), tmp_path, ["json", "csv"])
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    def full(*_: object) -> object:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("reprocheck.report.losses.tables", full)
    with pytest.raises(ReportError, match="No space left"):
        write(forward_fails(), tmp_path, ["json", "csv"])
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_full_is_a_report_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reprocheck.report.formats.token_hex", lambda _: "draft")
    (tmp_path / ".report.json.draft").symlink_to("/dev/full")
    with pytest.raises(ReportError, match="No space left"):
        write(bitwise_equal(), tmp_path, ["json"])
    assert list(tmp_path.iterdir()) == []


def test_importing_the_report_loads_no_heavy_package() -> None:
    code = "import sys, reprocheck.report; print([m for m in ('numpy', 'pandas', 'matplotlib', 'jinja2', 'msgspec') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_drawing_needs_no_pyplot() -> None:
    code = "import sys; from reprocheck.report import warm_up; warm_up(True); print('matplotlib.pyplot' in sys.modules, 'pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False False"
