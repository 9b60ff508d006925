"""report.html: one offline file that says what happened, with and without JavaScript."""

from __future__ import annotations

import json
import math
import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

from benchmarks import page as measured
from reprocheck.bundle import made
from reprocheck.model import Check
from reprocheck.redaction import Redaction
from reprocheck.report import FORMATS, charts
from tests.report.samples import SAMPLES, explained
from tests.report.smuggled import ran_and_sent, smuggled


def html(check: Any) -> str:
    return FORMATS["html"].render(check).decode()


class Outline(HTMLParser):
    """Tags with their attributes, and the text outside scripts and styles."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self._silent = ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._silent = tag if tag in ("script", "style") else self._silent

    def handle_endtag(self, tag: str) -> None:
        self._silent = "" if tag == self._silent else self._silent

    def handle_data(self, data: str) -> None:
        if not self._silent:
            self.text.append(data)


def test_scripts_are_named_by_their_hash_in_the_policy(pages: dict[str, Path]) -> None:
    page = pages["bitwise_equal"].read_text()
    policy = next(
        a["content"] or ""
        for tag, a in Outline(page).tags
        if tag == "meta" and a.get("http-equiv") == "Content-Security-Policy"
    )
    scripts = re.findall(r"<script>(.*?)</script>", page, flags=re.DOTALL)
    assert len(scripts) == 2 and policy.startswith(
        "default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src "
    )
    for script in scripts:
        assert f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" in policy


@pytest.mark.parametrize("sample", SAMPLES)
def test_nothing_is_loaded_from_outside(sample: str, pages: dict[str, Path]) -> None:
    tags = Outline(pages[sample].read_text()).tags
    assert not {"iframe", "object", "embed", "base", "form", "img"} & {tag for tag, _ in tags}
    links = [
        a[key] or "" for _, a in tags for key in ("src", "href", "xlink:href", "action") if key in a
    ]
    assert all(link.startswith(("#", "data:")) for link in links), links
    assert not any(key.startswith("on") for _, a in tags for key in a)


@pytest.mark.parametrize("sample", SAMPLES)
def test_ids_are_unique_and_headings_do_not_skip(sample: str, pages: dict[str, Path]) -> None:
    tags = Outline(pages[sample].read_text()).tags
    ids = [a["id"] for _, a in tags if "id" in a]
    assert len(ids) == len(set(ids))
    levels = [int(tag[1]) for tag, _ in tags if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1 and levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    assert all("scope" in a for tag, a in tags if tag == "th")


def test_hostile_text_is_text(pages: dict[str, Path]) -> None:
    outline = Outline(pages["hostile"].read_text())
    assert [tag for tag, _ in outline.tags].count("script") == 3
    text = "".join(outline.text)
    assert (
        "<script>alert(1)</script>" in text
        and "\x1b" not in text
        and "\x00" not in text
        and "\udcff" not in text
    )
    assert "<img src=x onerror=alert(1)>" in text


def test_a_pass_says_how_little_it_proves(pages: dict[str, Path]) -> None:
    text = " ".join("".join(Outline(pages["bitwise_equal"].read_text()).text).split())
    assert "Two runs exclude almost nothing" in text and "does not prove" in text
    text = " ".join("".join(Outline(pages["not_bitwise"].read_text()).text).split())
    assert (
        "not all losses are equal in every bit, and iteration 10 is outside the tolerance" in text
        and "is loose" in text
    )


def test_the_charts_of_the_page_have_their_data(pages: dict[str, Path]) -> None:
    page = pages["backward_fails"].read_text()
    data = json.loads(re.search(r'id="chart-data">(.*?)</script>', page, flags=re.DOTALL)[1])  # type: ignore[index]
    assert data["x"] == list(range(1, 41)) and data["firstDivergence"] == 4
    assert data["difference"]["series"][0]["values"][:3] == [data["difference"]["floor"]] * 3
    assert [one["label"] for one in data["loss"]["series"]] == ["run 1", "run 2"]


def test_the_page_of_a_million_iterations_is_small(pages: dict[str, Path]) -> None:
    assert pages["million"].stat().st_size < 1_000_000
    assert "1,000,000 iterations are drawn" in pages["million"].read_text()


def test_before_the_proof_stands_what_was_run_where_and_at_which_commit(
    pages: dict[str, Path],
) -> None:
    page = pages["explained"].read_text()
    first = page[page.index("<h1") : page.index('id="ladder"')]
    for said in (
        "python train.py --lr 0.1",
        "Linux x86_64, 2 × Example CPU",
        "5f2c9e10ab12, with changes that are not committed",
        "torch 2.13.0",
    ):
        assert said in first


def test_verdict_cause_and_tested_patch_come_before_ladder_and_search(
    pages: dict[str, Path],
) -> None:
    page = pages["searched"].read_text()
    order = [
        "<h1",
        'id="cause"',
        "confirmed</span>",
        "default_rng(0)",
        'class="next"',
        'id="ladder"',
        'id="search"',
        'id="causes"',
    ]
    assert [page.index(mark) for mark in order] == sorted(page.index(mark) for mark in order)


def test_a_cause_has_one_fix_and_it_is_the_patch_that_was_tried(pages: dict[str, Path]) -> None:
    page = pages["searched"].read_text()
    answer = page[page.index('id="cause"') : page.index('id="ladder"')]
    assert re.findall(r'<strong class="fix">(\w+)<', answer) == ["Patch"]
    assert "manual_seed(0)" not in page, "the snippet of the catalogue stands nowhere beside it"
    assert pages["explained"].read_text().count('<strong class="fix">Fix</strong>') == 2, (
        "without a patch each cause has its own"
    )


def test_every_section_has_a_link_to_itself(pages: dict[str, Path]) -> None:
    tags = Outline(pages["searched"].read_text()).tags
    ids = {a["id"] for tag, a in tags if tag == "h2"}
    assert len(ids) > 8
    assert {a["href"] for tag, a in tags if tag == "a" and a.get("class") == "permalink"} == {
        f"#{name}" for name in ids
    }


def test_rungs_causes_and_rules_lead_to_each_other(pages: dict[str, Path]) -> None:
    page = pages["searched"].read_text()
    found = re.findall(r'<li id="(rung-[^"]+)"', page)
    assert len(found) == 12
    spine = page[page.index('<nav class="spine"') : page.index("</nav>")]
    assert re.findall(r'href="#(rung-[^"]+)"', spine) == found
    assert set(re.findall(r' id="([^"]+)"', page)) >= set(re.findall(r'href="#([^"]+)"', spine))
    cause = page[page.index('<article class="cause"') : page.index('class="next"')]
    first = re.search(
        r'class="differs first".*?</li>', page[page.index('id="ladder"') :], re.DOTALL
    )
    assert first is not None and 'href="#cause"' in first[0]
    assert re.findall(r'href="#(rung-[^"]+)"', cause) == ["rung-forward"]


def test_a_cause_leads_to_what_the_catalogue_says_and_back() -> None:
    first, second = explained().causes
    check = replace(
        explained(), causes=(replace(first, code="RC601"), replace(second, code="RC604"))
    )
    tags = Outline(html(check)).tags
    links = {a["href"] for tag, a in tags if tag == "a" and a.get("class") == "code"}
    assert links == {"#rule-RC601", "#rule-RC604", "#cause", "#causes"}
    assert {"rule-RC601", "rule-RC604", "cause", "causes"} <= {
        a["id"] for _, a in tags if "id" in a
    }


@pytest.mark.parametrize("scheme", measured.SCHEMES)
def test_runs_can_be_told_apart_with_every_kind_of_colour_vision(scheme: str) -> None:
    colours = palette(scheme)
    assert len(colours) == len(charts.RUNS) and (scheme == "dark" or colours == list(charts.RUNS))
    close = {
        (one, other, vision): round(distance, 1)
        for (one, a), (other, b) in combinations(enumerate([*colours, limit(scheme)], start=1), 2)
        for vision in VISIONS
        if (distance := math.dist(seen(a, vision), seen(b, vision))) < 12
    }
    assert close == {}


def test_runs_differ_in_their_dashes_too() -> None:
    page = html(many_runs(8))
    data = json.loads(re.search(r'id="chart-data">(.*?)</script>', page, flags=re.DOTALL)[1])  # type: ignore[index]
    looks = [(one["colour"], one["dash"]) for one in data["loss"]["series"]]
    assert looks[:2] == [(1, 0), (2, 0)], "of two runs one lies broad below the other"
    assert len(set(looks)) == 8


def test_the_dashes_of_ranks_have_a_legend(pages: dict[str, Path]) -> None:
    page = pages["two_ranks"].read_text()
    legend = page[
        page.index('<ul class="dashes">') : page.index("</ul>", page.index('<ul class="dashes">'))
    ]
    assert re.findall(r'stroke-dasharray="([^"]*)"/></svg>(rank \d+)', legend) == [
        ("none", "rank 0"),
        ("8 4", "rank 1"),
    ]
    assert '<ul class="dashes">' not in pages["bitwise_equal"].read_text()


VISIONS = {
    "usual": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""What linear RGB becomes (Machado, Oliveira and Fernandes 2009, whole loss of a kind of cone)."""


