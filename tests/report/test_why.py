"""The ladder and the causes in every format."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest

from reprocheck.model import RUNGS, Confidence, Rung, Search, Setting, SourceLine
from reprocheck.model.evidence import LeftBehind
from reprocheck.report import FORMATS, causes, ladder, next_command, to_json
from tests.conftest import check, reprocheck_here
from tests.report.samples import (
    backward_fails,
    did_not_come_back,
    explained,
    forward_fails,
    led,
    not_bitwise,
)

RUNG_NAMES = [
    "rung",
    "status",
    "iteration",
    "rank",
    "place",
    "culprit",
    "size",
    "relative_difference",
    "detail",
]
CAUSE_NAMES = {"code", "title", "confidence", "evidence", "source", "fix"}


def drawn(name: str, check: object) -> str:
    return FORMATS[name].render(check).decode()  # type: ignore[arg-type]


def test_json_holds_every_rung_in_order_and_the_causes() -> None:
    document = to_json(explained())
    found = document["ladder"]
    assert [rung["rung"] for rung in found["rungs"]] == list(RUNGS) and found["first"] == "forward"
    assert all(list(rung)[:9] == RUNG_NAMES for rung in found["rungs"])
    forward = found["rungs"][RUNGS.index("forward")]
    assert (forward["status"], forward["size"], forward["relative_difference"]) == (
        "differs",
        "gross",
        0.0813,
    )
    assert forward["source"] == {"file": "model/noise.py", "line": 14}
    assert found["rungs"][RUNGS.index("gradient")]["relative_difference"] is None, (
        "infinity is not JSON"
    )
    assert (found["level"], found["came_back"]) == ("op", True)
    assert [cause["code"] for cause in document["causes"]] == ["R104", "R301"]
    assert all(set(cause) == CAUSE_NAMES for cause in document["causes"])
    assert document["causes"][1]["source"] is None
    assert (to_json(forward_fails())["ladder"], to_json(forward_fails())["causes"]) == (None, [])


def test_the_page_leads_with_the_sentence_and_opens_the_first_difference() -> None:
    page = drawn("html", explained())
    assert page.index("returns another output") < page.index("The loss of iteration 1 differs by")
    assert "look at the data, the initial weights" not in page, "the ladder says it better"
    ladder = page[page.index('<ol class="ladder">') :]
    steps = re.findall(
        r'<li id="rung-[^"]+" class="([a-z -]+)">\s*(<details open>|<details>|<p )', ladder
    )
    assert [kinds.split()[0] for kinds, _ in steps] == ["equal"] * 6 + ["differs"] * 3 + [
        "not-recorded",
        "equal",
        "not-recorded",
    ]
    assert [tag for kinds, tag in steps if "differs" in kinds] == [
        "<details open>",
        "<details>",
        "<details>",
    ]
    opened = ladder[ladder.index("<details open>") :]
    opened = opened[: opened.index("</details>")]
    for text in (
        "encoder.blocks.0.noise",
        "gross, about 0.0813 relative",
        "model/noise.py:14",
        "generator=self.generator",
        "made by",
    ):
        assert text in opened
    assert (
        '<pre tabindex="0"><code>self.generator = torch.Generator()\nself.generator.manual_seed(0)</code></pre>'
        in page
    )
    assert "</strong> Set deterministic algorithms where the operator has one.</p>" in page
    assert "reprocheck explain --timeout 600 train.py --lr 0.1" in page


def test_a_file_that_run_1_left_does_not_lead_where_a_control_for_another_cause_removes_the_difference() -> (
    None
):
    base = explained()
    assert base.ladder is not None
    left = Rung(
        rung="files and arguments",
        status="differs",
        place="keras.json",
        detail="Run 2 reads `keras.json`.",
        evidence=LeftBehind(),
    )
    rungs = tuple(left if rung.rung == left.rung else rung for rung in base.ladder.rungs)
    found = replace(
        base,
        ladder=replace(
            base.ladder,
            first=left.rung,
            rungs=rungs,
            sentence="Run 2 starts from what run 1 left behind.",
        ),
    )
    assert ladder.lead(led(found)) == "Run 2 starts from what run 1 left behind."
    other = replace(base.causes[0], confidence="confirmed", code="RC504")
    forward = base.ladder.rung("forward")
    confirmed = led(replace(found, causes=(other, *base.causes[1:])))
    assert (
        forward.detail
        and forward.detail[1:] in ladder.lead(confirmed)
        and ladder.lead(confirmed).startswith("In iteration 1 ")
    )
    assert to_json(confirmed)["lead"]["rung"] == "forward"
    assert to_json(confirmed)["lead"]["cause"] == "RC504"
    left_behind = led(replace(found, causes=(replace(other, code="RC101"),)))
    assert ladder.lead(left_behind) == "Run 2 starts from what run 1 left behind."
    assert to_json(left_behind)["lead"]["rung"] == "files and arguments"


def test_a_search_that_was_broken_off_is_made_anew() -> None:
    broken = replace(
        explained(), search=Search(tried=(), sentence="The search was broken off.", broken_off=True)
    )
    assert next_command(broken)[1].startswith("reprocheck explain ")


def test_a_difference_that_did_not_come_back_opens_nothing() -> None:
    page = drawn("html", did_not_come_back())
    assert "<details open>" not in page and "does not come every time" in page
    assert "look at the gradients" in page
    assert ladder.rows(did_not_come_back().ladder)[0].sign == "="  # type: ignore[arg-type]


def test_the_markdown_has_the_ladder_as_a_table_and_the_fix_as_a_block() -> None:
    document = drawn("md", explained())
    assert document.index("returns another output") < document.index(
        "The loss of iteration 1 differs by"
    )
    row = next(line for line in document.splitlines() if line.startswith("| forward |"))
    assert row.startswith("| forward | **differs** | encoder.blocks.0.noise, iteration 1, gross |")
    assert "| reduced gradient | not recorded |  |" in document
    assert "### Cause: R104 Private generator without a seed (observed)" in document
    assert "```\nself.generator = torch.Generator()\nself.generator.manual_seed(0)\n```" in document
    assert "`model/noise.py:14`: `return x + 0.1" in document
    assert (
        "Read from 4 more runs, recorded at level module and level op inside encoder.blocks.0.noise."
        in document
    )


def test_the_failed_case_of_junit_says_where_and_why() -> None:
    suite = ElementTree.fromstring(FORMATS["junit"].render(explained())).find("testsuite")
    assert suite is not None
    failure = suite.find("testcase/failure")
    assert failure is not None and failure.text is not None
    assert (
        "first difference: In iteration 1" in failure.text
        and "  forward: differs, encoder.blocks.0.noise" in failure.text
    )
    assert (
        "cause: R104 Private generator without a seed (observed), model/noise.py:14" in failure.text
    )


@pytest.mark.parametrize(
    ("fix", "pasted"),
    [
        ("a = 1\nb = 2", True),
        ("torch.manual_seed(0)", True),
        ("export A=1", True),
        ("Sort the names.", False),
        ("reprocheck run x.py", True),
    ],
)
def test_what_is_pasted_and_what_is_read(fix: str, pasted: bool) -> None:
    assert causes.is_code(fix) is pasted


def test_a_check_that_was_not_to_be_explained_offers_to_explain_it() -> None:
    base = backward_fails()
    held = (
        Setting(name="explain", value=False, origin="--explain"),
        Setting(name="steps", value=3, origin="--steps"),
    )
    check = replace(base, record=replace(base.record, settings=held))
    assert next_command(check)[1] == "reprocheck run --explain --steps 3 train.py --lr 0.1"
    more = replace(
        check,
        record=replace(
            check.record, settings=(*held, Setting(name="level", value="module", origin="--level"))
        ),
    )
    assert next_command(replace(more, ladder=explained().ladder))[1].endswith(
        "--runs 5 --steps 2 --no-explain --level module train.py --lr 0.1"
    )


UNSEEDED = """
import random
import reprocheck
for step in range(20):
    reprocheck.log_loss(10 * random.Random().random())
