"""Whether another distribution has put its files into this package: two that share a folder break
each other.
"""

from __future__ import annotations

from pathlib import Path

OURS = "reprocheck"


def others(package: Path) -> list[str]:
    """The distributions beside ours that have recorded `reprocheck/__init__.py` as a file of
    theirs. One listing of a folder.
    """
    infos = package.parent.glob(f"{OURS}*.dist-info")
    return sorted(
        name
        for info in infos
        if (name := _name(info)) != OURS and _holds(info, f"{package.name}/__init__.py")
    )


def warn() -> None:
    """Says so on stderr, and what to do."""
    import reprocheck

    found = others(Path(reprocheck.__file__).parent)
    if not found:
        return
    from reprocheck.cli.terminal import standard_error

    stream = standard_error()
    names = " ".join(found)
    stream.labelled(
        "note:",
        f"{names} overwrites files of this package and has a command of the same name.",
        "bold yellow",
    )
    stream.labelled(
        "fix:", f"Remove both and install one again: pip uninstall {names} {OURS}", "bold"
    )


def _name(info: Path) -> str:
    """The distribution that a folder `NAME-VERSION.dist-info` is of, as it is written for pip."""
    return info.name.partition("-")[0].lower().replace("_", "-")


def _holds(info: Path, file: str) -> bool:
    try:
        with (info / "RECORD").open(encoding="utf-8") as lines:
            return any(line.startswith(f"{file},") for line in lines)
    except (OSError, UnicodeDecodeError):
        return False
