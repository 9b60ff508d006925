"""Searches over package versions, from an index in a folder, with real environments of uv."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from reprocheck.errors import UsageError
from reprocheck.suite.bisect import packages
from reprocheck.suite.bisect.environments import NOTE, Environments, Refused, Uv, find_uv
from reprocheck.suite.bisect.packages import Change, Environment, Requirements
from reprocheck.suite.bisect.plan import elsewhere
from reprocheck.suite.model import Key, TargetCheck
from tests.suite.bisect.places import ONE_MORE_BIT, Heard, Index, night, searched, suite_of, uv

GUILTY = 5
YANKED = "1.3"


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project whose index has `scaling` 1.0 to 1.8, of which 1.3 is withdrawn, `lock`, which
    asks for one version of `pinned`, and `nightlies`.
    """
    made = tmp_path_factory.mktemp("project")
    index = Index(made / "index", yanked={YANKED})
    for minor in range(9):
        scale = ONE_MORE_BIT if minor >= GUILTY else "1.0"
        index.add("scaling", f"1.{minor}", f"SCALE = {scale}\n")
        index.add("pinned", f"2.{minor}")
        index.add("lock", f"3.{minor}", requires=[f"pinned==2.{minor}"])
    for version in ("1.0", "1.1.dev20260101", "1.1.dev20260102", "1.1rc1", "1.1", "1.2"):
        index.add("nightlies", version)
    index.use_in(made)
    suite_of(made, "scaling", {"python": "env/bin/python"})
    uv(made, "venv", "--quiet", "--python", sys.executable, "env")
    return made


def install(project: Path, *requirements: str) -> None:
    uv(project, "pip", "install", "--quiet", "--python", "env/bin/python", *requirements)


@pytest.fixture(scope="module")
def found_uv(project: Path) -> Uv:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UV_OFFLINE", "1")
        return find_uv(str(project / "env" / "bin" / "python"), project)


def test_the_release_is_found_within_the_bound_and_no_environment_is_made_twice(
    project: Path,
) -> None:
    install(project, "scaling==1.0", "nightlies==1.0")
    good = night(project)
    install(project, "scaling==1.8")
    bad = night(project)

    first = Heard()
    found = searched(project, good, bad, observer=first)

    assert found.outcome == "found"
    assert found.candidates == 7, "1.1 to 1.8 without the one that is withdrawn"
    assert found.made == len(found.checked) <= found.most == 4
    link = (project / "index").as_uri()
    assert found.guilty[0].packages == (
        Change(name="scaling", before="1.4", after="1.5", link=link),
    )
    assert len(first.said) == found.made
    assert len(list((project / "cache").glob(f"*/{NOTE}"))) == found.made

    second = Heard()
    again = searched(project, good, bad, observer=second, again=True)
    assert (again.made, again.guilty) == (found.made, found.guilty)
    assert second.said == [], "every environment was there"


def way(project: Path, good: dict[str, str], bad: dict[str, str], found: Uv) -> list[str]:
    between = packages.between(found, good, bad)
    assert (between[0].others, between[-1].others) == (good, bad)
    return [one.label for one in between[1:-1]]


def test_pre_releases_are_candidates_where_a_night_had_one(project: Path, found_uv: Uv) -> None:
    releases = way(project, {"nightlies": "1.0"}, {"nightlies": "1.2"}, found_uv)
    assert releases == ["nightlies 1.1"]
    nightlies = way(project, {"nightlies": "1.1.dev20260101"}, {"nightlies": "1.1"}, found_uv)
    assert nightlies == ["nightlies 1.1.dev20260102", "nightlies 1.1rc1"]
    backwards = way(project, {"nightlies": "1.2"}, {"nightlies": "1.0"}, found_uv)
    assert backwards == ["nightlies 1.1"]


def test_of_several_packages_each_moves_alone(project: Path, found_uv: Uv) -> None:
    good = {"nightlies": "1.0", "scaling": "1.0"}
    bad = {"nightlies": "1.2", "scaling": "1.2", "pinned": "2.0"}
    labels = way(project, good, bad, found_uv)
    assert labels == ["nightlies 1.1", "nightlies 1.2", "pinned 2.0", "scaling 1.1"]


