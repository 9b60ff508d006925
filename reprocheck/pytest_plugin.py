"""The pytest plugin: `reprocheck.assert_reproducible("train.py")` in a test.

Every pytest loads it, so it imports next to nothing.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from reprocheck.model import Cause, Check
    from reprocheck.resume.model import ResumeCheck

__all__ = ["Reprocheck"]

FLAG = "--reprocheck-output"
LOG_LINES = 15


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for where the reports go."""
    group = parser.getgroup("reprocheck")
    group.addoption(
        FLAG,
        metavar="DIR",
        help=(
            "Folder for the report folders of `reprocheck.assert_reproducible` (default: tmp_path)."
        ),
    )


@pytest.fixture
def reprocheck(request: pytest.FixtureRequest) -> Reprocheck:
    """Provide `reprocheck.assert_reproducible("train.py")` and `assert_resumes` to a test."""
    return Reprocheck(request)


class Reprocheck:
    """The object that tests get as the fixture `reprocheck`."""

    def __init__(self, request: pytest.FixtureRequest) -> None:
        self._request = request

    def assert_reproducible(
        self,
        target: Callable[..., object] | str | Path,
        *args: Any,
        kwargs: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> Check:
        """Run a script or a function several times; return the check if it passes.

        `args` are the words of a script; a function takes `args` and `kwargs`.

        A script's path starts from the folder of the test file, or from pytest's root folder.
        `options` are those of `reprocheck.check`. `explain=True` searches for the cause of a
        difference as `reprocheck.explain` does, with runs under controls. Raises AssertionError
        with the verdict, the place where the runs diverge, the cause and its fix; UsageError where
        the check cannot be made.
        """
        __tracebackhide__ = True
        from reprocheck.api import check, explain
        from reprocheck.errors import ReprocheckError

        if not callable(target):
            target = self._script(Path(target))
        options.setdefault("output", self._output())
        make = check
        if options.get("explain"):
            make = explain
        try:
            found = make(target, args, kwargs, **options)
        except ReprocheckError as error:
            raise error.with_traceback(None) from None
        if not found.passed:
            raise AssertionError(f"{failure(found)}\nreport: {_page(found)}")
        if not found.verdict.plainly_passes:
            rule = found.verdict.next_rule
            said = f"{found.verdict.title}; fail_on={rule!r} makes it a failure"
            warnings.warn(said, stacklevel=2)
        return found

    def assert_resumes(self, script: str | Path, *args: str, **options: Any) -> ResumeCheck:
        """Stop a script at its checkpoint and resume it; return the check if both agree.

        They agree within the tolerance.

        `args` are the words of the script, `options` those of `reprocheck.check_resume`. Raises
        AssertionError with the verdict, its reason and the cause; UsageError where the check cannot
        be made.
        """
        __tracebackhide__ = True
        from reprocheck.api import check_resume
        from reprocheck.errors import ReprocheckError
        from reprocheck.resume.report.rows import lines

        options.setdefault("output", self._output())
        try:
            found = check_resume(self._script(Path(script)), args, **options)
        except ReprocheckError as error:
            raise error.with_traceback(None) from None
        if found.exit_code:
            said = "\n".join(lines(found))
            raise AssertionError(f"{said}\nreport: {found.folder}")
        return found

    def _script(self, path: Path) -> Path:
        """Return the script, relative to the working directory where it lies in it."""
        places = (self._request.path.parent / path, self._request.config.rootpath / path)
        found = next(filter(Path.exists, places), places[0]).resolve()
        if not found.is_relative_to(Path.cwd()):
            return found
        return found.relative_to(Path.cwd())

    def _output(self) -> Path:
        config = self._request.config
        folder = config.getoption(FLAG)
        if folder:
            return Path(config.invocation_params.dir, folder).absolute()
        tmp_path: Path = self._request.getfixturevalue("tmp_path")
        return tmp_path / "reprocheck"


def _page(check: Check) -> Path:
    """Return the page of a check; its folder where none was drawn."""
    from reprocheck.report import FORMATS

    folder = check.folder or Path()
    page = folder / FORMATS["html"].filename
    return page if page.is_file() else folder


def failure(check: Check) -> str:
    """Return the message of a test whose check did not pass.

    It has the verdict and reason, where the runs diverge, the first cause with its fix, or the log.
    """
    from reprocheck.report import text, words

    lines = [f"{check.verdict.title}: {text.line(check.verdict.reason)}"]
    if check.verdict.exit_code != 1:
        lines += words.meaning(check)[:1]
    lines += _first_difference(check)
    for cause in check.causes[:1]:
        lines += _cause(cause)
    if check.search is not None and check.search.patch:
        lines += ["patch:", *_code(check.search.patch.splitlines())]
    if check.verdict.verdict in ("script_failed", "timed_out"):
        lines += _log(check)
    return "\n".join(lines)


def _first_difference(check: Check) -> list[str]:
    from reprocheck.report import ladder, text

    rung = check.leading
    if rung is None:
        return []
    place = text.joined(", ", ladder.where(rung), text.origin(rung.source))
    lines = [text.joined(": ", f"first difference: {rung.rung}", place)]
    lead = ladder.lead(check)
    if lead:
        lines.append(f"  {lead}")
    return lines


def _cause(cause: Cause) -> list[str]:
    from reprocheck.report import causes, text

    title = f"cause: {causes.cause_title(cause)}"
    lines = [text.joined(" in ", title, text.origin(cause.source))]
    fix = causes.fix(cause)
    if not fix:
        return lines
    if causes.is_code(fix):
        return [*lines, "fix:", *_code(fix.split("\n"))]
    return [*lines, f"fix: {fix}"]


def _code(rows: Iterable[str]) -> list[str]:
    return [f"    {row}".rstrip() for row in rows]


def _log(check: Check) -> list[str]:
    """Return the end of the log of the run that failed or took too long."""
    from reprocheck.report import text, words

    run = next((run for run in check.runs if run.record.ended_badly), None)
    if run is None:
        return []
    log = text.tail(run.stderr_tail, LOG_LINES, 4000) or text.tail(run.stdout_tail, LOG_LINES, 4000)
    return [
        f"run {run.number} {words.ending(run)}; the end of its log:",
        *(f"    {row}" for row in log.split("\n")),
    ]
