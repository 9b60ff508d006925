"""Hold a target as the settings file has it, with the values that it is run with.

Nothing that writes or prints may import this module (`reports.shown` makes of it what may be
shown).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from reprocheck.suite.model import Allow, KnownIssue, Resources


@dataclass(frozen=True, kw_only=True, slots=True)
class Target:
    """A named entry point (script, module or command) with options for its checks.

    name         unique in the suite; of a matrix with its values: `resnet[lr=0.1,seed=2]`
    words        what stands behind `reprocheck run OPTIONS`: `("train.py", "--lr", "0.1")`
    workdir      the absolute path of the working directory
    environment  variables that are set beside those of the suite's own process
    options      settings of `run` by their names (`steps`, `fail_on`, `control`), as a settings
                 file has them
    expect       the verdict that counts as good: `reproducible`, or `not_reproducible` of a
                 training that is known to vary
    allow        how far curves may be from the baseline; None: as the accepted check implies
    limits       how far single series, seconds and memory may be from what they were, relative
    tags         the tags that `--tag` selects by
    values       the target's values in its matrix, by name of the axis
    resume       options of `reprocheck resume` by their names (`with`, `go-on`), as a settings
                 file has them, where that is what checks it; None: it is `reprocheck run`
    file         the settings file that names it
    owner        who is told of it; "" if nobody is named
    known_issue  why it is allowed to fail; None if it is not
    quarantine   why it is allowed to come and go; "" if it is not
    """

    name: str
    words: tuple[str, ...]
    workdir: Path
    environment: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, object] = field(default_factory=dict)
    expect: str = "reproducible"
    allow: Allow | None = None
    limits: Mapping[str, float] = field(default_factory=dict)
    tags: tuple[str, ...] = ()
    needs: Resources = field(default_factory=Resources)
    values: Mapping[str, str] = field(default_factory=dict)
    resume: Mapping[str, object] | None = None
    file: Path | None = None
    owner: str = ""
    known_issue: KnownIssue | None = None
    quarantine: str = ""

    @property
    def script(self) -> Path | None:
        """Return the absolute path of the script or module that the target starts.

        None if there is none.
        """
        if self.words[:1] == ("-m",):
            return (self.workdir / Path(*self.words[1].split("."))).with_suffix(".py")
        named = next((word for word in self.words if word.endswith((".py", ".ipynb"))), None)
        if named is None:
            return None
        return self.workdir / named
