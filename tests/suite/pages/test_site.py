"""The site: an overview, a page a night, a page a target, in plain files."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from benchmarks.page import objections
from reprocheck.errors import ReportError, UsageError
from reprocheck.suite import site
from reprocheck.suite.history import open_history
from reprocheck.suite.model import Key
from reprocheck.suite.pages import timeline
from tests.report.parts import HOSTILE
from tests.report.smuggled import ran_and_sent, smuggled
from tests.report.test_page import Outline
from tests.suite.pages.conftest import Drawn
from tests.suite.pages.samples import (
    LIVES,
    NIGHTS,
    Baseline,
    bad,
    curves,
    fill,
    good,
    known_targets,
    night,
    night_id,
    state,
    suite_of,
    target,
)

WIDTHS = (1280, 390)


def pages(drawn: Drawn) -> list[Path]:
    return sorted(drawn.folder.rglob("*.html"))


def contents(folder: Path) -> dict[str, bytes]:
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*.*")}


def text_of(file: Path) -> str:
    return " ".join("".join(Outline(file.read_text()).text).split())


# ------------------------------------------------------------------------------------ what is there


def test_every_target_and_night_has_a_page_and_every_link_leads_somewhere(drawn: Drawn) -> None:
    assert len(pages(drawn)) == 1 + NIGHTS + len(LIVES)
    for file in pages(drawn):
        for tag, attributes in Outline(file.read_text()).tags:
            link = attributes.get("href") or attributes.get("src") or "#"
            if link.startswith(("#", "data:")):
                continue
            leads_to = (file.parent / unquote(link)).resolve()
            if tag == "a" and ("attempt-" in link or "-compared-" in link):
                assert leads_to.name == "report.html"
                assert leads_to.is_relative_to(drawn.suite.folder / "nights")
            else:
                assert leads_to.is_file(), (file, link)


def test_the_overview_has_the_words_of_the_newest_night(drawn: Drawn) -> None:
    said = text_of(drawn.index)
    assert "2 of 8 targets fail" in said
    assert "1 drift · 1 still failing · 1 intermittent · 1 slower · 1 not run · 3 unchanged" in said
    page = drawn.index.read_text()
    assert page.count('class="spark"') == len(LIVES)
    assert 'aria-label="24 nights: 20 good, 4 failed"' in page, "transformer"
    assert 'aria-label="24 nights: 6 good, 18 not checked"' in page, "recsys"


def test_a_target_has_its_history_baseline_and_changes_of_the_environment(drawn: Drawn) -> None:
    said = text_of(drawn.target("tokenizer"))
    assert "torch 2.13.0 → 2.14.0" in said and "Ada Example" in said and "first night" in said
    page = drawn.target("tokenizer").read_text()
    assert page.count('<text class="mark"') == 1, "a number on the axis"
    assert "baseline of another environment" in said
    said = text_of(drawn.target("transformer"))
    for words in (
        "transformer: drift",
        "aten.addmm in encoder.blocks.0, iteration 3",
        "4 checks, the last 2026-12-16",
        "20 checks, the last 2026-12-12",
        "loss: relative difference from the baseline",
        f'baseline accept transformer --night {night_id(23)} --why "REASON"',
    ):
        assert words in said


def test_the_changed_line_its_commits_and_the_comparison_are_on_both_pages(drawn: Drawn) -> None:
    for page in (drawn.newest, drawn.target("transformer")):
        text = page.read_text()
        assert "-    return x * 0.1\n+    return x * 0.15" in text
        assert "model/loss.py:4" in text and "4cc649203e93 Smoother labels" in text
        (link,) = re.findall(r'href="([^"]*compared[^"]*)"', text)
        assert link.endswith("/transformer/train-compared-1/report.html")


def test_a_check_that_recorded_nothing_changes_no_environment(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", target("a"))
    nights = [night(number, ["a"]) for number in range(3)]
    packages = {f"package.p{number:02}": "1" for number in range(30)}
    upgraded = {**dict.fromkeys(packages, "2"), "kernel": "6.1"}
    with open_history(suite.history) as history:
        for one in nights:
            history.begin_night(one)
        history.add(good(nights[0], "a", beside={**packages, "kernel": "6.1"}))
        failed = {"verdict": "script_failed", "exit_code": 4, "good": False, "beside": {}}
        history.add(good(nights[1], "a", key=Key(facts={}), **failed))
        history.add(good(nights[2], "a", beside=upgraded))
        folder = site.write(history, suite).index.parent
    page = (folder / "targets" / "a.html").read_text()
    (changes,) = re.findall(r'<ol class="changes">(.*?)</ol>', page, re.DOTALL)
    assert changes.count("<li") == 1
    at_once, _, folded = changes.partition("<details>")
    assert at_once.count("→") == timeline.SHOWN
    assert "22 more facts" in folded and folded.count("1 → 2") == 22
    assert "kernel" not in changes


def test_the_page_of_a_resume_says_why_it_has_no_curves(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", replace(target("a"), resume={}))
    with open_history(suite.history) as history:
        history.begin_night(night(0, ["a"]))
        history.add(good(night(0, ["a"]), "a", verdict="resumes_exactly", curves=b""))
        folder = site.write(history, suite).index.parent
    said = text_of(folder / "targets" / "a.html")
    assert "RESUMES EXACTLY" in said
    assert "no curves are kept, and none are accepted" in said


def test_a_retry_has_a_row_of_its_own(drawn: Drawn) -> None:
    said = text_of(drawn.target("gan"))
    assert "intermittent, attempt 2" in said and "NOT REPRODUCIBLE (forward)" in said


def test_a_report_that_is_gone_has_no_link(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", target("a"))
    now = night(0, ["a"])
    with open_history(suite.history) as history:
        history.begin_night(now)
        history.add(good(now, "a", folder=""))
        index = site.write(history, suite).index
    for file in index.parent.rglob("*.html"):
        assert "report.html" not in file.read_text()


def test_a_night_under_way_has_no_states_yet(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", target("a"), target("b"))
    now = night(0, ["a", "b"], ended=None)
    with open_history(suite.history) as history:
        history.begin_night(now)
        history.add(good(now, "a"))
        index = site.write(history, suite).index
    said = text_of(index)
    assert "The night has not come to its end" in said and "2 no state yet" in said


def test_a_history_without_a_night_says_what_makes_one(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", target("a"))
    with open_history(suite.history) as history, pytest.raises(UsageError) as caught:
        site.write(history, suite)
    assert caught.value.fix == "reprocheck suite run makes one."


# -------------------------------------------------------------------------------- what is written


def test_the_same_history_gives_the_same_bytes(drawn: Drawn, tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", *known_targets())
    with open_history(suite.history) as history:
        fill(history)
        site.write(history, suite)
    assert contents(suite.folder / "site") == contents(drawn.folder)


def test_only_pages_that_changed_are_written_again(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", *known_targets())
    with open_history(suite.history) as history:
        fill(history)
        first = site.write(history, suite)
        before = contents(first.index.parent)
        assert site.write(history, suite).written == 0
        accepted = Baseline(
            target="gan", key=good(night(0, []), "gan").key, curves=curves(0.5), why="x", who="y",
            when=1.0,
        )  # fmt: skip
        history.accept(accepted)
        site.write(history, suite)
    after = contents(first.index.parent)
    changed = {name for name in after if after[name] != before[name]} - {"drawn.json"}
    assert changed == {"targets/gan.html"}


def test_a_new_night_leaves_the_pages_of_old_ones_alone(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", *known_targets())
    later = night(NIGHTS, ["resnet"])
    with open_history(suite.history) as history:
        fill(history)
        folder = site.write(history, suite).index.parent
        before = contents(folder / "nights")
        history.begin_night(later)
        history.add(good(later, "resnet"))
        history.put_states([state(later, "resnet", "unchanged")])
        site.write(history, suite)
    after = contents(folder / "nights")
    changed = {name for name, content in before.items() if after[name] != content}
    assert changed == {f"{night(NIGHTS - 1, []).id}.html"}, "it links the night after it"
    assert f"{later.id}.html" in after


def test_a_damaged_list_of_what_was_drawn_draws_all_again(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", target("a"))
    with open_history(suite.history) as history:
        now = night(0, ["a"])
        history.begin_night(now)
        history.add(good(now, "a"))
        first = site.write(history, suite)
        (first.index.parent / "drawn.json").write_text("[")
        assert site.write(history, suite).written == first.pages
        first.index.unlink()
        assert site.write(history, suite).written == 1


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    suite = suite_of(tmp_path / "nightly", target("a"))
    with open_history(suite.history) as history:
        now = night(0, ["a"])
        history.begin_night(now)
        (suite.folder / "site").write_text("a file is in the way")
        with pytest.raises(ReportError, match="The pages cannot be written to") as caught:
            site.write(history, suite)
    assert "reprocheck suite report" in caught.value.fix


# ------------------------------------------------------------------------------------------ markup


def test_ids_are_unique_headings_do_not_skip_and_heads_have_a_scope(drawn: Drawn) -> None:
    for file in (drawn.index, drawn.newest, drawn.target("transformer")):
        tags = Outline(file.read_text()).tags
        ids = [a["id"] for _, a in tags if "id" in a]
        assert len(ids) == len(set(ids))
        levels = [int(tag[1]) for tag, _ in tags if re.fullmatch(r"h[1-6]", tag)]
        assert levels[0] == 1 and levels.count(1) == 1
        assert all(after - before <= 1 for before, after in pairwise(levels))
        assert all("scope" in a for tag, a in tags if tag == "th")
        assert not any(key.startswith("on") for _, a in tags for key in a)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site of a history in which every text is hostile."""
    suite = suite_of(tmp_path_factory.mktemp("hostile") / "nightly", target("a", HOSTILE))
    names = [HOSTILE, "a"]
    with open_history(suite.history) as history:
        for number in range(2):
            now = night(number, names, commit=HOSTILE)
            history.begin_night(now)
            key = Key(facts={HOSTILE: f"{HOSTILE} {number}"})
            history.add_all(
                bad(now, name, key=key, reason=HOSTILE, place=HOSTILE, commit=HOSTILE)
                for name in names
            )
            history.put_states(
                state(now, name, "new failure", failed=True, sentence=HOSTILE) for name in names
            )
        site.write(history, suite)
    return suite.folder / "site"


