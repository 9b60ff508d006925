"""One `[[tool.reprocheck.target]]` table as the targets that it stands for."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from reprocheck.errors import SettingsError
from reprocheck.settings import OPTIONS, Option, nearest, plain
from reprocheck.suite.target import Target
from reprocheck.suite.targets import matrix
from reprocheck.suite.targets.selection import of_matrix, of_resume
from reprocheck.suite.targets.values import OF_A_TARGET, read, shown

OF_THE_NIGHT = ("output", "keep", "quiet", "verbose", "color", "lang", "show_output")
"""Settings of `run` that a suite decides itself: where reports go, and what is printed."""
_OPTIONS = {option.key: option for option in OPTIONS if option.name not in OF_THE_NIGHT}
_BESIDE = {"workdir": " The folder in which a target starts is `folder`."}
"""What else is said of a setting whose value is not allowed."""
_NOT_A_DEFAULT = ("name", "run", "matrix", "known_issue", "quarantine")
_AS_IS = ("expect", "needs", "owner", "known_issue", "quarantine")
"""Keys whose values a target has as they are read."""
_NOT_OFFERED = {"vary": "varied runs"}
"""What a target might ask for and cannot, by the key that one would look for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Table:
    """Hold the keys of a target, or of the defaults of all targets.

    own      the parsed keys of a target itself
    options  settings of `run` by key, unparsed as in the file
    """

    place: str
    own: Mapping[str, Any]
    options: Mapping[str, object]


def table(values: Mapping[str, object], place: str) -> Table:
    """Split the keys of a table into the target's own keys and settings of `run`.

    Raises SettingsError.
    """
    own: dict[str, Any] = {}
    options: dict[str, object] = {}
    for key, value in values.items():
        written = key.replace("_", "-")
        if key in OF_A_TARGET:
            own[key] = read(OF_A_TARGET[key], key, value, place)
            continue
        if written not in _OPTIONS:
            raise _unknown(key, place)
        if written in options:
            raise SettingsError(f"{place}: {written} stands there twice.", "Remove one.")
        options[written] = value
    return Table(place=place, own=own, options=options)


def _unknown(key: str, place: str) -> SettingsError:
    if key.replace("-", "_") in OF_THE_NIGHT:
        return SettingsError(
            f"{place}: a suite decides {key} itself.",
            "Remove it; the reports are in the folder of the suite.",
        )
    takes = f"It takes {', '.join(OF_A_TARGET)}, and the settings of `reprocheck config`."
    if key in _NOT_OFFERED:
        return SettingsError(
            f"{place}: a target has no key {key!r}: a suite does not check {_NOT_OFFERED[key]}.",
            f"Remove it. {takes}",
        )
    meant = nearest(key, (*OF_A_TARGET, *_OPTIONS))
    question = f"Did you mean {meant}? " if meant else ""
    return SettingsError(f"{place}: a target has no key {key!r}.", f"{question}{takes}")


def defaults(values: Mapping[str, object], place: str) -> Table:
    """Return the table of defaults. Raises SettingsError."""
    for key in _NOT_A_DEFAULT:
        if key in values:
            raise SettingsError(f"{place}: {key} cannot be a default.", "Write it in each target.")
    return table(values, place)


def targets(given: Table, default: Table, file: Path) -> Iterator[Target]:
    """Yield the targets that a table stands for.

    It stands for one, or one for each combination of its matrix; and where it has `resume`, another
    one behind each, which checks how that training resumes.

    Raises SettingsError.
    """
    resume = given.own.get("resume", default.own.get("resume"))
    for target in _of_matrix(given, default, file):
        yield target
        if resume is not None:
            name = of_resume(target.name)
            options = {key: one for key, one in resume.items() if key != "known_issue"}
            issue = resume.get("known_issue")
            plain = replace(target, expect="reproducible", allow=None, limits={}, quarantine="")
            yield replace(plain, name=name, resume=options, known_issue=issue)


def _of_matrix(given: Table, default: Table, file: Path) -> Iterator[Target]:
    """Yield a target for each combination of the matrix."""
    place = given.place
    words = _words(given)
    own = {**default.own, **given.own}
    environment = {**default.own.get("environment", {}), **given.own.get("environment", {})}
    tags = dict.fromkeys((*default.own.get("tags", ()), *given.own.get("tags", ())))
    options = {**default.options, **given.options}
    folder = own.get("folder", ".")
    axes = matrix.axes(own.get("matrix", {}), place)
    texts = [folder, *words, *environment.values()]
    for value in options.values():
        parts = value if isinstance(value, list) else [value]
        texts += [part for part in parts if isinstance(part, str)]
    matrix.check_placeholders(texts, axes, place)
    the_rest = {key: own[key] for key in _AS_IS if key in own}
    allow, limits = own.get("allow", (None, {}))
    for values in matrix.combinations(axes):
        yield Target(
            name=of_matrix(own["name"], values),
            words=tuple(matrix.fill(word, values) for word in words),
            workdir=absolute(file.parent, matrix.fill(folder, values)),
            environment={key: matrix.fill(one, values) for key, one in environment.items()},
            options=_parsed(options, values, place, file.parent),
            allow=allow,
            limits=limits,
            tags=tuple(tags),
            values=values,
            file=file,
            **the_rest,
        )


def _words(given: Table) -> tuple[str, ...]:
    """Return the words after `reprocheck run`, if they are valid. Raises SettingsError."""
    words: tuple[str, ...] = given.own.get("run", ())
    if words in ((), ("--",), ("-m",)):
        raise SettingsError(
            f"{given.place}: there is nothing to run.", 'Add run = "train.py --epochs 1".'
        )
    first = words[0]
    if first == "reprocheck":
        raise SettingsError(
            f"{given.place}: run starts with reprocheck.",
            "Write what stands behind `reprocheck run`; its options are keys of the target.",
        )
    if first.startswith("-") and first != "--" and not first.startswith("-m"):
        raise SettingsError(
            f"{given.place}: run starts with the option {first}.",
            "Options of reprocheck are keys of the target, such as steps = 20; those of the"
            " training stand behind its script.",
        )
    return words


def absolute(base: Path, folder: str) -> Path:
    """Return the absolute path for a path in a settings file; symbolic links are not resolved."""
    return Path(os.path.abspath(base / Path(folder).expanduser()))  # noqa: PTH100, keeps links


def _parsed(
    options: Mapping[str, object], values: Mapping[str, str], place: str, base: Path
) -> dict[str, object]:
    """Return the settings of `run` by name, parsed, with the matrix values filled in."""
    found = {}
    for key, value in options.items():
        option = _OPTIONS[key]
        found[option.name] = _option(option, _filled(value, values), place, base)
    return found


def _filled(value: object, values: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return matrix.fill(value, values)
    if isinstance(value, list):
        return [_filled(one, values) for one in value]
    return value


def _option(option: Option, value: object, place: str, base: Path) -> object:
    try:
        parsed = option.kind.parse(value)
    except SettingsError as error:
        raise SettingsError(f"{place}: {option.key}: {error.message}", error.fix) from None
    except (ValueError, OverflowError):
        raise SettingsError(
            f"{place}: {option.key} = {shown(value)} is not allowed.",
            f"{option.key} takes {option.kind.allowed}.{_BESIDE.get(option.name, '')}",
        ) from None
    if option.name == "python" and "/" in str(parsed):
        return str(absolute(base, str(parsed)))
    return plain(option, parsed)
