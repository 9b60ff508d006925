"""Read `[tool.reprocheck.scan]` of the nearest pyproject.toml, and which rules are asked for.

`select`, `ignore` and `exclude` are lists of texts, `libraries` and `per-file-ignores` are tables,
and `baseline` is a file.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from reprocheck.errors import SettingsError, UsageError
from reprocheck.rules import catalogue, find, nearest
from reprocheck.scan.files import matches
from reprocheck.scan.finding import UNUSED_IGNORE, Finding, Result

LISTS = ("select", "ignore", "exclude")


@dataclass(frozen=True, slots=True)
class _Kind:
    """The type that the value of a key must have.

    holds   returns whether a value has this type
    name    the type in words
    advice  how to write such a value
    """

    holds: Callable[[Any], bool]
    name: str
    advice: str


def _is_list(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(one, str) for one in value)


_KINDS = {
    **dict.fromkeys(LISTS, _Kind(_is_list, "a list of strings", 'Write it as {key} = ["RC505"].')),
    "libraries": _Kind(
        lambda value: isinstance(value, dict) and _is_list([*value.values()]),
        "a table of text",
        'Write [tool.reprocheck.scan.libraries], and below it "package.Class" = "seed".',
    ),
    "per-file-ignores": _Kind(
        lambda value: isinstance(value, dict) and all(map(_is_list, value.values())),
        "a table of lists of strings",
        'Write [tool.reprocheck.scan.per-file-ignores], and below it "tests/*" = ["RC301"].',
    ),
    "baseline": _Kind(
        lambda value: isinstance(value, str) and value != "",
        "the name of a file",
        'Write it as {key} = "scan-baseline.json".',
    ),
}
KEYS = tuple(_KINDS)


@dataclass(frozen=True, kw_only=True, slots=True)
class Options:
    """The scan options of a project.

    select, ignore     codes or names of rules to use and to leave out
    exclude            patterns of paths to leave out
    libraries          calls of the project's libraries that differ from run to run, each with the
                       argument that seeds it
    per_file_ignores   patterns of paths, each with the rules to leave out there
    folder             the folder of pyproject.toml, to which these patterns are relative
    baseline           the file of known findings; None without one
    """

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    libraries: tuple[tuple[str, str], ...] = ()
    per_file_ignores: Mapping[str, list[str]] = field(default_factory=dict)
    folder: Path = Path()
    baseline: Path | None = None

    def with_words(
        self,
        select: Sequence[str] | None,
        ignore: Sequence[str] | None,
        exclude: Sequence[str] | None,
    ) -> Options:
        """Return the options together with those of a command line."""
        return replace(
            self,
            select=tuple(select or self.select),
            ignore=(*(ignore or ()), *self.ignore),
            exclude=(*(exclude or ()), *self.exclude),
        )


def load(folder: Path) -> Options:
    """Return the options of the project that a folder belongs to. Raises SettingsError."""
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
        kind = _KINDS[key]
        if not kind.holds(value):
            problem = f"{path}: {key} = {value!r} is not {kind.name}."
            raise SettingsError(problem, kind.advice.format(key=key))
    baseline = None
    if "baseline" in table:
        baseline = path.parent / table["baseline"]
    return Options(
        **{key: tuple(table.get(key, ())) for key in LISTS},
        libraries=tuple(table.get("libraries", {}).items()),
        per_file_ignores=table.get("per-file-ignores", {}),
        folder=path.parent,
        baseline=baseline,
    )


def codes(words: Iterable[str], option: str) -> frozenset[str]:
    """Return the codes that words stand for: `RC301`, `RC5`, `unseeded-weights`, `RC1,RC2`.

    Raises UsageError.
    """
    single = filter(None, re.split(r"[\s,]+", " ".join(words)))
    return frozenset().union(*(_codes(word, option) for word in single))


def without(result: Result, ignored: Mapping[str, Sequence[str]], folder: Path) -> Result:
    """Return the result without what is not wanted in some files.

    ignored    patterns of paths, each with the rules that it leaves out
    folder     what the patterns are relative to

    Raises UsageError for a rule that does not exist.
    """
    left_out = {
        pattern: codes(words, f"per-file-ignores of {pattern}")
        for pattern, words in ignored.items()
    }

    def is_wanted(finding: Finding) -> bool:
        path = os.path.relpath(finding.path, folder).replace(os.sep, "/")
        return not any(
            finding.code in unwanted and matches(path, pattern)
            for pattern, unwanted in left_out.items()
        )

    return replace(
        result,
        findings=tuple(filter(is_wanted, result.findings)),
        suppressed=tuple(filter(is_wanted, result.suppressed)),
    )


def _codes(word: str, option: str) -> set[str]:
    every = {entry.code for entry in catalogue()}
    if word.lower() == "all":
        return {UNUSED_IGNORE, *every}
    if word.lower() == UNUSED_IGNORE:
        return {UNUSED_IGNORE}
    entry = find(word)
    if entry is not None:
        return {entry.code}
    is_beginning = re.fullmatch(r"(?i)RC\d{0,3}", word) is not None
    matching = {code for code in every if is_beginning and code.startswith(word.upper())}
    if not matching:
        close = nearest(word)
        advice = "`reprocheck rules` lists them."
        if close:
            advice = f"Did you mean {' or '.join(close)}?"
        raise UsageError(f"{option} {word}: there is no such rule.", advice)
    return matching
