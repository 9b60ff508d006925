"""`reprocheck --help` and `--version`: text that needs no parser.

The commands are listed once, here.
"""

from __future__ import annotations

from reprocheck._version import __version__

COMMANDS = {
    "run": "Run a training script twice and report whether it is reproducible.",
    "resume": "Stop the script, resume it, and compare with one that never stopped.",
    "explain": "Find and confirm the cause of a difference, and how to fix it.",
    "record": "Record one run, to compare it with a run from elsewhere.",
    "compare": "Compare two recordings, or the script with another commit.",
    "merge": "Join what each machine of a run recorded into one recording.",
    "report": "Draw the reports of a recorded check again, without running.",
    "bundle": "Pack what may be sent of a check with a bug report.",
    "suite": "Check many trainings every night: what changed, and since when.",
    "scan": "Find what can make runs differ, in source code, without running it.",
    "rules": "Print the known causes of differences, and how to fix each.",
    "env": "Print the environment variables of controls, for a shell or a job.",
    "config": "Print each setting and where its value comes from.",
    "demo": "Check two small trainings, one clean and one not.",
}
OPTIONS = {
    "-V, --version": "Print the version.",
    "--install-completion": "Install completion for this shell.",
    "--show-completion": "Print the completion script.",
    "-h, --help": "Print this text; see also `reprocheck COMMAND --help`.",
}
EXAMPLES = (
    "reprocheck run train.py --epochs 1",
    "reprocheck run --runs 5 -m package.train",
    "reprocheck run -- torchrun --nproc-per-node 2 train.py",
    "reprocheck explain train.py --epochs 1",
)
EXIT_CODES = {
    "0": "reproducible",
    "1": "not reproducible",
    "2": "usage or settings error",
    "3": "inconclusive",
    "4": "the script failed",
    "5": "timed out",
    "70": "internal error",
    "130": "interrupted",
}


def help_text() -> str:
    """Return the overview, 80 columns wide."""
    return "\n".join(
        [
            "Usage: reprocheck [OPTIONS] COMMAND [ARGS]...",
            "",
            "  Runs a training script twice, unmodified, and reports whether the runs agree:",
            "  verdict, loss curves, first difference.",
            "",
            "Commands:",
            *table(COMMANDS),
            "",
            "Options:",
            *table(OPTIONS),
            "",
            "Examples:",
            *(f"  {example}" for example in EXAMPLES),
            "",
            "Exit codes:",
            *_pairs(EXIT_CODES),
        ]
    )


ASKS_FOR_HELP: tuple[list[str], ...] = ([], ["--help"], ["-h"], ["help"])
ASKS_FOR_VERSION = (["--version"], ["-V"])


def print_help() -> int:
    """Print the overview."""
    _print(help_text() + "\n")
    return 0


def print_version() -> int:
    """Print the name and version of reprocheck."""
    _print(version_text())
    return 0


def version_text() -> str:
    """Return the name and version of reprocheck."""
    return f"reprocheck {__version__}\n"


def table(rows: dict[str, str]) -> list[str]:
    """Format two indented columns: names, and their descriptions."""
    width = max(map(len, rows))
    return [f"  {name:<{width}}  {text}" for name, text in rows.items()]


def _pairs(rows: dict[str, str]) -> list[str]:
    """Format two entries per line, the first half of the entries in the left column."""
    cells = [f"{name:>4}  {text}" for name, text in rows.items()]
    half = (len(cells) + 1) // 2
    return [
        f"{left:<32}{right}".rstrip()
        for left, right in zip(cells[:half], [*cells[half:], ""], strict=False)
    ]


def _print(text: str) -> None:
    from reprocheck.cli.terminal import standard_output

    standard_output().data(text.encode())
