"""Texts of a night that leave the machine: for an issue, and to webhooks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from reprocheck.suite.model import Night, NightReport, TargetReport
from reprocheck.suite.pages import markdown, notices
from reprocheck.suite.reports import to_paste


def issue(night: Night, target: TargetReport) -> bytes:
    """Return a text for an issue on one target, ready to be pasted."""
    return markdown.issue(*to_paste((night, target), target))


def notify(
    webhooks: Sequence[str],
    report: NightReport,
    of_owners: Mapping[str, Sequence[str]] | None = None,
    known: notices.Known = frozenset(),
) -> list[str]:
    """Send what changed to each webhook, and to those of an owner their part.

    That is what changed at the owner's targets. Returns a sentence for each webhook that did not
    take it. `known`: what was told of this night before.
    """
    owners = {one.name: one.target.owner for one in report.targets if one.target is not None}
    to_send = to_paste(report, *report.targets)
    return notices.send(webhooks, to_send, owners=owners, of_owners=of_owners, known=known)
