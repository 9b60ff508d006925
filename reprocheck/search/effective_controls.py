"""Find the controls that acted on something in the runs under them.

If a control acted on nothing, luck made the runs agree, not the control.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from operator import attrgetter

from reprocheck.causes.usercode import UserCode
from reprocheck.model import Check, Run, Touch
from reprocheck.model.controls import is_fix
from reprocheck.rules import likely
from reprocheck.settings import controls

_ELSEWHERE = ("/", "~", "../")
"""How paths outside of the working directory begin."""
_THREADS = ".threads"
"""How the facts end that say how many threads an operator of a framework may use."""


class Acting:
    """The evidence, for each control, that it acted in the runs of one search."""

    def __init__(self, check: Check, code: UserCode) -> None:
        self._check = check
        self._kinds = frozenset(map(attrgetter("kind"), code.hints))
        # By the `acts` of the lists. Every other entry there names kinds of lines.
        self._shown: dict[tuple[str, ...], Callable[[str, Run], bool]] = {
            (): _touched,
            ("files",): self._in_files,
            ("framework",): lambda name, run: bool(run.frameworks),
            ("threads",): self._on_threads,
        }

    def of(self, names: Iterable[str], runs: Iterable[Run]) -> frozenset[str]:
        """Return the controls, and the patches, that acted on something in every given run."""
        acted = set(names)
        for run in runs:
            for name in tuple(acted):
                shows = self._shown.get(likely.shown_by(name), self._on_line)
                if not (run.controls.patched if is_fix(name) else shows(name, run)):
                    acted.remove(name)
        return frozenset(acted)

    def _on_line(self, name: str, run: Run) -> bool:
        """Return whether a control was on, and a line of the user's depends on what it fixes."""
        was_on = any(_touches(name, run))
        on_line = not self._kinds.isdisjoint(likely.shown_by(name))
        ran = (one.code for one in self._check.scanned.findings if one.ran)
        return was_on and (on_line or any(likely.removes(name, code) for code in ran))

    def _on_threads(self, name: str, run: Run) -> bool:
        """Return whether a control acted, and an uncontrolled run could use several threads.

        If no framework recorded its number of threads, several are assumed.
        """
        facts = map(attrgetter("environment"), (*self._check.runs, *self._check.traces))
        pairs = chain.from_iterable(one.items() for one in facts)
        threads = {value for key, value in pairs if key.endswith(_THREADS)}
        return _touched(name, run) and threads != {1}

    def _in_files(self, name: str, run: Run) -> bool:
        """Return whether a run left files, or compiled code, for another run.

        In the working directory.

        Files outside of the working directory do not count: no control copies them.
        """
        if "compile" in self._kinds:
            return True
        paths = set(self._check.state_left)
        for one in self._check.record.runs:
            files = one.files
            paths.update(files.created, files.changed, files.deleted, files.folders)
        return not all(path.startswith(_ELSEWHERE) for path in paths)


def _touches(name: str, run: Run) -> Iterator[Touch]:
    """Yield what a control intercepted or set in a run."""
    return (touch for touch in run.controls.touches if touch.control == name)


def _touched(name: str, run: Run) -> bool:
    """Return whether a control intercepted a call, or set something that the script uses.

    A set environment variable does not count: nothing shows that a program reads it.
    """
    touched = {touch.what for touch in _touches(name, run) if not touch.setting}
    return not touched.issubset(controls.control(name).environment)
