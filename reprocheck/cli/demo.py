"""Run `reprocheck demo`: two small trainings in plain Python, one clean and one not.

Both go through the whole check.
"""

from __future__ import annotations

import os
from contextlib import chdir
from pathlib import Path

from reprocheck.cli.parameters import with_settings
from reprocheck.errors import ReprocheckError

SCRIPTS = {
    "clean.py": ("Every random draw of this training is seeded.", 0),
    "unseeded.py": ("The same training with an unseeded generator for its batches.", 1),
}


@with_settings("output", "quiet", "verbose", "color")
def demo(flags: dict[str, object]) -> int:
    """Check both scripts in a folder of their own; exit 0 if the verdicts are as expected."""
    from reprocheck import settings
    from reprocheck.cli.console import Console
    from reprocheck.cli.run import perform

    here = Path.cwd()
    folder = _copied(settings.load(flags, here).output.absolute() / "demo")
    held = settings.load({**flags, "output": "."}, folder, {}, files=False)
    console = Console(held)
    as_expected = True
    for name, (says, expected) in SCRIPTS.items():
        console.heading(f"{name}: {says}", f"reprocheck run {os.path.relpath(folder / name, here)}")
        with chdir(folder):
            as_expected &= perform({"script": name}, held, console, shown_from=here) == expected
    if not as_expected:
        raise ReprocheckError(
            "The demo did not give the expected verdicts.",
            f"Please report it, with the folder {folder}.",
        )
    console.heading(
        "Each script ran twice, unmodified; the reports show the curves of both runs. Now"
        " your own:",
        "reprocheck run train.py",
    )
    return 0


def _copied(folder: Path) -> Path:
    """Copy the demo scripts beside their reports, and return the copies.

    Nothing may be written to where reprocheck is installed.
    """
    from importlib.resources import files

    from reprocheck.errors import ReportError

    try:
        folder.mkdir(parents=True, exist_ok=True)
        for name in SCRIPTS:
            (folder / name).write_text(
                files("reprocheck").joinpath("demo", name).read_text(encoding="utf-8"),
                encoding="utf-8",
            )
    except OSError as error:
        message = f"The demo cannot be written to {folder}: {error.strerror or error}."
        raise ReportError(message, "Name another folder with --output.") from None
    return folder
