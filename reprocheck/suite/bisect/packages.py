"""The package versions between two nights, as candidates.

The way from the good night's packages to the bad night's goes package by package, and within a
package version by version. On it one package at a time is held at a version; uv leaves all others
where they are as far as the requirements of that version allow it, and moves those that must move
with it. So packages that others bind to one version (the CUDA libraries of a torch) make no
candidates of their own.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from reprocheck.model import FRAMEWORKS
from reprocheck.suite.bisect.environments import Refused, Uv
from reprocheck.suite.model import TargetCheck

PACKAGE = "package."
"""Before the name of a package in the facts beside the key."""
Versions = Mapping[str, str]
"""Name of a package -> its version."""
_PINNED = re.compile(r"^(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*)==(?P<version>[^\s#;]+)")
_INDEX = re.compile(r"^\s*# from (?P<index>\S+)")
_WANTED_BY = re.compile(r"# via (?P<names>.*)$")
_PYPI = "https://pypi.org/simple"
MOST_VERSIONS = 1000
"""Of one package: an index that goes on for longer answers something else than was asked."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Environment:
    """Describe the packages that a candidate is to have installed.

    label   a short name: `torch 2.12.1`
    held    the package that is pinned to its version, "" if all are
    others  versions of all packages; if one is held, the others keep theirs if they can
    """

    label: str
    others: Versions
    held: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Requirements:
    """Hold an environment that uv has resolved.

    lines     what is installed, one requirement per line, as pip reads them
    versions  the packages among them that have a version
    """

    lines: tuple[str, ...]
    versions: Versions


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """Describe a package whose version differs between two environments; "" if one lacks it.

    link  the page of the release on the package index, "" if the index has no such page
    """

    name: str
    before: str
    after: str
    link: str = ""


def installed_at(check: TargetCheck) -> dict[str, str]:
    """Return the packages of a check with their versions.

    They are read from the environment key and the other facts; packages without a version that can
    be installed are left out.
    """
    from packaging.version import InvalidVersion, Version

    found = {
        name.removeprefix(PACKAGE): version
        for name, version in check.beside.items()
        if name.startswith(PACKAGE)
    }
    for name in FRAMEWORKS:
        if name in check.key.facts:
            found[_normal(name)] = check.key.facts[name]
    installed = {}
    for name, version in found.items():
        with suppress(InvalidVersion):
            Version(version)
            installed[name] = version
    return installed


def about(fact: str) -> str:
    """Return the package that an environment fact would be about.

    It is the normalized name before the dot.

    >>> about("package.numpy"), about("torch_npu"), about("numpy.blas")
    ('numpy', 'torch-npu', 'numpy')
    """
    return _normal(fact.removeprefix(PACKAGE).partition(".")[0])


def changes(before: Versions, after: Versions) -> tuple[Change, ...]:
    """Return the packages whose versions differ, by name."""
    return tuple(
        Change(name=name, before=before.get(name, ""), after=after.get(name, ""))
        for name in sorted({*before, *after})
        if before.get(name) != after.get(name)
    )


def between(
    uv: Uv, good: Versions, bad: Versions, *, only: tuple[str, ...] = (), pre: bool = False
) -> tuple[Environment, ...]:
    """Return the environments from the good night's to the bad night's, both included.

    only  packages whose versions are searched; empty: all that differ, except those that another
          differing package requires
    pre   whether to try pre-releases and nightlies, too; they are always tried if a night had one
    """
    differ = {change.name: change for change in changes(good, bad)}
    way = [Environment(label="packages of the good night", others=good)]
    here = dict(good)
    for name in only or _leading(uv, bad, tuple(differ)):
        after = differ[name].after
        here.pop(name, None)
        if not after:
            way.append(Environment(label=f"without {name}", others=dict(here)))
            continue
        for version in _versions(uv, differ[name], pre=pre):
            here[name] = version
            way.append(Environment(label=f"{name} {version}", held=name, others=dict(here)))
    all_of_it = len(way) > 1 and not set(differ) - set(only or differ)
    if all_of_it:
        way.pop()
    return (*way, Environment(label="packages of the bad night", others=bad))


def resolved(uv: Uv, wanted: Environment, local: Mapping[str, str]) -> Requirements | Refused:
    """Return what is installed for an environment.

    local  package name -> requirement line, for packages that are on no index; "" if a package
           cannot be installed at all
    """
    others = {name: version for name, version in wanted.others.items() if name not in local}
    lines = tuple(line for line in local.values() if line)
    if not wanted.held:
        pinned = tuple(f"{name}=={version}" for name, version in sorted(others.items()))
        return Requirements(lines=(*pinned, *lines), versions=others)
    version = others.pop(wanted.held)
    asked = (f"{wanted.held}=={version}", *others)
    with tempfile.TemporaryDirectory(prefix="reprocheck-") as folder:
        kept = Path(folder) / "kept.txt"
        # uv keeps the versions of the file that it writes to where it can
        kept.write_text(_pins(others))
        names = (*_resolving(uv, others), "--no-annotate", "-", "--output-file", str(kept))
        answer = uv.answer(*names, given="\n".join(asked))
        if isinstance(answer, Refused):
            return answer
        versions = dict(_pinned_in(kept.read_text()))
    pinned = tuple(f"{name}=={version}" for name, version in sorted(versions.items()))
    return Requirements(lines=(*pinned, *lines), versions=versions)


