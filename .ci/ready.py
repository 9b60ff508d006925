"""Prints what stands in the way of publishing this commit, one sentence a line: nothing where it
is ready.

    python .ci/ready.py [TAG]
"""

from __future__ import annotations

import re
import runpy
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

SECONDS = 20.0


def lacking(root: Path, tag: str) -> Iterator[str]:
    """What is missing. An address is asked whether it answers: one that does not may belong to
    somebody else tomorrow.

    Args:
        root: A checkout.
        tag: The tag of its commit; empty where it has none.
    """
    version = runpy.run_path(str(root / "reprocheck" / "_version.py"))["__version__"]
    yield from _addresses(tomllib.loads((root / "pyproject.toml").read_text())["project"])
    heading = re.compile(rf"^## {re.escape(version)} — \d{{4}}-\d\d-\d\d$", re.MULTILINE)
    if not heading.search((root / "CHANGELOG.md").read_text()):
        yield f"CHANGELOG.md has no heading `## {version} — YYYY-MM-DD`."
    if not tag:
        yield f"The commit has no tag: it is to be v{version}."
    elif tag != f"v{version}":
        yield f"The tag is {tag}, and the version of the package {version}."


def _addresses(project: dict[str, dict[str, str]]) -> Iterator[str]:
    urls = project.get("urls", {})
    if not urls:
        yield (
            "pyproject.toml has no [project.urls]: name the repository (Source) and its issues "
            "(Issues), once they have an address."
        )
    for name, address in urls.items():
        reason = _refusal(address)
        if reason is not None:
            yield f"[project.urls] {name}: {address} does not answer: {reason}"


def _refusal(address: str) -> str | None:
    """Why an address gives no page; None where it gives one."""
    request = Request(address, headers={"User-Agent": "reprocheck-release"})
    try:
        with urlopen(request, timeout=SECONDS):
            return None
    except (URLError, OSError, ValueError) as error:
        return str(error)


def main() -> int:
    """1 where something is missing."""
    tag = sys.argv[1] if len(sys.argv) > 1 else ""
    found = list(lacking(Path(__file__).resolve().parent.parent, tag))
    print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
