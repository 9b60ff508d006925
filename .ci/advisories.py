"""Looks the packages of a requirements file up in a checkout of PyPA's advisory database, without
a network. Prints each advisory that reaches one of them; exit code 1 where there is one.

    python .ci/advisories.py advisory-database requirements.txt
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import InvalidVersion, Version
from ruamel.yaml import YAML


@dataclass(frozen=True)
class Advisory:
    """One record of the database: <https://ossf.github.io/osv-schema/>."""

    name: str
    published: str
    aliases: tuple[str, ...]
    affected: tuple[dict[str, Any], ...]

    def reaches(self, package: str, version: Version) -> bool:
        """Whether it is about this version: listed by name, or within a range of versions."""
        return any(
            version in _versions(one.get("versions", ()))
            or any(_within(version, events) for events in _ranges(one))
            for one in self.affected
            if canonicalize_name(one["package"]["name"]) == package
        )


def _versions(texts: Iterable[str]) -> Iterator[Version]:
    for text in texts:
        try:
            yield Version(text)
        except InvalidVersion:  # of before PEP 440: no package of today has such a one
            continue


def _ranges(affected: dict[str, Any]) -> Iterator[list[dict[str, str]]]:
    """The events of each range that counts versions, not commits."""
    for one in affected.get("ranges", ()):
        if one["type"] == "ECOSYSTEM":
            yield one["events"]


def _within(version: Version, events: list[dict[str, str]]) -> bool:
    """The last event at or below a version decides: *Evaluation* of the schema. A range that
    cannot be read rules nothing out.
    """
    try:
        in_order = sorted(events, key=lambda event: Version(next(iter(event.values()))))
    except InvalidVersion:
        return True
    inside = False
    for event in in_order:
        if "introduced" in event and version >= Version(event["introduced"]):
            inside = True
        if "fixed" in event and version >= Version(event["fixed"]):
            inside = False
        if "last_affected" in event and version > Version(event["last_affected"]):
            inside = False
    return inside


def read(database: Path, package: str) -> Iterator[Advisory]:
    """What the database knows of a package; advisories that were withdrawn are left out."""
    yaml = YAML(typ="safe")
    for file in sorted((database / "vulns" / package).glob("*.yaml")):
        record = yaml.load(file.read_text(encoding="utf-8"))
        if "withdrawn" in record:
            continue
        yield Advisory(
            name=record["id"],
            published=str(record.get("published") or record["modified"])[:10],
            aliases=tuple(record.get("aliases", ())),
            affected=tuple(record["affected"]),
        )


def pinned(requirements: Iterable[str]) -> dict[str, Version]:
    """Package -> version of `name==version` lines."""
    found = {}
    for line in requirements:
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        requirement = Requirement(line.strip())
        (specifier,) = requirement.specifier
        found[canonicalize_name(requirement.name)] = Version(specifier.version)
    return found


def main() -> int:
    """1 where an advisory reaches a package, 2 where there is no database."""
    database, requirements = Path(sys.argv[1]), Path(sys.argv[2])
    if not (database / "vulns").is_dir():
        print(f"{database} has no folder vulns: it is no checkout of the database", file=sys.stderr)
        return 2
    packages = pinned(requirements.read_text().splitlines())
    read_of = {package: list(read(database, package)) for package in packages}
    reaching = [
        (package, version, advisory)
        for package, version in packages.items()
        for advisory in read_of[package]
        if advisory.reaches(package, version)
    ]
    for package, version, advisory in reaching:
        aliases = ", ".join(advisory.aliases)
        print(f"{package} {version}: {advisory.name} ({aliases}), of {advisory.published}")
    every = [advisory for found in read_of.values() for advisory in found]
    newest = max((advisory.published for advisory in every), default="no day")
    print(
        f"{len(packages)} packages; of the {len(every)} advisories about them, the newest of "
        f"{newest}, {len(reaching)} reach these versions"
    )
    return int(bool(reaching))


if __name__ == "__main__":
    raise SystemExit(main())
