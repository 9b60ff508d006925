"""Read the suite of a settings file.

It is `[tool.reprocheck.suite]` and `[[tool.reprocheck.target]]` of pyproject.toml, or `[suite]` and
`[[target]]` of reprocheck.toml.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reprocheck import settings
from reprocheck.errors import SettingsError
from reprocheck.redaction import Redaction, known_secrets
from reprocheck.settings import nearest
from reprocheck.suite.target import Target
from reprocheck.suite.targets import target as one_target
from reprocheck.suite.targets.selection import selected
from reprocheck.suite.targets.values import OF_THE_SUITE, read

FOLDER = "nightly"
KEEP = 30
"""Nights whose report folders a new suite keeps: a month."""
HISTORY = "history.sqlite"
_SQLITE = "sqlite:///"


class NoSuiteError(SettingsError):
    """Report that no settings file names a suite."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """Hold all targets of a settings file, and where their nights are kept.

    targets      the targets in the order of the file, those of a matrix in place of its table
    folder       the absolute folder of nights, reports, the default history and the site
    history      the URL of the history; a SQLite file in it has an absolute path
    file         the settings file
    webhooks     URLs; `$NAME` in them, and in `history`, stands for an environment variable, and is
                 left as it is where that is not set
    owners       the URLs, as in webhooks, of owners of targets that have their own
    baselines    the file of the baselines that count; None: those in the history do
    keep_nights  how many nights keep their report folders; older folders are removed; None: all
    home         the suite's own folder, where `folder` stands in place of it; None: it does not
    """

    targets: tuple[Target, ...]
    folder: Path
    history: str
    file: Path
    webhooks: tuple[str, ...] = ()
    owners: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    keep_nights: int | None = None
    baselines: Path | None = None
    home: Path | None = None

    @property
    def home_history(self) -> Path | None:
        """Return the history file of the suite itself where this one has another history.

        None if it has not.
        """
        apart = self.history == f"{_SQLITE}{self.folder / HISTORY}"
        return self.home / HISTORY if self.home and apart else None

    def select(self, names: Sequence[str] = (), tags: Sequence[str] = ()) -> tuple[Target, ...]:
        """Return the targets with one of the names and one of the tags, by name.

        names  exact, shell patterns (`resnet*`), or the name of a matrix without its values

        Raises UsageError for a name or tag that is not there.
        """
        return selected(self.targets, names, tags)


def load(cwd: Path, folder: Path | None = None) -> Suite:
    """Return the suite of the nearest settings file, in `cwd` or above, that names one.

    folder  in place of the suite's own, from `cwd` on: for a shard that keeps what it records, and
            its history unless the file has a URL for it, apart from the others

    Reads that file alone: whether scripts and folders are there is asked with `missing`. Raises
    NoSuiteError; SettingsError: an unknown key, a value that is not allowed, a name twice.
    """
    for place in (cwd, *cwd.parents):
        tables = []
        pyproject, own = place / "pyproject.toml", place / "reprocheck.toml"
        of_pyproject = settings.pyproject_table(pyproject)
        if of_pyproject is not None:
            tables.append(_Table(file=pyproject, values=of_pyproject))
        if own.is_file():
            tables.append(_Table(file=own, values=settings.toml(own)))
        for table in tables:
            _refuse_unknown_keys(table)
        found = [
            table for table in tables if any(key in table.values for key in settings.OF_THE_SUITE)
        ]
        if len(found) > 1:
            raise SettingsError(
                f"{found[0].file} and {found[1].file.name} beside it both name a suite.",
                "Move all targets, and the table of the suite, into one of the two.",
            )
        if found:
            return _suite(found[0], folder and one_target.absolute(cwd, str(folder)))
    raise NoSuiteError(
        f"Neither {cwd} nor a folder above it has a suite.",
        "`reprocheck suite init` writes a table of targets from your scripts.",
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Table:
    """Hold the content of a settings file.

    Of pyproject.toml it is what stands below `[tool.reprocheck]`, else a whole reprocheck.toml.
    """

    file: Path
    values: Mapping[str, object]


def _refuse_unknown_keys(table: _Table) -> None:
    """Raise SettingsError for an unknown table or setting, such as `[[targets]]`."""
    known = (*settings.OF_OTHERS, *(option.key for option in settings.OPTIONS))
    for key in table.values:
        written = key.replace("_", "-")
        if written not in known:
            meant = nearest(written, known)
            question = f"Did you mean {meant}? " if meant else ""
            raise SettingsError(
                f"{table.file}: there is no table or setting {key!r}.",
                f"{question}The tables are {', '.join(settings.OF_OTHERS)}; `reprocheck config`"
                " lists the settings.",
            )


def _suite(found: _Table, instead: Path | None) -> Suite:
    place = str(found.file)
    keys = _keys(found.values.get("suite", {}), f"{place}: suite")
    default = one_target.defaults(keys.get("defaults", {}), f"{place}: suite.defaults")
    targets: list[Target] = []
    for table in _target_tables(found):
        targets += one_target.targets(table, default, found.file)
    names: set[str] = set()
    for target in targets:
        if target.name in names:
            raise SettingsError(
                f"{place}: two targets have the name {target.name!r}.",
                "Give one of them another name; history and baselines are kept by it.",
            )
        names.add(target.name)
    _refuse_secrets(targets, place)
    _refuse_unknown_owners(keys.get("owners", {}), targets, place)
    base = found.file.parent
    home = one_target.absolute(base, keys.get("folder", FOLDER))
    folder = instead or home
    _refuse_folder_around(folder, targets, found.file)
    history = f"{_SQLITE}{folder / HISTORY}"
    if "history" in keys:
        history = os.path.expandvars(keys["history"])
    if history.startswith(_SQLITE):
        # a relative path starts from the settings file
        history = f"{_SQLITE}{one_target.absolute(base, history.removeprefix(_SQLITE))}"
    return Suite(
        targets=tuple(targets),
        folder=folder,
        history=history,
        file=found.file,
        webhooks=_urls(keys.get("webhooks", ())),
        owners={owner: _urls(urls) for owner, urls in keys.get("owners", {}).items()},
        keep_nights=keys.get("keep"),
        baselines=one_target.absolute(base, keys["baselines"]) if "baselines" in keys else None,
        home=None if folder == home else home,
    )


def _urls(given: Sequence[str]) -> tuple[str, ...]:
    """Return URLs with environment variables in place of their names."""
    return tuple(map(os.path.expandvars, given))


def _keys(table: object, place: str) -> dict[str, Any]:
    """Return the parsed keys of the table `[suite]`."""
    if not isinstance(table, dict):
        raise SettingsError(f"{place} is not a table.", "Write [suite] above its keys.")
    for key in table:
        if key not in OF_THE_SUITE:
            meant = nearest(key, OF_THE_SUITE)
            question = f"Did you mean {meant}? " if meant else ""
            raise SettingsError(
                f"{place} has no key {key!r}.", f"{question}It takes {', '.join(OF_THE_SUITE)}."
            )
    return {key: read(OF_THE_SUITE[key], key, value, place) for key, value in table.items()}


def _target_tables(found: _Table) -> list[one_target.Table]:
    tables = found.values.get("target", [])
    if not isinstance(tables, list) or not all(isinstance(one, dict) for one in tables):
        raise SettingsError(
            f"{found.file}: target is not a list of tables.",
            "Write two brackets: [[target]], in pyproject.toml [[tool.reprocheck.target]].",
        )
    read_tables = []
    for number, table in enumerate(tables, start=1):
        if "name" not in table:
            raise SettingsError(
                f"{found.file}: target {number} has no name.", 'Add a line such as name = "resnet".'
            )
        read_tables.append(one_target.table(table, f"{found.file}: target {table['name']!r}"))
    return read_tables


def _refuse_secrets(targets: Sequence[Target], place: str) -> None:
    """Raise SettingsError for a name or tag that looks like a secret and would be masked."""
    for target in targets:
        redaction = Redaction("folder", known=known_secrets(target.words, target.environment))
        tags = (("tag", tag) for tag in target.tags)
        for what, text in (("name", target.name), *tags, ("owner", target.owner)):
            if redaction.text(text) != text:
                raise SettingsError(
                    f"{place}: target {target.name!r}: its {what} {text!r} holds a secret or an"
                    " address.",
                    _OTHER[what],
                )


def _refuse_unknown_owners(owners: Iterable[str], targets: Sequence[Target], place: str) -> None:
    """Raise SettingsError for an owner of webhooks who owns no target: nothing would be sent."""
    known = sorted({target.owner for target in targets if target.owner})
    for owner in owners:
        if owner not in known:
            meant = nearest(owner, known)
            question = f"Did you mean {meant}? " if meant else ""
            raise SettingsError(
                f"{place}: suite: owners names {owner!r}, and no target has this owner.",
                f'{question}Write owner = "{owner}" in a target, or remove it from owners.',
            )


_OTHER = {
    "name": "Give it another name: folders, files and commands hold it. A value of a matrix is a"
    " part of the name; a secret belongs in a variable of the shell that starts the night.",
    "tag": "Give it another tag: the pages of each night show it.",
    "owner": "Write a name, such as @ada, and the address in [suite.owners].",
}
"""What to do about a name, a tag and an owner."""


def _refuse_folder_around(folder: Path, targets: Sequence[Target], file: Path) -> None:
    """Raise SettingsError if a training lies inside the suite's folder.

    Snapshots and copies of the training leave that folder out.
    """
    for inside in (file.parent, *(target.workdir for target in targets)):
        if inside.is_relative_to(folder):
            raise SettingsError(
                f"{file}: the folder of the suite, {folder}, is around {inside}.",
                f"Name a folder for its nights alone, such as {FOLDER}.",
            )
