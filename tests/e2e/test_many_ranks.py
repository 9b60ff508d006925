"""Many ranks: the one that differs first is named, and what is the same for many is said once."""

from __future__ import annotations

from pathlib import Path

from benchmarks import ranks
from reprocheck.report import content, ladder, markdown, numbers
from reprocheck.workflow import replay


def test_the_report_of_many_ranks_names_one_and_stays_short(
    tmp_path: Path,
) -> None:
    shape = ranks.Shape(ranks=40, blocks=2, faulty=31)
    check = replay.load(ranks.recorded(tmp_path / "many", shape))
    assert check.ladder is not None and check.ladder.first_rung is not None
    rung = check.ladder.first_rung
    assert (rung.rung, rung.rank, rung.place) == ("gradient", 31, "blocks.1.down")
    assert check.ladder.sentence.endswith("(rank 31).")
    assert "rank 31" in ladder.where(rung) and "ranks 0–39" in ladder.where(
        check.ladder.rung("reduced gradient")
    )
    assert check.coverage == (
        "Ranks 0–39, each: 10 losses in 10 iterations; frameworks imported: torch 2.",
        "No `replay.py` was made of `blocks.1.down`: its operators were not recorded;"
        " `reprocheck run --level op` records them.",
    )
    shown = numbers.checks(check)
    assert len(shown.rows) == numbers.CHECK_ROWS + 2 and {row[0] for row in shown.rows} == {
        "forward",
        "backward",
    }
    assert shown.note == "34 of 80 rows, the worst ones; 40 of all fail. All are in report.json."
    assert len(markdown.render(content.report(check))) < 20_000
