"""A check that does not simply pass, on one screen of the terminal, whatever it found."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from rich.text import Text

from reprocheck.cli.brief_view import _fix
from reprocheck.cli.console import Console
from reprocheck.cli.summary import print_next, print_place, print_verdict
from reprocheck.cli.terminal import Stream
from reprocheck.model import Cause, Check, SourceLine
from reprocheck.model.replay import Replay
from reprocheck.report.blocks import Repair
from reprocheck.settings import Settings
from tests.cli.screen import rows as rows_of_terminal
from tests.conftest import clean_environment, note_narrow_agreement, reprocheck_here
from tests.report.samples import (
    SAMPLES,
    backward_fails,
    bitwise_equal,
    explained,
    forward_fails,
    hostile,
    led,
    script_failed,
)
from tests.report.test_controls_section import searched

DEMO = Path(__file__).parents[2] / "reprocheck" / "demo" / "unseeded.py"


def long_everywhere() -> Check:
    """Every part of it is longer than there is room for."""
    words = "something that takes many words to say and then some more of them; " * 8
    cause = Cause(
        code="RC601",
        title=words,
        confidence="observed",
        evidence=(words, words),
        source=SourceLine(file="package/" * 20 + "train.py", line=1, text="x" * 300),
        fix="\n".join(f"line_{number} = {number}" for number in range(60)),
    )
    base = explained()
    assert base.ladder is not None
    long = replace(
        base,
        ladder=replace(base.ladder, sentence=words),
        causes=(cause,) * 9,
        caveats=(words,) * 5,
        state_left=tuple(f"{words}{number}" for number in range(9)),
        environment_differences=forward_fails().environment_differences,
        coverage=(words,) * 30,
        verdict=replace(base.verdict, reason=words),
    )
    return led(long)


def long_patch() -> Check:
    """A search that found a patch of many lines."""
    base = searched()
    assert base.search is not None
    changed = "".join(f"-old {number}\n+new {number}\n" for number in range(40))
    return replace(
        base,
        search=replace(
            base.search, patch=f"--- a/train.py\n+++ b/train.py\n@@ -1,40 +1,40 @@\n{changed}"
        ),
    )


def long_log() -> Check:
    """A script that failed after it had printed a lot."""
    base = script_failed()
    return replace(
        base,
        runs=(
            replace(
                base.runs[0],
                stderr_tail="a line of the log\n" * 500 + "RuntimeError: the last line\n",
            ),
        ),
    )


def long_with_replay() -> Check:
    check = long_everywhere()
    assert check.ladder is not None
    name = "aten._scaled_dot_product_flash_attention_for_cpu_backward.default"
    replay = Replay(framework="torch", name=name, of="operator", arguments=())
    return replace(check, ladder=replace(check.ladder, replay=replay))


def printed(
    check: Check, monkeypatch: pytest.MonkeyPatch, *, columns: int = 80, verbose: bool = False
) -> list[str]:
    """What stands on stdout after a check, off a terminal."""
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr("sys.stdout", io.StringIO())
    monkeypatch.setattr("sys.stderr", io.StringIO())
    console = Console(Settings(verbose=verbose))
    print_verdict(check, console)
    print_place(check, console, Path("reports") / "train-20260504-101112", "html")
    print_next(check, console)
    assert isinstance(console.out.file, io.StringIO)
    return console.out.file.getvalue().splitlines()


def plain(rows: list[Text]) -> list[str]:
    """Rows without their styles."""
    return [row.plain for row in rows]


ROWS_OF_A_SCREEN = 28
MADE: list[Callable[[], Check]] = [made for made in SAMPLES.values() if made is not bitwise_equal]
MADE += [searched, long_everywhere, long_patch, long_log, long_with_replay]


@pytest.mark.parametrize("columns", [60, 80, 132])
@pytest.mark.parametrize("made", MADE, ids=lambda made: made.__name__)
def test_a_check_that_does_not_pass_fits_on_a_screen(
    made: Callable[[], Check], columns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = printed(made(), monkeypatch, columns=columns)
    has_long_sentences = made in (hostile, long_everywhere, long_with_replay)
    assert len(lines) <= ROWS_OF_A_SCREEN or has_long_sentences or columns < 80, "\n".join(lines)
    to_paste = ("    ", "  │")
    assert [line for line in lines if len(line) > columns and not line.startswith(to_paste)] == []
    assert any(line.startswith("  report") for line in lines) and lines[-1].startswith("    ")
    replayed = [line for line in lines if line.startswith("  replay")]
    assert len(replayed) == (made is long_with_replay)


def test_it_says_verdict_where_cause_line_fix_and_what_to_type(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = printed(explained(), monkeypatch)
    labels = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert lines[0] == "NOT REPRODUCIBLE (forward)"
    order = [
        label for label in labels if label in ("where", "cause", "line", "fix", "report", "next")
    ]
    assert order == ["where", "cause", "line", "fix", "report", "next"]
    assert "    self.generator.manual_seed(0)" in lines


def test_verbose_prints_all_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    short = "\n".join(printed(explained(), monkeypatch))
    whole = "\n".join(printed(explained(), monkeypatch, verbose=True))
    for said in ("initial weights", "R301 Noisy operator", "backward", "first divergence"):
        assert said in whole and said not in short


def test_a_patch_that_was_tried_is_the_only_fix(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(searched(), monkeypatch)
    labels = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert "patch" in labels and "fix" not in labels


def test_each_confirmed_cause_is_told_with_its_line_and_fix(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    base = searched()
    assert base.search is not None
    confirmed = [replace(one, confidence="confirmed") for one in base.causes[:1] * 2]
    second = replace(confirmed[1], code="RC505", fix="Sort it.", fix_from="place")
    check = replace(base, causes=(confirmed[0], second))
    lines = printed(check, monkeypatch)
    labels = [line.split()[0] for line in lines if line.startswith("  ") and line[2] != " "]
    assert labels.count("cause") == 2 and labels.count("patch") == 1
    assert labels.index("patch") > len(labels) - labels[::-1].index("cause") - 1, "one for both"
    unpatched = replace(check, search=replace(base.search, patch=""))
    said = "\n".join(printed(unpatched, monkeypatch))
    assert said.count("cause  ") == 2 and "Sort it." in said and "more cause" not in said


def test_of_a_patch_that_is_too_long_the_changed_lines_are_shown(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines = printed(long_patch(), monkeypatch)
    assert (
        "    -old 0" in lines and "    +new 0" in lines and not any("@@" in line for line in lines)
    )
    assert any("more lines (-v)" in line for line in lines)


def test_a_patch_that_does_not_fit_names_the_line_of_each_change() -> None:
    patch = (
        "--- a/train.py\n+++ b/train.py\n@@ -3,5 +3,6 @@\n import torch\n \n+torch.manual_seed(7)\n"
        " net = Net()\n-noise = default_rng()\n+noise = default_rng(0)\n loss = net(noise)"
    )
    shown = plain(_fix(Repair(kind="patch", text=patch, said=""), Stream(io.StringIO()), 6))[1:]
    assert shown == [
        "    train.py:5",
        "    +torch.manual_seed(7)",
        "    train.py:6",
        "    -noise = default_rng()",
        "    +noise = default_rng(0)",
    ]


def test_a_short_change_is_shown_before_the_name_of_its_file() -> None:
    changed = Repair(
        kind="patch", text="--- a/train.py\n+++ b/train.py\n@@ -1 +1 @@\n-old\n+new", said=""
    )
    assert plain(_fix(changed, Stream(io.StringIO()), 4))[1:] == [
        "    train.py:1",
        "    -old",
        "    +new",
    ]
    assert plain(_fix(changed, Stream(io.StringIO()), 3))[1:] == ["    -old", "    +new"]
    code = Repair(kind="code", text="import numpy\n\nnumpy.random.seed(0)")
    assert plain(_fix(code, Stream(io.StringIO()), 3))[-2:] == [
        "    import numpy",
        "    numpy.random.seed(0)",
    ]


def test_only_what_was_removed_is_a_proof(monkeypatch: pytest.MonkeyPatch) -> None:
    base = searched()
    assert base.search is not None
    assert any(line.startswith("  proof ") for line in printed(base, monkeypatch))
    lines = printed(replace(base, search=replace(base.search, smallest=(), patch="")), monkeypatch)
    assert any(line.startswith("  search ") for line in lines) and not any(
        line.startswith("  proof ") for line in lines
    )


def test_a_sentence_is_never_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    base = searched()
    assert base.search is not None
    words = [f"word{number}" for number in range(400)]
    long = replace(base, search=replace(base.search, sentence=" ".join(words)))
    lines = printed(long, monkeypatch)
    assert set(words) <= set(" ".join(lines).split())
    sentences = [line for line in lines if not line.startswith(("  line", "    "))]
    assert not any(line.endswith("…") for line in sentences)


def test_a_long_path_keeps_its_line_number() -> None:
    out = Stream(io.StringIO())
    assert out.cut_head("folder/" * 20 + "train.py:14", 20) == "...older/train.py:14"
    assert out.cut_head("train.py:14", 20) == "train.py:14"


def test_the_end_of_a_log_is_its_last_line(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = printed(long_log(), monkeypatch)
    assert lines[-4].endswith("RuntimeError: the last line")


def test_hostile_text_stays_in_its_row(monkeypatch: pytest.MonkeyPatch) -> None:
    assert not any("\x1b" in line or "\x00" in line for line in printed(hostile(), monkeypatch))


def test_columns_count_off_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    for asked, width in (("60", 60), ("132", 132), ("", 80), ("wide", 80), ("0", 80), ("3", 40)):
        monkeypatch.setenv("COLUMNS", asked)
        assert Stream(io.StringIO()).width == width
    assert max(map(len, printed(backward_fails(), monkeypatch, columns=132))) > 80


@pytest.mark.parametrize("command", ["run", "explain"])
def test_a_real_failed_check_fits_on_one_screen_of_a_terminal(command: str, workdir: Path) -> None:
    (workdir / "unseeded.py").write_text(DEMO.read_text())
    lines = DEMO.read_text().splitlines()
    unseeded = next(n for n, line in enumerate(lines, 1) if "random.Random()" in line)
    rows = screen([command, "--no-draw", "unseeded.py"], workdir)
    note_agreement_by_chance(workdir)
    assert any(row.startswith("NOT REPRODUCIBLE (forward)") for row in rows)
    assert len(rows) <= ROWS_OF_A_SCREEN, "\n".join(rows)
    assert rows[-1].startswith("    reprocheck ") and any(
        f"unseeded.py:{unseeded}" in row for row in rows
    )


def test_off_a_terminal_columns_and_quiet_are_kept(workdir: Path) -> None:
    (workdir / "unseeded.py").write_text(DEMO.read_text())
    quiet = reprocheck_here(
        "run", "--quiet", "--no-explain", "--no-draw", "unseeded.py", cwd=workdir, COLUMNS="50"
    )
    note_agreement_by_chance(workdir)
    verdict, place = quiet.stdout.splitlines()
    assert verdict.startswith("NOT REPRODUCIBLE (forward): ") and quiet.stderr == ""
    assert (workdir / place).is_file() and place.endswith("report.json")


def note_agreement_by_chance(workdir: Path) -> None:
    """Two draws of the demonstration may lie within the tolerance: then the test is run again."""
    folder = workdir / "reports" / "latest"
    note_narrow_agreement(folder, json.loads((folder / "report.json").read_text()))


def screen(arguments: list[str], cwd: Path) -> list[str]:
    """The rows of a terminal of 80 columns after a command."""
    parent, child = pty.openpty()
    subprocess.run(["stty", "cols", "80", "rows", "50"], stdin=child, check=True)
    process = subprocess.Popen(
        [sys.executable, "-m", "reprocheck", *arguments],
        cwd=cwd,
        env=clean_environment(TERM="xterm", NO_COLOR="1", COLUMNS="80"),
        stdin=subprocess.DEVNULL,
        stdout=child,
        stderr=child,
    )
    os.close(child)
    drawn = b""
    while data := _read(parent):
        drawn += data
    os.close(parent)
    assert process.wait(120) == 1
    return rows_of_terminal(drawn.decode())


def _read(parent: int) -> bytes:
    try:
        return os.read(parent, 65536)
    except OSError:
        return b""