"""
REFUSED = """
raise RuntimeError("put_ does not have a deterministic implementation, but you set 'torch.use_deterministic_algorithms(True)'.")
"""


@pytest.mark.parametrize(
    ("text", "code", "line"), [(UNSEEDED, "", ""), (REFUSED, "RC008", "raise RuntimeError(")]
)
def test_a_folder_that_is_carried_away_is_drawn_again_as_it_was(
    text: str, code: str, line: str, workdir: Path
) -> None:
    script = workdir / "train.py"
    script.write_text(text)
    folder = check("train.py", cwd=workdir, draw=True).folder
    assert folder is not None
    drawn_first = (folder / "report.json").read_text()
    causes = json.loads(drawn_first)["causes"]
    assert [cause["code"] for cause in causes] == [code] * bool(code)
    if causes:
        assert causes[0]["source"] == {"file": "train.py", "line": 2}
        assert f"train.py:2`: `{line}" in (folder / "report.md").read_text()
    elsewhere = workdir / "elsewhere"
    elsewhere.mkdir()
    carried = shutil.copytree(folder, elsewhere / "carried")
    script.write_text("# another text\n" * 3)
    (elsewhere / "train.py").write_text("# no such line\n")
    page = (carried / "report.html").read_bytes()
    done = reprocheck_here("report", str(carried), cwd=elsewhere)
    assert done.returncode == 0, done.stderr
    assert (carried / "report.json").read_text() == drawn_first
    assert (carried / "report.html").read_bytes() == page


@pytest.mark.parametrize(
    ("confidence", "line", "later", "typed"),
    [
        ("observed", True, True, "reprocheck explain --fail-on any-iteration"),
        ("suspected", True, True, "reprocheck explain --fail-on any-iteration"),
        ("suspected", True, False, "reprocheck explain --fail-on bitwise"),
        ("suspected", False, True, "reprocheck run --fail-on any-iteration"),
        ("confirmed", True, True, "reprocheck rules R"),
        ("confirmed", False, False, "reprocheck rules R"),
    ],
)
def test_a_difference_that_the_checks_allow_is_tried_at_once_where_a_line_may_be_why(
    confidence: Confidence, line: bool, later: bool, typed: str
) -> None:
    cause = replace(
        explained().causes[0],
        confidence=confidence,
        source=SourceLine(file="schedule.py", line=13) if line else None,
    )
    made = replace(not_bitwise(), causes=(cause,))
    if not later:
        made = replace(made, verdict=replace(made.verdict, first_divergence=None))
    assert next_command(made)[1].startswith(typed)


def test_a_difference_that_was_made_a_failure_is_tried_with_what_made_it_one() -> None:
    cause = replace(explained().causes[0], source=SourceLine(file="schedule.py", line=13))
    base = not_bitwise()
    held = (Setting(name="fail_on", value="any-iteration", origin="--fail-on"),)
    failed = replace(
        base,
        causes=(cause,),
        verdict=replace(base.verdict, exit_code=1),
        record=replace(base.record, settings=held),
    )
    assert next_command(failed)[1].startswith("reprocheck explain --fail-on any-iteration")
