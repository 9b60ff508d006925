"""Which controls acted on something in the runs under them.

What acted on nothing did not make them agree: luck did.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reprocheck.causes import likely
from reprocheck.causes.usercode import UserCode
from reprocheck.model import Check, Run
from reprocheck.settings import controls

_ELSEWHERE = ("/", "~", "../")
"""How paths outside of the working directory begin."""
_THREADS = ".threads"
"""How the facts end that say how many threads an operator of a framework may use."""


class Acting:
    """What shows for each control that it acted, in the runs of one search."""

    def __init__(self, check: Check, folder: Path) -> None:
        self._check = check
        hints = UserCode(check, folder).hints
        self._kinds = frozenset(hint.kind for hint in hints)

    def of(self, names: Iterable[str], runs: Iterable[Run]) -> frozenset[str]:
        """The controls that acted on something in each of these runs."""
        each = tuple(runs)
        return frozenset(
            name for name in names if each and all(self._acted(name, run) for run in each)
        )

    def _acted(self, name: str, run: Run) -> bool:
        shown_by = likely.shown_by(name)
        if not shown_by:
            return self._touched(name, run)
        if shown_by == ("files",):
            return self._in_files()
        if shown_by == ("framework",):
            return bool(run.frameworks)
        if shown_by == ("threads",):
            return self._touched(name, run) and self._had_threads()
        return self._on_line(name, shown_by, run)

    def _touched(self, name: str, run: Run) -> bool:
        """It intercepted or set something of the script's.

        That a variable was set does not say that anything reads it.
        """
        variables = controls.control(name).environment
        touches = [
            touch for touch in run.controls.touches if touch.control == name and not touch.setting
        ]
        return any(touch.what not in variables for touch in touches)

    def _on_line(self, name: str, kinds: Iterable[str], run: Run) -> bool:
        """It was on in the process, and a line of the user's depends on what it fixes."""
        was_on = any(touch.control == name for touch in run.controls.touches)
        return was_on and (not self._kinds.isdisjoint(kinds) or self._found_by_scan(name))

    def _found_by_scan(self, name: str) -> bool:
        findings = self._check.scan.findings if self._check.scan else ()
        return any(
            likely.removes(name, one.code) and one.executed in ("executed", "entered")
            for one in findings
        )

    def _had_threads(self) -> bool:
        """Some process of the runs as they are could compute with several threads, as far as
        frameworks said how many.
        """
        facts = [
            facts
            for run in self._check.runs
            for facts in (run.environment, *(trace.environment for trace in run.traces))
        ]
        threads = [value for one in facts for key, value in one.items() if key.endswith(_THREADS)]
        return not threads or any(value != 1 for value in threads)

    def _in_files(self) -> bool:
        """A run left files in the working directory, or compiled code, that another could find.

        Files elsewhere are in no copy.
        """
        changes = [one.files for one in self._check.record.runs]
        paths = [
            path
            for one in changes
            for path in (*one.created, *one.changed, *one.deleted, *one.folders)
        ]
        inside = any(not path.startswith(_ELSEWHERE) for path in (*paths, *self._check.state_left))
        return inside or "compile" in self._kinds