def test_packages_that_another_one_binds_follow_it(project: Path, found_uv: Uv) -> None:
    good = {"lock": "3.0", "pinned": "2.0", "scaling": "1.0"}
    bad = {"lock": "3.3", "pinned": "2.3", "scaling": "1.0"}
    between = packages.between(found_uv, good, bad)
    assert [one.label for one in between[1:-1]] == ["lock 3.1", "lock 3.2"]
    resolved = packages.resolved(found_uv, between[1], {})
    assert isinstance(resolved, Requirements)
    assert resolved.versions == {"lock": "3.1", "pinned": "2.1", "scaling": "1.0"}


def test_what_no_index_has_is_taken_from_where_the_interpreter_has_it(
    project: Path, found_uv: Uv
) -> None:
    own = project / "own"
    own.mkdir()
    (own / "pyproject.toml").write_text('[project]\nname = "own-part"\nversion = "1"\n')
    night = {"own-part": "1", "unheard-of": "1", "scaling": "1.0"}
    (site,) = (project / "env").glob("lib/*/site-packages")
    dist = site / "own_part-1.dist-info"
    dist.mkdir()
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: own-part\nVersion: 1\n")
    editable = f'{{"url": "{own.as_uri()}", "dir_info": {{"editable": true}}}}'
    (dist / "direct_url.json").write_text(editable)
    (dist / "RECORD").write_text("")
    try:
        local = packages.not_on_index(found_uv, night)
    finally:
        for file in dist.iterdir():
            file.unlink()
        dist.rmdir()
    assert local == {"own-part": f"-e {own}", "unheard-of": ""}
    end = packages.resolved(found_uv, Environment(label="end", others=night), local)
    assert isinstance(end, Requirements)
    assert end.lines == ("scaling==1.0", f"-e {own}")


def test_environments_beyond_the_limit_go_but_not_those_in_use(
    found_uv: Uv, tmp_path: Path
) -> None:
    made: list[str] = []
    environments = Environments(folder=tmp_path, limit=0)
    first, second, third = (("scaling==1.0",), ("scaling==1.1",), ("scaling==1.2",))
    with environments.used(first, found_uv, lambda: made.append("first")) as one:
        assert isinstance(one, Path) and one.exists()
        with environments.used(second, found_uv, lambda: made.append("second")) as other:
            assert isinstance(other, Path) and other.exists()
        assert one.exists(), "a search uses it"
        with environments.used(third, found_uv, lambda: made.append("third")):
            assert not other.exists()
    with environments.used(first, found_uv, lambda: made.append("first again")):
        assert made == ["first", "second", "third"]


def test_an_environment_that_cannot_be_made_leaves_nothing(found_uv: Uv, tmp_path: Path) -> None:
    environments = Environments(folder=tmp_path)
    with environments.used(("unheard-of==1",), found_uv, lambda: None) as refused:
        assert isinstance(refused, Refused)
        assert "unheard-of" in refused.reason
    assert not list(tmp_path.glob("*/"))


def test_packages_of_a_night_stand_in_its_key_and_beside_it() -> None:
    check = TargetCheck(
        night="n",
        target="t",
        key=Key(facts={"torch": "2.13.0+cpu", "threads": "2"}),
        beside={"package.numpy": "2.1.0", "package.odd": "installed", "variable.X": "1"},
    )
    assert packages.installed_at(check) == {"numpy": "2.1.0", "torch": "2.13.0+cpu"}


def test_without_uv_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("reprocheck.suite.bisect.environments.shutil.which", lambda name: None)
    monkeypatch.setattr("reprocheck.suite.bisect.environments.find_spec", lambda name: None)
    with pytest.raises(UsageError, match="needs uv") as told:
        find_uv(sys.executable, tmp_path)
    assert told.value.fix == 'pip install "reprocheck[bisect]"'


def test_other_facts_that_differ_are_named_but_not_those_of_packages_that_moved() -> None:
    then = {"package.numpy": "2.0.0", "numpy.blas": "0.3.27", "variable.LANG": "C"}
    now = {"package.numpy": "2.1.0", "numpy.blas": "0.3.29", "variable.LANG": "C.UTF-8"}
    good = TargetCheck(night="a", target="t", key=Key(facts={"device": "x"}), beside=then)
    bad = TargetCheck(night="b", target="t", key=Key(facts={"device": "y"}), beside=now)
    assert elsewhere(good, bad) == {"device": ("x", "y"), "variable.LANG": ("C", "C.UTF-8")}
