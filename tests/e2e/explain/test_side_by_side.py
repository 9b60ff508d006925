"""A search whose runs are made side by side comes to the same as one run after the other."""

from __future__ import annotations

from pathlib import Path

from tests.e2e.explain.explaining import TWO_CAUSES, Explained, differing, explain


def test_the_same_is_found_with_runs_side_by_side(two_causes: Explained, tmp_path: Path) -> None:
    explained = differing(explain(TWO_CAUSES, tmp_path, "--jobs", "2", "--workdir", "copy"))
    alone, beside = two_causes.report["controls"], explained.report["controls"]
    assert beside["smallest"] == alone["smallest"]
    assert explained.confidences == two_causes.confidences

    folder, arms = explained.folder, explained.record.arms
    assert not list(folder.glob("workdir*"))
    on_disk = {path.name for path in (folder / "arms").iterdir() if list(path.glob("run-*"))}
    assert on_disk == {arm.name for arm in arms}
    assert all(arm.reason for arm in arms)
    assert sum(row["runs"] for row in beside["tried"][1:]) == sum(len(arm.runs) for arm in arms)
