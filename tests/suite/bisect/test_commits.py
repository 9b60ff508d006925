"""The commits between two nights."""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.bisect.commits import between, facts, known
from tests.suite.bisect.places import commit, git, repository


@pytest.fixture(scope="module")
def merged(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """start - left 1 - left 2 ------- merge - end, with a branch of two commits merged."""
    folder = repository(tmp_path_factory.mktemp("merged"))
    made = {"start": commit(folder, "start", a="")}
    git(folder, "switch", "--quiet", "--create", "side")
    made["side 1"] = commit(folder, "side 1", b="1")
    made["side 2"] = commit(folder, "side 2", b="2")
    git(folder, "switch", "--quiet", "main")
    made["left 1"] = commit(folder, "left 1", a="1")
    made["left 2"] = commit(folder, "left 2", a="2")
    git(folder, "merge", "--quiet", "--no-ff", "--message", "merge", "side")
    made["merge"] = git(folder, "rev-parse", "HEAD")
    made["end"] = commit(folder, "end", c="ü")
    return folder, made


def test_each_commit_builds_on_those_that_git_says(merged: tuple[Path, dict[str, str]]) -> None:
    folder, made = merged
    found = between(folder, made["start"], made["end"])
    numbers = {hash: number for number, hash in enumerate(found.hashes)}
    assert numbers.keys() == set(made.values())
    parents = {name: found.graph.parents[numbers[hash]] for name, hash in made.items()}
    assert parents["start"] == ()
    assert parents["side 1"] == parents["left 1"] == (0,)
    assert set(parents["merge"]) == {numbers[made["left 2"]], numbers[made["side 2"]]}
    assert numbers[made["end"]] == found.graph.bad_end == 6
    assert not found.aside


def test_by_first_parents_a_merge_stands_for_its_branch(
    merged: tuple[Path, dict[str, str]],
) -> None:
    folder, made = merged
    found = between(folder, made["start"], made["end"], first_parent=True)
    names = ("start", "left 1", "left 2", "merge", "end")
    assert found.hashes == tuple(made[name] for name in names)
    assert found.graph.parents == ((), (0,), (1,), (2,), (3,))


def test_commits_that_the_good_night_has_are_no_candidates(
    merged: tuple[Path, dict[str, str]],
) -> None:
    folder, made = merged
    found = between(folder, made["left 2"], made["end"])
    assert set(found.hashes[1:]) == {made[name] for name in ("side 1", "side 2", "merge", "end")}
    assert found.graph.parents[found.hashes.index(made["side 1"])] == (0,)


def test_where_the_histories_part_the_common_commit_is_the_good_end(
    merged: tuple[Path, dict[str, str]],
) -> None:
    folder, made = merged
    found = between(folder, made["side 2"], made["left 2"])
    assert found.aside
    assert found.hashes[0] == made["start"]
    assert set(found.hashes[1:]) == {made["left 1"], made["left 2"]}


def test_a_commit_has_author_date_subject_and_files(merged: tuple[Path, dict[str, str]]) -> None:
    folder, made = merged
    shown = facts(folder, made["end"])
    assert (shown.author, shown.subject, shown.files) == ("Ann <ann@example.org>", "end", ("c.py",))
    assert shown.date.startswith("20")
    assert facts(folder, made["merge"]).files == ("b.py",)
    assert facts(folder, made["start"]).files == ("a.py",)


def test_a_commit_that_is_not_there_says_how_to_fetch_it(
    merged: tuple[Path, dict[str, str]], tmp_path: Path
) -> None:
    folder, made = merged
    assert known(folder, f"{made['end']}+") == made["end"]
    with pytest.raises(UsageError, match="has no commit 012345678") as told:
        known(folder, "0123456789" * 4)
    assert "git fetch" in told.value.fix
    with pytest.raises(UsageError, match="not in a git repository"):
        known(tmp_path, made["end"])
