"""Word the fix of a mechanism with the names of the script.

The lines to add to its files, or, where these are not known, those of the catalogue with the
script's own names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from reprocheck.causes.usercode import UserCode
from reprocheck.fixes.edits.difference import unified
from reprocheck.fixes.seeds import BY_NAME, STATES
from reprocheck.resume.checkpoint_contents import Archive
from reprocheck.resume.confirm.search import LOOKED_INTO
from reprocheck.resume.fix.patch import patched
from reprocheck.resume.fix.patch_trial import lost_of
from reprocheck.resume.fix.states import KEYS, key_of, value_of
from reprocheck.resume.gap.archive import words_of
from reprocheck.resume.gap.counters import OF_SCRIPTS
from reprocheck.resume.gap.mersenne_twister import class_of
from reprocheck.resume.model import Explained, LostPart, Mechanism, Outcome

COUNT = "On {line}, begin to count at the number that the file holds under `{key}`."
_WORDS = (
    ("optimizer", r"optimizer 0"),
    ("scaler", r"\w*Scaler\[\d+\]"),
    ("scheduler", r"(?!DataLoader|StatefulDataLoader)\w+\[\d+\]"),
    ("model", r"module "),
    ("average", r"module .+"),
    ("loader", r"\w*DataLoader\[\d+\].*"),
    ("sampler", r"sampler of .*"),
    ("generator", r".* \(torch\.Generator\)"),
    ("rng", r".* \((numpy\.|random\.).*\)"),
)
"""A word of the catalogue, and what a trace calls such a part."""


def in_own_words(outcome: Outcome, code: UserCode, *, drafts: bool) -> Outcome:
    """Return the outcome with fixes that use the names of the script.

    `drafts`: whether to draft a patch, if one is known.
    """
    explained = outcome.explained
    first, archive = explained.mechanism, explained.archive
    if first is None or outcome.verdict not in LOOKED_INTO:
        return outcome
    files = filter(code.sources.has, archive.files)
    texts = {file: code.sources.text(file) or "" for file in files}
    draft = lines = ""
    if drafts:
        changed = patched(texts, archive, lost_of(outcome))
        draft = "".join(unified(name, texts[name], changed[name], context=1) for name in changed)
    checkpoint = outcome.place.checkpoint
    if checkpoint is not None and checkpoint.by in OF_SCRIPTS[1:]:
        lines = "\n".join(_lines(explained))

    def told(mechanism: Mechanism) -> Mechanism:
        if draft and mechanism.code == first.code:
            untried = "# not tried yet: `reprocheck explain --resume` does\n"
            return replace(mechanism, fix=untried + draft)
        if lines and mechanism.code in ("RC112", "RC118", "RC119"):
            return replace(mechanism, fix=lines)
        counts = next((one.source.at for one in mechanism.marks if one.role == "counts"), "")
        if counts:
            return replace(mechanism, fix=_of_counter(explained, counts, mechanism.fix))
        return replace(mechanism, fix=_renamed(mechanism.fix, archive))

    own = {rung: told(one) for rung, one in explained.mechanisms.items()}
    return replace(outcome, explained=replace(explained, mechanism=told(first), mechanisms=own))


def _lines(explained: Explained) -> Iterator[str]:
    """Yield the lines that save and load lost state, if the script makes the checkpoint."""
    archive = explained.archive
    if not archive.is_known or not archive.saving or not archive.reading:
        return
    names = {**archive.training[0].names, **archive.saving[0].names} if archive.training else {}
    saves, loads = [], []
    for lost in explained.lost:
        expression = names.get(lost.part, "")
        read, write = _read_and_write(lost, expression)
        if not read or (" " in lost.part and not expression):
            continue
        default = key_of(expression or lost.part)
        if lost.kind == "generator":
            default = KEYS.get(lost.part, default)
        key = lost.key or default
        if not lost.key:
            saves.append(f"{value_of('saved', key)} = {read}")
        loads.append(write.format(value_of("saved", key)))
    if saves:
        yield from (f"# what is saved at {archive.saving[0].line} lacks:", *saves)
    if loads:
        yield from (f"# and behind {archive.reading[0].line}, once each is built:", *loads)


def _read_and_write(lost: LostPart, expression: str) -> tuple[str, str]:
    """Return how the state of a lost part is read, and set to `{}`; "" if unknown."""
    if lost.kind == "generator":
        if lost.part in KEYS:
            stream = BY_NAME[lost.part]
            write = stream.write.replace("{}{}", "{}")
            return f"{stream.module}.{stream.read}", f"{stream.module}.{write}"
        if not expression or class_of(lost.part) not in STATES:
            return "", ""
        read, write = STATES[class_of(lost.part)]
        return read.format(expression), write.format(expression)
    if not expression:
        return lost.part, f"{lost.part} = {{}}"
    return f"{expression}.state_dict()", f"{expression}.load_state_dict({{}})"


def _of_counter(explained: Explained, line: str, otherwise: str) -> str:
    """Return the fix for a line that restarts a counter.

    By its key in the checkpoint, or the fix of the catalogue with the name of the counter.
    """
    place = next(rung.place for rung in explained.rungs if rung.name == "step counter")
    if place.startswith("["):
        return COUNT.format(line=line, key=".".join(words_of(place)))
    return otherwise.replace("steps", re.split(r"\W+", place.strip("]'"))[-1])


def _renamed(fix: str, archive: Archive) -> str:
    """Return a fix of the catalogue with the names that the script uses for such parts."""
    frames = (*archive.saving, *archive.training, *archive.reading)
    known = {part: name for frame in reversed(frames) for part, name in frame.names.items()}
    for word, pattern in _WORDS if "\n" in fix else ():
        names = (name for part, name in known.items() if re.fullmatch(pattern, part))
        own = next(names, word)
        if "." in own and re.search(rf"^ *{word}\b.* = ", fix, re.MULTILINE):
            continue  # the lines make it themselves
        named = re.compile(rf"(?<![\w\".])\b{word}\b(?![\"'=])")
        rows = (row.partition("#") for row in fix.split("\n"))
        fix = "\n".join(named.sub(own, code) + sign + said for code, sign, said in rows)
    return fix
