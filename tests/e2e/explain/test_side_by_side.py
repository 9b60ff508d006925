"""A search whose arms are made side by side comes to the same as one arm after the other."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import reprocheck as package
from reprocheck.recording import record
from tests.e2e.explain.explaining import TWO_CAUSES, Explained, differing, explain


def test_the_same_is_found_with_arms_side_by_side(two_causes: Explained, tmp_path: Path) -> None:
    explained = differing(explain(TWO_CAUSES, tmp_path, "--jobs", "2", "--workdir", "copy"))
    alone, beside = two_causes.report["controls"], explained.report["controls"]
    assert (beside["smallest"], beside["sentence"]) == (alone["smallest"], alone["sentence"])
    assert explained.confidences == two_causes.confidences

    folder, arms = explained.folder, explained.record.arms
    assert not list(folder.glob("workdir*"))
    on_disk = {path.name for path in (folder / "arms").iterdir() if list(path.glob("run-*"))}
    assert on_disk == {arm.name for arm in arms}
    assert all(arm.why for arm in arms if not arm.unneeded)
    tried = beside["tried"][1:]
    assert sum(row["runs"] for row in tried) == sum(len(arm.runs) for arm in arms)
    spare = [row for row in tried if "did not need" in row["note"]]
    assert len(spare) == sum(arm.unneeded for arm in arms)


def test_what_the_search_did_not_need_counts_for_nothing(
    two_causes: Explained, tmp_path: Path
) -> None:
    folder = shutil.copytree(two_causes.folder, tmp_path / "copy")
    held = two_causes.record
    spare = [replace(arm, name=f"9{arm.name}", controls=(), unneeded=True) for arm in held.arms]
    one = replace(spare[0], name="10-one", runs=spare[0].runs[:1])
    record.write(folder, replace(held, arms=(*held.arms, *spare, one)))
    before, after = package.load(two_causes.folder), package.load(folder)
    assert after.search is not None and before.search is not None
    assert after.causes == before.causes
    assert after.search.confidence == before.search.confidence
    assert after.search.tried[: len(before.search.tried)] == before.search.tried
    added = after.search.tried[len(before.search.tried) :]
    assert {row.note for row in added} == {"made beside the others; the search did not need it"}
    assert [row.runs for row in added] == [len(arm.runs) for arm in (*spare, one)]
    assert added[-1].agrees is None
