"""What is said of patches: a finding is fixable where a patch is really made, and its fix is what
that does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, starmap
from typing import TYPE_CHECKING

from reprocheck.language import sentences, tr
from reprocheck.language.letters import capital, small, unended
from reprocheck.scan.finding import Finding, file_of
from reprocheck.scan.index import grouped
from reprocheck.scan.project import Project
from reprocheck.scan.workers import each

if TYPE_CHECKING:
    from reprocheck.scan.patches import Mended

_NOT_SURE = "unsure"
"""The evidence of a finding of which the text does not show whether its patch fits: nothing is
changed, and it is said how.
"""


@dataclass(frozen=True, slots=True)
class Patched:
    """The text of a file, and the findings whose patches may change it."""

    text: str
    findings: tuple[Finding, ...]


def promised(
    judged: Sequence[tuple[Project, Sequence[Finding]]], *, jobs: int = 1
) -> list[list[Finding]]:
    """Return the findings of each project, of which no more are said to be fixable than a patch
    really fixes, with what it does as their fix.
    """
    files = list(chain.from_iterable(starmap(_files, judged)))
    fixes: dict[int, Mended] = {}
    for file, mended in zip(files, _each(files, jobs), strict=True):
        fixes |= {id(file.findings[one.number]): one for one in mended}
    return [[_with_fix(one, fixes.get(id(one))) for one in found] for _, found in judged]


def _files(project: Project, found: Sequence[Finding]) -> Iterator[Patched]:
    """Yield the files of a project that a patch of its findings may change."""
    by_path = grouped((file_of(one), one) for one in filter(_may_be_patched, found))
    for module in project:
        findings = by_path.get(module.shown)
        if findings:
            yield Patched(module.source.text, tuple(findings))


def _each(files: Sequence[Patched], jobs: int) -> list[list[Mended]]:
    """Return what is mended in each file, in several processes where there are several files."""
    if not files:
        return []
    # the library that patches need takes long to import, most scans need none, and processes that
    # are forked have it
    from reprocheck.scan import patches

    assert patches
    return each(_mended, files, jobs)


def _mended(file: Patched) -> list[Mended]:
    """Return what patches do for those of the findings that they mend."""
    from reprocheck.scan import patches

    return patches.fixes(file.text, file.findings)


def _may_be_patched(finding: Finding) -> bool:
    if finding.suppressed is not None:
        return False
    return finding.patchable or _NOT_SURE in finding.evidence


def _with_fix(finding: Finding, patch: Mended | None) -> Finding:
    """Return a finding with what its patch does, as far as that is said in a line."""
    if patch is None:
        return replace(finding, patchable=False)
    finding = replace(finding, edit_known=True)
    if not patch.said:
        return finding
    return replace(finding, fix=_fix(finding, patch.said), fix_from="place")


def _fix(finding: Finding, patch: str) -> str:
    """Return what to do: what the patch does, after what the check says of the place."""
    of_place = finding.evidence.get("fix", "")
    if of_place:
        return tr("{fix}, or {patch}", fix=unended(of_place), patch=small(patch))
    if not finding.patchable:
        unsure = tr("{sentence}.", sentence=capital(finding.evidence[_NOT_SURE]))
        return sentences(patch, unsure)
    return patch