def not_on_index(uv: Uv, *nights: Versions) -> dict[str, str]:
    """Return the packages of the nights that no index has at their version.

    Each has the line that installs what the interpreter has from elsewhere (a folder, a
    repository); "" if that is nothing.
    """
    pins = {(name, version) for night in nights for name, version in night.items()}
    if all(_has(uv, night) for night in nights):
        return {}
    elsewhere = dict(_from_elsewhere(uv))
    return {
        name: elsewhere.get(name, "")
        for name, version in sorted(pins)
        if name in elsewhere or not _has(uv, {name: version})
    }


def with_link(uv: Uv, change: Change) -> Change:
    """Return the change with the link to the new release.

    For a removed package the link leads to the old release.
    """
    version = change.after or change.before
    words = (*_resolving(uv, {change.name: version}), "--no-deps", "--emit-index-annotation", "-")
    answer = uv.answer(*words, given=f"{change.name}=={version}")
    if isinstance(answer, Refused):
        return change
    indexes = [found["index"] for line in answer.splitlines() if (found := _INDEX.match(line))]
    index = (indexes or [""])[0].rstrip("/")
    link = f"{index}/{change.name}/"
    if index == _PYPI:
        link = f"https://pypi.org/project/{change.name}/{version}/"
    if not index or index.startswith("file:"):
        link = index
    return Change(name=change.name, before=change.before, after=change.after, link=link)


def _leading(uv: Uv, night: Versions, differ: tuple[str, ...]) -> tuple[str, ...]:
    """Return the differing packages that no other differing package requires.

    All if uv cannot say.
    """
    words = (*_resolving(uv, night), "--annotation-style", "line", "-")
    answer = uv.answer(*words, given=_pins(night))
    if isinstance(answer, Refused):
        return differ
    followers = {
        found["name"]
        for line in answer.splitlines()
        if (found := _PINNED.match(line)) and (by := _WANTED_BY.search(line))
        if {name.strip() for name in by["names"].split(",")} & set(differ)
    }
    return tuple(name for name in differ if name not in followers) or differ


def _versions(uv: Uv, change: Change, *, pre: bool) -> list[str]:
    """Return the releases from one version to the other.

    The first one is left out, and the last one is among them. Those that were withdrawn from the
    index, or are not for this interpreter, are not.
    """
    from packaging.version import Version

    if not change.before or not change.after:
        return [change.after] if change.after else []
    before, after = Version(change.before), Version(change.after)
    low, high = sorted((before, after))
    pre = pre or before.is_prerelease or after.is_prerelease
    found = list(_downwards(uv, change.name, low, high, pre=pre))
    if before < after:
        found.reverse()
    between_them = [version for version in found if Version(version) not in (before, after)]
    return [*between_them, change.after]


def _downwards(uv: Uv, name: str, low: object, high: object, *, pre: bool) -> Iterator[str]:
    """Ask uv for the newest release below the last one, until there is none.

    So the rules by which it leaves out releases are its own.
    """
    from packaging.version import Version

    allowed = "allow" if pre else "disallow"
    words = _compile(uv, "--no-deps", "--no-annotate", "--prerelease", allowed, "-")
    lowest, below = Version(str(low)).public, Version(str(high)).public
    for _ in range(MOST_VERSIONS):
        answer = uv.answer(*words, given=f"{name}>={lowest},<={below},!={below}")
        if isinstance(answer, Refused):
            return
        version = dict(_pinned_in(answer))[name]
        yield version
        below = Version(version).public


def _has(uv: Uv, versions: Versions) -> bool:
    """Return whether uv finds each of these versions."""
    words = (*_resolving(uv, versions), "--no-deps", "-")
    return not isinstance(uv.answer(*words, given=_pins(versions)), Refused)


def _resolving(uv: Uv, versions: Versions) -> tuple[str, ...]:
    """Return the uv arguments that resolve these versions.

    Pre-releases are allowed if some of the versions are pre-releases.
    """
    from packaging.version import Version

    pre = any(Version(version).is_prerelease for version in versions.values())
    return _compile(uv, "--prerelease", "allow" if pre else "if-necessary-or-explicit")


def _compile(uv: Uv, *words: str) -> tuple[str, ...]:
    return ("pip", "compile", "--quiet", "--no-header", "--python", uv.python, *words)


def _pins(versions: Versions) -> str:
    return "".join(f"{name}=={version}\n" for name, version in sorted(versions.items()))


def _pinned_in(text: str) -> Iterator[tuple[str, str]]:
    """Yield the packages that a requirements file pins."""
    for line in text.splitlines():
        if found := _PINNED.match(line):
            yield found["name"], found["version"]


def _from_elsewhere(uv: Uv) -> Iterator[tuple[str, str]]:
    """Yield the packages that the interpreter has from a folder or URL.

    Each comes with its requirement line.
    """
    listed = uv.answer("pip", "list", "--quiet", "--format", "json", "--python", uv.python)
    if not isinstance(listed, Refused):
        for one in msgspec.json.decode(listed, type=list[_Listed]):
            if one.editable_project_location:
                yield _normal(one.name), f"-e {one.editable_project_location}"
    frozen = uv.answer("pip", "freeze", "--quiet", "--python", uv.python)
    if not isinstance(frozen, Refused):
        for line in frozen.splitlines():
            name, at, _ = line.partition(" @ ")
            if at:
                yield _normal(name), line


class _Listed(msgspec.Struct):
    """Hold one package of the output of `uv pip list`."""

    name: str
    editable_project_location: str = ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
