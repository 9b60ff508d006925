"""Find the files of a target.

They are its script, the modules of the user that it imports, and the files that its command names.
A commit that touches none of them changes nothing at the target.
"""

from __future__ import annotations

import ast
import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from reprocheck.files.imports import modules, places
from reprocheck.suite.target import Target

MOST_FILES, MOST_BYTES = 500, 4_000_000
"""Files that are read, and bytes of each: more would make the checks wait."""


def digest_of_files(target: Target) -> str:
    """Return 16 hexadecimal digits that stand for the target's files.

    They cover names and content; "" if its script is not known, or there are more than MOST_FILES.
    """
    script = target.script
    if script is None or not script.is_file():
        return ""
    words = (word.rpartition("=")[2] for word in target.words)
    waiting = [script, *(target.workdir / word for word in words if word)]
    digests: dict[str, bytes] = {}
    while waiting:
        path = waiting.pop()
        name = os.path.relpath(path, target.workdir)
        if name in digests or not path.is_file():
            continue
        if len(digests) == MOST_FILES:
            return ""
        with suppress(OSError), path.open("rb") as file:
            content = file.read(MOST_BYTES)
            digests[name] = hashlib.sha256(content).digest()
            waiting += _imported(path, content, script)
    whole = hashlib.sha256()
    for name, digest in sorted(digests.items()):
        whole.update(os.fsencode(name) + digest)
    return whole.hexdigest()[:16]


def _imported(path: Path, source: bytes, script: Path) -> Iterator[Path]:
    """Yield the files that the imports of a file may mean; some may not exist."""
    if path.suffix != ".py":
        return
    with suppress(SyntaxError, ValueError, RecursionError):
        for level, name in modules(ast.parse(source)):
            for files in places(level, name, str(path), str(script)):
                yield from map(Path, files)