def test_hostile_names_and_facts_are_text(hostile: Path) -> None:
    for file in hostile.rglob("*.html"):
        outline = Outline(file.read_text())
        assert "<script>alert(1)</script>" in "".join(outline.text)
        scripts = [a for tag, a in outline.tags if tag == "script"]
        assert all("src" in a or a.get("id") == "chart-data" for a in scripts)
        assert "\x1b" not in file.read_text()


# ------------------------------------------------------------------------------------- in a browser


def open_page(browser: Any, file: Path, **options: Any) -> tuple[Any, list[str]]:
    """A page of the site with what it complained about, and what it asked for from elsewhere."""
    complaints: list[str] = []
    page = browser.new_page(**({"viewport": {"width": 1280, "height": 900}} | options))
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("requestfailed", lambda request: complaints.append(request.url))
    page.on(
        "request",
        lambda request: (
            None
            if request.url.startswith((file.parents[1].as_uri(), "data:"))
            else complaints.append(request.url)
        ),
    )
    page.goto(file.as_uri())
    return page, complaints


def shown(page: Any) -> list[str]:
    """The targets whose rows are there to be seen."""
    names: list[str] = page.locator(".targets tbody tr:visible th").all_inner_texts()
    return names


@pytest.mark.browser
def test_search_state_and_tag_filter_the_targets_and_stand_in_the_address(
    browser: Any, drawn: Drawn
) -> None:
    page, complaints = open_page(browser, drawn.index)
    assert len(shown(page)) == len(LIVES)
    page.get_by_label("State").select_option("all that fail")
    assert shown(page) == ["transformer", "diffusion[lr=0.1,seed=2]"]
    assert page.locator("#found").inner_text() == "2 of 8"
    page.get_by_label("Search").fill("SEED=2 still")
    assert shown(page) == ["diffusion[lr=0.1,seed=2]"]
    address = page.url
    page.get_by_label("Search").fill("")
    page.get_by_label("State").select_option("")
    page.get_by_label("Tag").select_option("vision")
    assert shown(page) == ["gan", "resnet"]
    page.get_by_label("State").select_option("intermittent")
    assert shown(page) == ["gan"]
    page.goto("about:blank")
    page.goto(address)
    assert shown(page) == ["diffusion[lr=0.1,seed=2]"], "the address brings it back"
    assert complaints == []
    page.close()


