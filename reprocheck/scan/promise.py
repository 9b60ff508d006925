"""What is said of patches: a finding is fixable where a patch is really made, and its fix is what
that does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from reprocheck.model.letters import capital, small
from reprocheck.scan.finding import Finding
from reprocheck.scan.project import Project

_NOT_SURE = "unsure"
"""The evidence of a finding of which the text does not show whether its patch fits: nothing is
changed, and it is said how.
"""


def promised(project: Project, found: Sequence[Finding]) -> list[Finding]:
    """The findings, of which no more are said to be fixable than a patch really fixes, with what
    it does as their fix.
    """
    by_path: dict[str, list[Finding]] = {}
    for one in found:
        if (one.patchable or _NOT_SURE in one.evidence) and one.suppressed is None:
            from reprocheck.scan import patches

            by_path.setdefault(patches.file_of(one), []).append(one)
    fixes: dict[int, str] = {}
    for module in project:
        if module.shown in by_path:
            fixes |= {
                id(one): fix
                for one, fix in patches.fixes(module.source.text, by_path[module.shown])
            }
    return [
        replace(
            one, patchable=one.patchable and id(one) in fixes, fix=_fix(one, fixes.get(id(one), ""))
        )
        for one in found
    ]


def _fix(finding: Finding, patch: str) -> str:
    """What to do: what the patch does, after what the check says of the place."""
    said = finding.evidence.get("fix", "")
    if not patch:
        return finding.fix
    if said:
        return f"{said.rstrip('.')}, or {small(patch)}"
    if not finding.patchable:
        return f"{patch} {capital(finding.evidence[_NOT_SURE])}."
    return patch
