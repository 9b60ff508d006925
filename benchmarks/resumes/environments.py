"""Small environments over the one that runs this, so that a framework is installed once."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

BELOW = "below.pth"


def environment(packages: Sequence[str], folder: Path) -> Path:
    """The interpreter of an environment with these packages over those of the running one."""
    name = sha256(" ".join(packages).encode()).hexdigest()[:12]
    python = folder / name / "bin" / "python"
    below = folder / name / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"
    if (below / BELOW).exists():
        return python
    uv = [sys.executable, "-m", "uv", "--quiet"]
    subprocess.run(
        [*uv, "venv", "--allow-existing", "-p", sys.executable, python.parents[1]], check=True
    )
    install = [*uv, "pip", "install", "--no-deps", "--python", str(python), *packages]
    subprocess.run(install, check=True)
    # all of them: a folder that a file of one names is not looked into for files of its own
    packages_of = [path for path in sys.path if path.endswith("site-packages")]
    (below / BELOW).write_text("\n".join(packages_of) + "\n", encoding="utf-8")
    return python
