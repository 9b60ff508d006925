"""`reprocheck rules`: the table, one entry, JSON, and what it costs."""

from __future__ import annotations

import json
from pathlib import Path

from reprocheck.rules import catalogue, find
from tests.cli.test_overview import HEAVY, modules_after
from tests.conftest import reprocheck_here


def test_the_table_has_a_row_for_each_entry_and_is_plain_in_a_pipe(workdir: Path) -> None:
    done = reprocheck_here("rules", cwd=workdir)
    rows = done.stdout.splitlines()
    assert done.returncode == 0 and "\x1b" not in done.stdout
    assert [row.split()[0] for row in rows] == [entry.code for entry in catalogue()]
    assert all(
        entry.title in row and ", ".join(entry.frameworks) in row
        for entry, row in zip(catalogue(), rows)
    )


def test_an_entry_by_code_and_by_name(workdir: Path) -> None:
    by_code, by_name = (
        reprocheck_here("rules", "rc505", cwd=workdir),
        reprocheck_here("rules", "hash-order", cwd=workdir),
    )
    assert by_code.returncode == 0 and by_code.stdout == by_name.stdout
    words = " ".join(by_code.stdout.split())
    entry = find("hash-order")
    assert (
        entry
        and entry.title in words
        and entry.why in words
        and entry.fix in by_code.stdout.replace("\n  ", "\n")
    )
    assert all(len(line) <= 80 for line in by_code.stdout.split("\nFix\n")[0].splitlines())


def test_json(workdir: Path) -> None:
    rows = json.loads(reprocheck_here("rules", "--format", "json", cwd=workdir).stdout)
    assert [row["code"] for row in rows] == [entry.code for entry in catalogue()]
    one = json.loads(reprocheck_here("rules", "RC301", "--format", "json", cwd=workdir).stdout)
    assert (
        one["name"] == "unseeded-weights"
        and one["group"] == "Weights"
        and "mindspore" in one["fixes"]
    )


def test_the_table_of_relations(workdir: Path) -> None:
    printed = reprocheck_here("rules", "--relations", cwd=workdir).stdout
    rows = json.loads(
        reprocheck_here("rules", "--relations", "--format", "json", cwd=workdir).stdout
    )
    names = {row["name"] for row in rows}
    assert {"hash-seed", "file-order", "hostname", "rank-noise", "seed"} <= names
    assert all(name in printed for name in names)
    by_kind = {row["kind"]: row for row in rows}
    assert {kind: row["starts"] for kind, row in by_kind.items()} == {
        "control": 2,
        "variation": 1,
        "must differ": 2,
        "mirror": 0,
    }
    assert by_kind["must differ"]["expects"] == "must differ"
    assert max(map(len, printed.splitlines())) <= 80
    wrong = reprocheck_here("rules", "RC301", "--relations", cwd=workdir)
    assert wrong.returncode == 2 and "--relations prints one table" in wrong.stderr


def test_an_unknown_code_names_the_nearest(workdir: Path) -> None:
    done = reprocheck_here("rules", "unseeded-wieghts", cwd=workdir)
    assert done.returncode == 2 and done.stdout == ""
    assert (
        "error: There is no rule unseeded-wieghts." in done.stderr
        and "Did you mean unseeded-weights" in done.stderr
    )
    assert reprocheck_here("rules", "--format", "yaml", cwd=workdir).returncode == 2


def test_it_imports_nothing_heavy() -> None:
    assert (
        modules_after(
            ["rules", "RC301"],
            *(name for name in HEAVY if name != "rich"),  # it draws the entry
            "reprocheck.launch",
            "reprocheck.report",
            "reprocheck.explain",
        )
        == []
    )