@pytest.mark.browser
def test_a_reader_clicks_from_the_overview_to_a_target_its_night_and_its_report(
    browser: Any, drawn: Drawn
) -> None:
    page, complaints = open_page(browser, drawn.index)
    page.get_by_role("link", name="transformer", exact=True).click()
    assert page.locator("h1").inner_text() == "transformer: drift"
    page.locator(".chart.live canvas").nth(2).wait_for()
    assert page.locator(".chart.live canvas").count() == 3
    report = page.get_by_role("link", name="Report of the check in this night")
    assert report.get_attribute("href").endswith("/transformer/attempt-1/report.html")
    page.get_by_role("link", name="2026-12-16 02:00 UTC", exact=True).click()
    assert page.url.startswith(drawn.newest.as_uri())
    page.get_by_role("link", name="← night before").click()
    assert "2 of 8 targets fail" in page.locator("h1").inner_text()
    page.get_by_role("link", name="night after →").click()
    page.get_by_role("link", name="reprocheck suite").click()
    assert page.url == drawn.index.as_uri()
    assert complaints == []
    page.close()


@pytest.mark.browser
def test_the_keyboard_reaches_what_changed_and_the_search(browser: Any, drawn: Drawn) -> None:
    page, _ = open_page(browser, drawn.index)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to what changed"
    while page.evaluate("document.activeElement.id") != "search":
        page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    page.keyboard.type("speech")
    assert shown(page) == ["speech"]
    page.close()


