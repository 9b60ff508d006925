"""What a suite keeps on the disk, and what of it may go: `keep` says of how many nights.

The last check and the last failure of each target always stay.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from reprocheck.suite.history import History
from reprocheck.suite.history.maintenance import last_keys, last_places
from reprocheck.suite.model import Night
from reprocheck.suite.night.folder import NIGHTS
from reprocheck.suite.site import LAST
from reprocheck.suite.targets import Suite, folder_name
from reprocheck.suite.targets.suite import KEEP


@dataclass(frozen=True, kw_only=True, slots=True)
class Superfluous:
    """Hold files and folders of one kind that may go. `size`: in bytes."""

    what: str
    paths: tuple[Path, ...]

    @property
    def size(self) -> int:
        """Return the bytes in the files and folders."""
        return sum(map(size_of, self.paths))


def size_of(path: Path) -> int:
    """Return the bytes in a file, or in all files below a folder."""
    files = path.rglob("*") if path.is_dir() else (path,)
    return sum(one.lstat().st_size for one in files if one.is_file() and not one.is_symlink())


def remove_old(suite: Suite, history: History, night: Night) -> None:
    """Remove the report folders of nights older than those that the suite keeps.

    Those of this night and later nights stay.
    """
    if suite.keep_nights is not None:
        remove([_reports(suite, history, suite.keep_nights, night.id)])


def superfluous(suite: Suite, history: History) -> list[Superfluous]:
    """Return what may go, by kind; without `keep` as if it were what `suite init` writes."""
    newest = max((night.id for night in history.nights(last=1)), default="")
    keep = suite.keep_nights or KEEP
    return [
        _reports(suite, history, keep, newest),
        _recordings(suite, history),
        _searches(suite, history, keep),
        _pages(suite, history, keep),
    ]


def remove(several: Iterable[Superfluous]) -> None:
    """Remove files and folders; what cannot be removed stays for the next time."""
    for path in (path for one in several for path in one.paths):
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _reports(suite: Suite, history: History, keep: int, newest: str) -> Superfluous:
    """Return the report folders of nights before the last `keep` ones up to `newest`.

    They are whole nights where nothing in them stays.
    """
    root = suite.folder / NIGHTS
    older = sorted(path for path in root.glob("*") if path.is_dir() and path.name < newest)
    stays = {root / night / folder_name(target) for night, target in last_places(history)}
    found: list[Path] = []
    for night in older[: max(len(older) + 1 - keep, 0)]:
        of_targets = [path for path in sorted(night.iterdir()) if path.is_dir()]
        going = [path for path in of_targets if path not in stays]
        found += [night] if going == of_targets else going
    return Superfluous(what="reports", paths=tuple(found))


def _recordings(suite: Suite, history: History) -> Superfluous:
    """Return the kept deeper recordings that no target of the suite needs.

    Their keys are neither a baseline's nor those of the last check of a target.
    """
    keys = last_keys(history)
    keys |= {(one.target, one.key.digest) for one in history.baselines()}
    names = {target.name for target in suite.targets}
    stays = {(folder_name(name), digest) for name, digest in keys if name in names}
    files = sorted((suite.folder / "kept").glob("*/*"))
    going = (path for path in files if (path.parent.name, path.stem) not in stays)
    return Superfluous(what="recordings", paths=tuple(going))


def _searches(suite: Suite, history: History, keep: int) -> Superfluous:
    """Return the folders of searches and comparisons that ended before the last `keep` nights."""
    began = min((night.started for night in history.nights(last=keep)), default=0.0)
    found = sorted((*suite.folder.glob("bisect/*"), *suite.folder.glob("diff/*")))
    going = (path for path in found if path.stat().st_mtime < began)
    return Superfluous(what="searches", paths=tuple(going))


def _pages(suite: Suite, history: History, keep: int) -> Superfluous:
    """Return the pages of nights that neither the overview links nor have a report."""
    shown = {night.id for night in history.nights(last=max(keep, LAST))}
    found = sorted((suite.folder / "site" / NIGHTS).glob("*.html"))
    return Superfluous(what="pages", paths=tuple(path for path in found if path.stem not in shown))
