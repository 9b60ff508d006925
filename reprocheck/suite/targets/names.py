"""Names of targets, and what they are called on disk."""

from __future__ import annotations

import hashlib
import re

LONGEST = 100
"""Characters of a name as a settings file gives it; that of a matrix adds its values."""
ALLOWED = (
    f"up to {LONGEST} letters, digits, spaces and any of . _ - + / : @, a letter or digit first"
)
_NAME = re.compile(r"\w[\w .+/:@-]*")
_NOT_IN_A_FOLDER = re.compile(r"[^A-Za-z0-9_.=+-]+")
_LONGEST_FOLDER = 80
_RESUME = "resume"


def valid(name: str) -> bool:
    """Return whether a settings file may give a target this name.

    Brackets are left to the values of a matrix, and to the patterns of the command line.
    """
    return len(name) <= LONGEST and _NAME.fullmatch(name) is not None


def of_matrix(name: str, values: dict[str, str]) -> str:
    """Return the name of one target of a matrix: `resnet[lr=0.1,seed=2]`."""
    if not values:
        return name
    inside = ",".join(f"{axis}={value}" for axis, value in values.items())
    return f"{name}[{inside}]"


def of_resume(name: str) -> str:
    """Return the name of the target that checks how another one resumes.

    >>> of_resume("resnet"), of_resume("resnet[lr=0.1]")
    ('resnet[resume]', 'resnet[lr=0.1,resume]')
    """
    if name.endswith("]"):
        return f"{name[:-1]},{_RESUME}]"
    return f"{name}[{_RESUME}]"


def folder_name(name: str) -> str:
    """Return a target's name as the name of a folder: letters, digits and `. _ = + -`.

    Two names never share a folder: one that had to be changed ends in eight digits of its hash.

    >>> folder_name("resnet")
    'resnet'
    >>> folder_name("resnet[lr=0.1,seed=2]")
    'resnet-lr=0.1-seed=2-1d210bd7'
    """
    kept = _NOT_IN_A_FOLDER.sub("-", name).strip("-.")[:_LONGEST_FOLDER]
    if kept == name:
        return name
    return f"{kept}-{hashlib.sha256(name.encode()).hexdigest()[:8]}".lstrip("-")
