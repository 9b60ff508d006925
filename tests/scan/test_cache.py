"""Results of earlier scans: taken where nothing changed, and made anew where anything that they
depend on did.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from reprocheck.scan import Result, cache, scan
from reprocheck.scan.cache import Cache, Outline, default_folder

MAIN = "import helper, torch\nhelper.seed()\ntorch.nn.Linear(1, 1)\nloss.backward()\n"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "project"
    root.mkdir()
    (root / "main.py").write_text(MAIN)
    (root / "helper.py").write_text("import torch\ndef seed():\n    torch.manual_seed(0)\n")
    (root / "other.py").write_text(
        "import torch, time\ntorch.manual_seed(int(time.time()))\nx.backward()\n"
    )
    (root / "broken.py").write_text("def f(\n")
    return root


def scanned(root: Path) -> Result:
    return scan([root], cache=root.parent / "cache")


def codes(result: Result) -> list[tuple[str, str]]:
    return [(Path(one.path).name, one.code) for one in result.findings]


def test_a_second_scan_reads_what_the_first_found(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = scanned(tree)
    assert first.cached == 0 and codes(first) == [("other.py", "RC402")]
    monkeypatch.setattr("reprocheck.scan.source._tree", None)
    second = scanned(tree)
    assert (
        second.cached == 3
        and second.findings == first.findings
        and second.unreadable == first.unreadable
    )


def test_a_change_in_a_module_counts_for_those_that_import_it(tree: Path) -> None:
    scanned(tree)
    (tree / "helper.py").write_text("import torch\ndef seed():\n    pass\n")
    changed = scanned(tree)
    assert changed.cached == 1 and ("main.py", "RC301") in codes(changed)
    (tree / "helper.py").unlink()
    assert scanned(tree).cached == 1


def test_rules_are_chosen_after_the_cache(tree: Path) -> None:
    scanned(tree)
    chosen = scan([tree], select=["RC3"], cache=tree.parent / "cache")
    assert chosen.cached == 3 and not chosen.findings


def test_another_version_starts_anew_and_clears_the_old(
    tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scanned(tree)
    monkeypatch.setattr(cache, "version", lambda: "another")
    assert scanned(tree).cached == 0
    assert [folder.name for folder in (tree.parent / "cache").iterdir()] == ["another"]


def test_a_damaged_or_closed_cache_is_none(tree: Path) -> None:
    first = scanned(tree)
    for file in (tree.parent / "cache").rglob("*.json"):
        file.write_text("{")
    assert scanned(tree).findings == first.findings
    (tree.parent / "file").write_text("")
    assert scan([tree], cache=tree.parent / "file").findings == first.findings


def test_where_it_lies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "reprocheck" / "scan"
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert default_folder() == tmp_path / ".cache" / "reprocheck" / "scan"


def test_outlines_are_kept_whole(tmp_path: Path) -> None:
    kept = Cache(tmp_path)
    outline = Outline(lines=3, imports=((1, "", ("x",)),), problem="", problem_line=None)
    kept.keep_outline("ab12", outline)
    assert Cache(tmp_path).outline("ab12") == outline and Cache(None).outline("ab12") is None


def test_two_processes_find_what_one_finds(tree: Path) -> None:
    for number in range(6):
        (tree / f"more{number}.py").write_text(MAIN.replace("helper.seed()", ""))
    assert scan([tree], jobs=2).findings == scan([tree], jobs=1).findings
