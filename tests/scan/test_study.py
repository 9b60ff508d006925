"""Programs written without sight of the rules: the scan finds what is wrong in the wrong ones, and
nothing in the right ones.
"""

from __future__ import annotations

import pytest

from reprocheck.scan.finding import Finding
from reprocheck.scan.judge import findings
from reprocheck.scan.programs import of_text
from tests.scan.study import Program, programs

NOTES = {
    "a partial load",
    "imagenet: the seed is an option whose default is none",
    "npu: bilinear upsampling in the head of a segmentation net",
    "a training that goes on without the state of its generators",
}
"""Programs in which what was called wrong does no harm from run to run, or only in some: there the
finding is a note.
"""


def found(program: Program) -> list[Finding]:
    return findings(of_text(program.files, single=len(program.files) == 1))


@pytest.mark.parametrize("program", programs("wrong"), ids=lambda program: program.name)
def test_what_is_wrong_is_found_at_its_line(program: Program) -> None:
    blamed = [one for one in found(program) if (one.path, one.cell, one.line) in program.blamed]
    assert any((one.severity == "note") is (program.name in NOTES) for one in blamed)


@pytest.mark.parametrize("program", programs("right"), ids=lambda program: program.name)
def test_a_right_program_has_nothing_but_notes(program: Program) -> None:
    assert [(one.place, one.code) for one in found(program) if one.severity != "note"] == []
