"""`[tool.reprocheck.scan]` of the nearest pyproject.toml: `select`, `ignore` and `exclude`, as
lists of text, and `libraries`, a table of what the project's own libraries do.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from reprocheck.errors import SettingsError

LISTS = ("select", "ignore", "exclude")
KEYS = (*LISTS, "libraries")


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """What a project wants of its scans."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    libraries: tuple[tuple[str, str], ...] = ()
    """Calls that differ from run to run unless they are given an argument, and that argument."""


def load(folder: Path) -> Options:
    """The options of the project that a folder belongs to. Raises SettingsError."""
    for at in (folder, *folder.parents):
        path = at / "pyproject.toml"
        if path.is_file():
            return _read(path)
    return Options()


def _read(path: Path) -> Options:
    try:
        text = path.read_text(encoding="utf-8")
        if "reprocheck" not in text:
            return Options()
        table = tomllib.loads(text).get("tool", {}).get("reprocheck", {}).get("scan", {})
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, AttributeError) as error:
        raise SettingsError(
            f"{path} cannot be read: {error}.", "Fix the file, or start in another folder."
        ) from None
    if not isinstance(table, dict):
        raise SettingsError(
            f"{path}: tool.reprocheck.scan is not a table.",
            "Write [tool.reprocheck.scan] above its keys.",
        )
    for key, value in table.items():
        if key not in KEYS:
            raise SettingsError(
                f"{path}: tool.reprocheck.scan has no key {key!r}.", f"Take {', '.join(KEYS)}."
            )
        if key == "libraries":
            _check_libraries(path, value)
        elif not isinstance(value, list) or not all(isinstance(one, str) for one in value):
            raise SettingsError(
                f"{path}: {key} = {value!r} is not a list of strings.",
                f'Write it as {key} = ["RC505"].',
            )
    libraries = tuple(table.pop("libraries", {}).items())
    lists = {key: tuple(value) for key, value in table.items()}
    return Options(**lists, libraries=libraries)


def _check_libraries(path: Path, value: object) -> None:
    if isinstance(value, dict) and all(isinstance(one, str) for one in value.values()):
        return
    raise SettingsError(
        f"{path}: libraries = {value!r} is not a table of text.",
        'Write [tool.reprocheck.scan.libraries], and below it "package.Class" = "seed".',
    )