def palette(scheme: str) -> list[str]:
    """The colours of runs in the style sheet, in the light or the dark theme."""
    return _roles(scheme, "run-[1-6]")


def limit(scheme: str) -> str:
    """The colour of *allowed*."""
    return _roles(scheme, "limit")[0]


def _roles(scheme: str, name: str) -> list[str]:
    style = (Path(charts.__file__).parent / "templates" / "report.css").read_text()
    light, dark = style.split("prefers-color-scheme: dark", 1)
    return re.findall(rf"--{name}: (#[0-9a-f]{{6}})", light if scheme == "light" else dark)


XYZ = ((0.4124, 0.3576, 0.1805), (0.2126, 0.7152, 0.0722), (0.0193, 0.1192, 0.9505))
WHITE = (0.9505, 1.0, 1.089)


def seen(colour: str, vision: str) -> tuple[float, float, float]:
    """A colour in CIELAB, as somebody with that vision sees it."""
    parts = [int(colour[start : start + 2], 16) / 255 for start in (1, 3, 5)]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    left = [min(1.0, max(0.0, value)) for value in times(VISIONS[vision], linear)]
    relative = [value / white for value, white in zip(times(XYZ, left), WHITE)]
    x, y, z = (
        value ** (1 / 3) if value > 0.008856 else 7.787 * value + 16 / 116 for value in relative
    )
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def times(matrix: Sequence[Sequence[float]], vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def many_runs(number: int) -> Check:
    """As many runs of a check."""
    base = SAMPLES["bitwise_equal"]()
    first = base.runs[0]
    runs = tuple(
        replace(first, record=replace(first.record, number=n)) for n in range(1, number + 1)
    )
    return replace(
        base, runs=runs, record=replace(base.record, runs=tuple(one.record for one in runs))
    )


# ------------------------------------------------------------------------------------- in a browser


@pytest.mark.browser
def test_the_text_of_an_issue_can_be_copied_offline(browser: Any, pages: dict[str, Path]) -> None:
    page, complaints = open_page(browser, pages["explained"])
    page.evaluate("() => { navigator.clipboard.writeText = (text) => { window.copied = text; }; }")
    button = page.get_by_role("button", name="Copy for an issue")
    button.click()
    page.wait_for_function("window.copied !== undefined")
    copied = page.evaluate("window.copied")
    assert copied.startswith("### NOT REPRODUCIBLE (forward)\n")
    assert "Versions of relevant libraries:" in copied and "</details>" in copied
    assert page.locator("section.issue button").inner_text() == "Copied"
    # Where the browser refuses its clipboard, the text is opened and selected.
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.locator("section.issue button").click()
    page.wait_for_function("getSelection().toString().includes('Versions of relevant')")
    assert page.locator("section.issue pre").is_visible() and complaints == []
    page.close()


@pytest.mark.browser
def test_the_policy_holds_where_markup_is_smuggled_in(
    browser: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    packed = tmp_path / "packed.html"
    packed.write_bytes(made(SAMPLES["explained"](), Redaction()).files["report.html"])
    for page in (pages["explained"], packed):
        hostile_page = smuggled(page, tmp_path / "hostile.html")
        assert ran_and_sent(browser, hostile_page.as_uri()) == (None, [])


@pytest.mark.browser
def test_without_a_policy_what_is_smuggled_in_would_run(browser: Any, tmp_path: Path) -> None:
    plain = tmp_path / "plain.html"
    plain.write_text("<!doctype html><body></body>")
    ran, sent = ran_and_sent(browser, smuggled(plain, tmp_path / "hostile.html").as_uri())
    assert ran and sent


@pytest.mark.browser
def test_what_is_to_be_pasted_can_be_copied(browser: Any, pages: dict[str, Path]) -> None:
    page, complaints = open_page(browser, pages["explained"])
    page.evaluate(
        "navigator.clipboard.writeText = (text) => { window.copied = text; return Promise.resolve(); }"
    )
    button = page.locator("#cause").locator("xpath=ancestor::section").locator("button.copy").first
    assert button.is_visible()
    button.click()
    page.wait_for_function("window.copied !== undefined")
    assert (
        page.evaluate("window.copied")
        == "self.generator = torch.Generator()\nself.generator.manual_seed(0)"
    )
    assert button.inner_text() == "Copied" and complaints == []
    page.close()


def open_page(browser: Any, path: Path, **options: Any) -> tuple[Any, list[str]]:
    """A page with what it complained about and asked for, apart from itself."""
    complaints: list[str] = []
    page = browser.new_page(**({"viewport": {"width": 1180, "height": 900}} | options))
    page.on("console", lambda message: complaints.append(f"{message.type}: {message.text}"))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on(
        "request",
        lambda request: (
            complaints.append(request.url)
            if request.url != path.as_uri() and request.url != "data:,"
            else None
        ),
    )
    page.goto(path.as_uri())
    return page, complaints


@pytest.mark.browser
@pytest.mark.parametrize("sample", [*SAMPLES, "million"])
def test_charts_come_alive_without_complaint(
    sample: str, browser: Any, pages: dict[str, Path]
) -> None:
    page, complaints = open_page(browser, pages[sample])
    drawn = page.locator(".chart.live canvas").count()
    assert drawn == {"nothing": 0, "script_failed": 0, "with_series": 5}.get(sample, 2)
    assert page.locator(".chart.live .chart-static:visible").count() == 0
    assert complaints == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize(
    "sample", ["backward_fails", "explained", "hostile", "three_runs", "two_ranks", "script_failed"]
)
@pytest.mark.parametrize("width", [360])
def test_narrow_screens_do_not_scroll_sideways(
    sample: str, width: int, browser: Any, pages: dict[str, Path]
) -> None:
    page, complaints = open_page(browser, pages[sample], viewport={"width": width, "height": 800})
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert complaints == []
    page.close()


@pytest.mark.browser
def test_everything_can_be_read_without_javascript(browser: Any, pages: dict[str, Path]) -> None:
    page, _ = open_page(browser, pages["backward_fails"], java_script_enabled=False)
    assert page.locator("svg.chart-static:visible").count() == 2
    assert page.locator(".chart-live:visible, .live-only:visible, button.copy:visible").count() == 0
    for words in (
        "NOT REPRODUCIBLE (backward)",
        "The checks",
        "2.2063044",
        "reprocheck run --runs 5",
    ):
        assert page.get_by_text(words).filter(visible=True).count()
    page.close()


@pytest.mark.browser
def test_axe_finds_nothing_to_object_to(browser: Any, pages: dict[str, Path]) -> None:
    for sample in ("explained", "bitwise_equal", "script_failed", "many_ranks", "with_series"):
        page, _ = open_page(browser, pages[sample], bypass_csp=True)
        assert measured.objections(page) == {}, sample
        page.close()


@pytest.mark.browser
@pytest.mark.parametrize("screen", measured.SCREENS)
def test_verdict_cause_and_fix_are_on_the_first_screen(
    screen: str, browser: Any, pages: dict[str, Path]
) -> None:
    _, height = measured.SCREENS[screen]
    for name in ("explained", "searched", "bitwise_equal"):
        assert 0 < measured.answer_ends(browser, pages[name], screen) <= height, name


@pytest.mark.browser
def test_the_keyboard_zooms_into_the_curves_and_out_again(
    browser: Any, pages: dict[str, Path]
) -> None:
    page, complaints = open_page(browser, pages["backward_fails"])
    losses, differences = page.locator("#loss-chart"), page.locator("#difference-chart")
    closer = losses.get_by_role("button", name="Zoom in")
    while not closer.evaluate("(one) => one === document.activeElement"):
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert said_of(losses) == said_of(differences) == "iteration 3 – 22", "both show the same"
    losses.get_by_role("button", name="Move right").press("Enter")
    assert said_of(losses) == "iteration 13 – 32"
    losses.get_by_role("button", name="Zoom out").press("Enter")
    losses.get_by_role("button", name="Show all").press("Enter")
    assert said_of(differences) == "iteration 1 – 40"
    page.close()
    assert complaints == []


@pytest.mark.browser
def test_a_stretch_is_chosen_by_dragging_and_left_by_a_double_click(
    browser: Any, pages: dict[str, Path]
) -> None:
    page, complaints = open_page(browser, pages["with_series"])
    chart = page.locator("#series-chart-1")
    chart.scroll_into_view_if_needed()
    box = chart.locator(".u-over").bounding_box()
    middle = box["y"] + box["height"] / 2
    page.mouse.move(box["x"] + box["width"] * 0.25, middle)
    page.mouse.down()
    page.mouse.move(box["x"] + box["width"] * 0.5, middle, steps=3)
    page.mouse.up()
    assert said_of(chart) == "step 500 – 900"
    assert said_of(page.locator("#loss-chart")) == "iteration 1 – 10", "it has other steps"
    page.mouse.dblclick(box["x"] + box["width"] * 0.5, middle)
    assert said_of(chart) == "step 0 – 1,900" and complaints == []
    page.close()


def said_of(chart: Any) -> str:
    """Which stretch a chart says that it shows."""
    said: str = chart.locator("output").inner_text()
    return said


@pytest.mark.browser
def test_a_link_to_a_rung_unfolds_it(browser: Any, pages: dict[str, Path]) -> None:
    page, complaints = open_page(browser, pages["explained"])
    evidence = page.locator("#rung-gradient .evidence")
    assert not evidence.is_visible()
    page.locator(".spine a[href='#rung-gradient']").click()
    evidence.wait_for()
    assert complaints == []
    page.close()


@pytest.mark.browser
@pytest.mark.parametrize("sample", ["explained", "with_series"])
def test_most_of_a_page_is_there_without_javascript(
    sample: str, browser: Any, pages: dict[str, Path], tmp_path: Path
) -> None:
    unfolded = tmp_path / f"{sample}.html"
    unfolded.write_text(measured.unfolded(pages[sample].read_text()))
    for file in (unfolded, pages[sample]):
        assert measured.share_without_javascript(browser, file) >= measured.LEAST_SHARE


@pytest.mark.browser
def test_the_theme_can_change_while_the_page_is_open(browser: Any, pages: dict[str, Path]) -> None:
    page, complaints = open_page(browser, pages["backward_fails"], color_scheme="light")
    grounds = []
    for scheme in measured.SCHEMES:
        page.emulate_media(color_scheme=scheme)
        grounds.append(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    page.wait_for_timeout(100)
    assert [sum(map(int, re.findall(r"\d+", ground))) > 600 for ground in grounds] == [True, False]
    assert page.locator(".chart.live canvas").count() == 2 and complaints == []
    page.close()


@pytest.mark.browser
def test_print_shows_the_static_charts_and_all_evidence(
    browser: Any, pages: dict[str, Path]
) -> None:
    page, _ = open_page(browser, pages["explained"])
    folded = page.locator(".ladder details:not([open]) .evidence")
    assert folded.count() > 0 and not folded.first.is_visible()
    page.emulate_media(media="print")
    assert folded.filter(visible=True).count() == folded.count()
    assert (
        page.locator("svg.chart-static:visible").count() == 2
        and page.locator(".chart-live:visible").count() == 0
    )
    page.close()
