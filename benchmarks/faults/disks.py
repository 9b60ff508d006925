"""Disks that are full, folders that cannot be written, and reports that are removed meanwhile."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.faults.kills import DRAWN, PLAIN, POINTS
from benchmarks.faults.place import STEPS, Asked, Place, in_script, once, small_disk
from benchmarks.faults.seen import Fault, Seen, looked_at

ROOM = 24 << 20
"""Bytes of the disk that is filled."""
FILLING = "cat /dev/zero 2>/dev/null > {folder}/filling || true"
NO_WORK = "import reprocheck\nfor step in range(1, 21):\n    reprocheck.log_loss(1.0 / step)\n"
"""A training that writes nothing."""
OF_RUN = "-m reprocheck run"
LATER = 5
"""Iterations after which a disk has room again."""


def faults() -> Iterator[Fault]:
    """All of this group."""
    yield _fault("full from one of its own writes on", full_at_write, POINTS, (2, 0))
    yield _fault(
        "full while a run trains, and from then on", full_in_training, POINTS, (0, 1, 2, 3)
    )
    yield _fault("full for five iterations of a run", full_for_a_while, POINTS, (0, 1, 3))
    yield _fault("full from the start", full_at_start, 1, (2,))
    yield _fault("the folder for temporary files is full", temporary_full, 1, (0, 2))
    yield _fault("read-only, with everything on it", read_only, 1, (2,))
    yield _fault("no file may grow beyond 100 KiB (`ulimit -f`)", no_large_files, 1, (0, 2, 4))
    yield _fault("the output folder is removed while a run trains", removed, POINTS, (2,))
    yield _fault("the report folder is removed before the report is drawn", removed_late, 1, (0,))
    yield _fault("the working directory is full of files that nobody may read", unreadable, 1, (0,))


def _fault(
    name: str, make: Callable[[Path, int], Seen | None], points: int, ends: tuple[int, ...]
) -> Fault:
    return Fault(group="Disks and folders", name=name, make=make, points=points, ends=ends)


def full_at_write(root: Path, point: int) -> Seen | None:
    """The disk of the project is full from one of reprocheck's events on."""
    with small_disk(root / "disk", ROOM) as disk:
        if disk is None:
            return None
        place = Place(root, disk=disk)
        at = 1 + point * events_drawn() // POINTS
        words = FILLING.format(folder=disk)
        asked = Asked(who=OF_RUN, at=at, act="shell", argument=words)
        return _with_room(place, disk, asked.variables, DRAWN, follow=point % 5 == 0)


def full_in_training(root: Path, point: int) -> Seen | None:
    """The same from an iteration of a run on."""
    return _filled(root, point, "fill({disk!r})")


def full_for_a_while(root: Path, point: int) -> Seen | None:
    """The same for some iterations: what is recorded before and after is not one piece."""
    later = "os.unlink(os.path.join({disk!r}, 'filling'))"
    return _filled(root, point, f"fill({{disk!r}}); later(step + {LATER}, {later!r})")


def _filled(root: Path, point: int, do: str) -> Seen | None:
    with small_disk(root / "disk", ROOM) as disk:
        if disk is None:
            return None
        place = Place(root, disk=disk, training="varies" if point % 4 == 3 else "same")
        step = 1 + point * STEPS // POINTS
        code = do.replace("step", str(step)).format(disk=str(disk))
        variables = in_script(f"run-{1 + point % 2}/", step, code)
        return _with_room(place, disk, variables, PLAIN, follow=point % 5 == 0)


def _with_room(
    place: Place, disk: Path, variables: dict[str, str], words: tuple[str, ...], *, follow: bool
) -> Seen:
    """What the command came to, after room was made and the command given again."""
    command = place.run(*words, **variables)
    place.alive()
    (disk / "filling").unlink(missing_ok=True)
    after = place.run(*words) if follow else None
    if after is None:
        place.run("rules", "RC101")
    return looked_at(place, command, after=after)


def full_at_start(root: Path, _: int) -> Seen | None:
    """No byte is free when the check begins."""
    with small_disk(root / "disk", ROOM) as disk:
        if disk is None:
            return None
        place = Place(root, disk=disk)
        subprocess.run(FILLING.format(folder=disk), shell=True, check=True)
        return _with_room(place, disk, {}, PLAIN, follow=True)


def temporary_full(root: Path, _: int) -> Seen | None:
    """No byte is free where temporary files go."""
    with small_disk(root / "disk", 1 << 16) as disk:
        if disk is None:
            return None
        place = Place(root)
        subprocess.run(FILLING.format(folder=disk), shell=True, check=True)
        command = place.run(*PLAIN, TMPDIR=str(disk))
        return looked_at(place, command, after=place.check())


def read_only(root: Path, _: int) -> Seen | None:
    """Nothing can be written where the project lies; its advice is to name another folder."""
    with small_disk(root / "disk", ROOM) as disk:
        if disk is None:
            return None
        place = Place(root, disk=disk)
        place.write("train.py", NO_WORK)
        place.keep()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        command = place.run(*PLAIN)
        elsewhere = str(root / "elsewhere")
        return looked_at(place, command, after=place.check("--output", elsewhere))


def no_large_files(root: Path, _: int) -> Seen | None:
    """Neither reprocheck nor the training may write a large file."""
    place = Place(root)
    command = place.check(shell=("bash", "-c", 'ulimit -f 100; exec "$0" "$@"'))
    return looked_at(place, command, after=place.check())


def removed(root: Path, point: int) -> Seen | None:
    """The training removes the folder of all reports."""
    place = Place(root)
    step = 1 + point * STEPS // POINTS
    do = "import shutil; shutil.rmtree('reports')"
    command = place.check(**in_script(f"run-{1 + point % 2}/", step, do))
    after = place.check() if point % 5 == 0 else None
    return looked_at(place, command, after=after)


def removed_late(root: Path, _: int) -> Seen | None:
    """Somebody removes all reports when the verdict is known."""
    place = Place(root)
    reports = str(place.project / "reports")
    asked = Asked(who=OF_RUN, at="report.html", act="remove", argument=reports)
    return looked_at(place, place.run(*DRAWN, **asked.variables), after=place.check())


def unreadable(root: Path, _: int) -> Seen | None:
    """Pipes, sockets, links that lead nowhere and into a circle."""
    place = Place(root)
    script = "mkfifo pipe; ln -s nowhere link; ln -s round round; ln -s . self; mkdir -m 000 closed"
    subprocess.run(script, shell=True, check=True, cwd=place.project)
    return looked_at(place, place.check(), after=place.check())


@once
def events_drawn() -> int:
    """Events of a check that nothing disturbs."""
    with TemporaryDirectory() as folder:
        noted = Path(folder, "events")
        place = Place(Path(folder, "place"))
        asked = Asked(who=OF_RUN, at=0, act="note", argument=str(noted))
        place.run(*DRAWN, **asked.variables)
        return len(noted.read_text().splitlines())
