"""Prints the tests that a newer release of a dependency can reach, one path a line: nothing where
the newest releases are those of constraints.txt, with which all tests have just run.

    uv pip freeze --python .venv-newest/bin/python | python .ci/newer.py constraints.txt
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable
from pathlib import Path

PARSING = (
    "tests/cli/suite/test_group.py",
    *(
        f"tests/cli/test_{name}.py"
        for name in ("commands", "env_command", "overview", "parsing", "rules_command")
    ),
)
CLI = ("tests/cli",)
REPORT = ("tests/report",)
SCAN = (
    *(f"tests/scan/test_{name}.py" for name in ("cache", "cli", "formats")),
    *(f"tests/fixes/test_{name}.py" for name in ("patch_paths", "patches")),
)
READING = ("tests/recording", "tests/trace")
HISTORY = ("tests/suite/history",)
NUMBERS = ("tests/report", "tests/trace", "tests/verdict")
OTHERS = (*HISTORY, "tests/files", "tests/rules", "tests/settings")
EVERYTHING = (*CLI, *SCAN, *READING, *NUMBERS, *OTHERS)

REACH = {
    "typer": PARSING,
    "click": PARSING,
    "rich": CLI,
    "pygments": CLI,
    "shellingham": PARSING,
    "jinja2": REPORT,
    "markupsafe": REPORT,
    "matplotlib": REPORT,
    "pillow": REPORT,
    "sqlalchemy": HISTORY,
    "mako": HISTORY,
    "psycopg": HISTORY,
    "psycopg-binary": HISTORY,
    "numpy": NUMBERS,
    "msgspec": (*READING, *SCAN, *REPORT),
    "libcst": SCAN,
    "pyyaml": SCAN,  # libcst imports it
    "packaging": REPORT,  # matplotlib imports it
    "pydantic": PARSING,  # typer imports it
    "pydantic-core": PARSING,
    # the tests alone import these: a user does not get them
    "hypothesis": (),
    "pandas": (),
}
"""Dependency -> tests of what imports it; one that is not here reaches everything."""


def versions(lines: Iterable[str]) -> dict[str, str]:
    """Name, as packages are compared by (PEP 503), -> version of `name==version` lines."""
    found = (line.strip().partition("==") for line in lines if "==" in line)
    return {re.sub(r"[-_.]+", "-", name).lower(): version for name, _, version in found}


def reached(names: Iterable[str]) -> list[str]:
    """The tests that any of these dependencies reaches."""
    paths = (path for name in names for path in REACH.get(name, EVERYTHING))
    return sorted(set(paths))


def main() -> int:
    """Compares standard input with the file of pinned versions."""
    pinned = versions(Path(sys.argv[1]).read_text().splitlines())
    newest = versions(sys.stdin)
    newer = [name for name, version in newest.items() if pinned.get(name) != version]
    for name in newer:
        known = pinned.get(name, "not pinned")
        print(f"{name} {newest[name]} ({known} in {sys.argv[1]})", file=sys.stderr)
    print("\n".join(reached(newer)))
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
