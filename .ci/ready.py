"""Prints what stands in the way of publishing this commit, one sentence a line: nothing where it
is ready.

    python .ci/ready.py [TAG]
"""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from urllib.error import URLError
from urllib.request import Request, urlopen

SECONDS = 20.0


def lacking(root: Path, tag: str) -> Iterator[str]:
    """Yield what a release still lacks, a sentence each.

    Each address is asked whether it answers: one that does not may be given to somebody else.

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
    """Return why an address gives no page; None if it gives one."""
    request = Request(address, headers={"User-Agent": "reprocheck-release"})
    try:
        with urlopen(request, timeout=SECONDS):
            return None
    except (URLError, OSError, ValueError) as error:
        return str(error)


def untranslated(translations: Path) -> Iterator[str]:
    """Yield what the catalogues of translations lack.

    A change may leave that, because a message without a translation is said in English.

    Args:
        translations: The script of the catalogues.
    """
    words = [sys.executable, str(translations), "--missing"]
    checked = subprocess.run(words, capture_output=True, text=True, check=False)
    if checked.returncode:
        yield f"The catalogues lack something: {checked.stdout or checked.stderr}".strip()


def main() -> int:
    """1 where something is missing."""
    tag = sys.argv[1] if len(sys.argv) > 1 else ""
    root = Path(__file__).resolve().parent.parent
    found = [*lacking(root, tag), *untranslated(root / ".ci" / "translations.py")]
    print("\n".join(found))
    return int(bool(found))


if __name__ == "__main__":
    raise SystemExit(main())