@pytest.mark.browser
def test_everything_can_be_read_without_javascript(browser: Any, drawn: Drawn) -> None:
    page, _ = open_page(browser, drawn.index, java_script_enabled=False)
    assert len(shown(page)) == len(LIVES) and page.locator(".finder:visible").count() == 0
    page.goto(drawn.target("transformer").as_uri())
    assert page.locator("svg.chart-static:visible").count() == 3
    assert page.locator("svg.timeline:visible").count() == 1
    assert page.locator(".chart-live:visible, button.copy:visible").count() == 0
    assert page.get_by_text("20 checks, the last 2026-12-12").first.is_visible()
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("width", WIDTHS)
def test_no_page_scrolls_sideways(width: int, browser: Any, drawn: Drawn) -> None:
    files = (drawn.index, drawn.newest, drawn.target("transformer"), drawn.target("tokenizer"))
    for file in files:
        page, complaints = open_page(browser, file, viewport={"width": width, "height": 800})
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert page.evaluate("document.documentElement.scrollWidth") <= width, file
        assert complaints == []
        page.close()


@pytest.mark.browser
def test_axe_finds_nothing_to_object_to(browser: Any, drawn: Drawn) -> None:
    for file in (drawn.newest, drawn.target("transformer"), drawn.target("tokenizer")):
        page, _ = open_page(browser, file, bypass_csp=True)
        assert objections(page) == {}, file.name
        page.close()


@pytest.mark.browser
def test_the_theme_can_change_while_a_target_is_open(browser: Any, drawn: Drawn) -> None:
    page, complaints = open_page(browser, drawn.target("detector"), color_scheme="light")
    page.evaluate("document.querySelectorAll('canvas').forEach((one) => { one.id = 'old' })")
    page.emulate_media(color_scheme="dark")
    page.locator(".chart.live canvas:not(#old)").nth(2).wait_for()
    assert page.locator("canvas").count() == 3
    assert complaints == []
    page.close()


def test_the_data_of_the_charts_is_what_was_recorded(drawn: Drawn) -> None:
    page = drawn.target("detector").read_text()
    found = json.loads(re.search(r'id="chart-data">(.*?)</script>', page)[1])  # type: ignore[index]
    loss = found[0]
    assert loss["x"] == list(range(1, 13)) and loss["axis"] == "iteration"
    by_label = {one["label"]: one["values"] for one in loss["lines"]}
    assert by_label["baseline"] == [2.0 / step for step in range(1, 13)]
    assert by_label["4 checks, the last 2026-12-04"][3] == 0.8


def test_values_that_are_not_finite_are_gaps(tmp_path: Path) -> None:
    from reprocheck.suite.curves import pack
    from tests.suite.pages.samples import curve

    suite = suite_of(tmp_path / "nightly", target("a"))
    packed = pack([curve([1.0, float("nan"), float("inf"), 0.5]), curve([float("nan")], "norm")])
    with open_history(suite.history) as history:
        now = night(0, ["a"])
        history.begin_night(now)
        history.add(good(now, "a", curves=packed))
        index = site.write(history, suite).index
    page = (index.parent / "targets" / "a.html").read_text()
    found = json.loads(re.search(r'id="chart-data">(.*?)</script>', page)[1])  # type: ignore[index]
    assert found[0]["lines"][0]["values"] == [1.0, None, None, 0.5]
    assert "no finite value" in page and "nan" not in page.lower().replace("finance", "")


@pytest.mark.browser
def test_nothing_of_a_hostile_history_runs_in_a_browser(browser: Any, hostile: Path) -> None:
    files = sorted(hostile.rglob("*.html"))
    assert len(files) == 5
    for file in files:
        page, complaints = open_page(browser, file)
        page.on("dialog", lambda dialog, said=complaints: said.append(dialog.message))
        page.reload()
        page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
        assert page.get_by_text("<script>alert(1)</script>").count()
        assert page.locator("script:not([src]):not(#chart-data), img, iframe, object").count() == 0
        assert complaints == []
        page.close()


@pytest.mark.browser
def test_the_policy_holds_where_markup_is_smuggled_in(browser: Any, hostile: Path) -> None:
    for file in (hostile / "index.html", *sorted((hostile / "targets").glob("*.html"))[:1]):
        page = smuggled(file, file.with_name("smuggled.html"))
        assert ran_and_sent(browser, page.as_uri()) == (None, [])
        page.unlink()
