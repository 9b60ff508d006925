"""Where new targets are written, and which scripts are targets already."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from reprocheck import settings
from reprocheck.suite.target import Target
from reprocheck.suite.targets.scripts import Script
from reprocheck.suite.targets.suite import NoSuiteError, Suite, load


def of_new_targets(cwd: Path) -> tuple[Path, Suite | None]:
    """Return the settings file for new targets, and the suite that it names.

    This is the file of the nearest suite; else an existing reprocheck.toml in `cwd`; else the
    nearest pyproject.toml with `[tool.reprocheck]`; else a new reprocheck.toml. Raises
    SettingsError.
    """
    try:
        suite = load(cwd)
    except NoSuiteError:
        own = cwd / "reprocheck.toml"
        if own.exists():
            return own, None
        for folder in (cwd, *cwd.parents):
            if settings.pyproject_table(folder / "pyproject.toml") is not None:
                return folder / "pyproject.toml", None
        return own, None
    return suite.file, suite


def without_target(found: Iterable[Script], targets: Iterable[Target]) -> list[Script]:
    """Return the scripts that no target starts yet."""
    started = {target.script.resolve() for target in targets if target.script is not None}
    return [script for script in found if script.path.resolve() not in started]
