"""`reprocheck suite bisect`: the commit or the packages since which a target is another."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument, option
from reprocheck.errors import UsageError

if TYPE_CHECKING:
    from reprocheck.cli.terminal import Stream
    from reprocheck.suite.bisect.change_search import Options
    from reprocheck.suite.bisect.plan import Candidate, Plan
    from reprocheck.suite.bisect.result import Bisected, Checked

FORMATS = ("text", "json")
CRITERIA = ("bitwise", "verdict")
KINDS = ("all", "commits", "packages")
ENDS = ("good", "bad")
EXIT_FOUND, EXIT_NOT_FOUND = 0, 1
OUTCOMES_FOUND = ("found", "several", "options")
TargetArgument = Annotated[str, argument(metavar="TARGET", help="A target by name.")]
GoodOption = Annotated[
    str,
    option("--good", metavar="NIGHT", help="A night in which it was as it should be."),
]
BadOption = Annotated[str, option("--bad", metavar="NIGHT", help="A night in which it was not.")]
ByOption = Annotated[
    str,
    option(
        "--by",
        metavar="|".join(CRITERIA),
        help="bitwise: one run against the curves of the good night. verdict: a whole check."
        " [bitwise]",
    ),
]
OverOption = Annotated[
    str,
    option("--over", metavar="|".join(KINDS), help="What is searched. [all that differs]"),
]
PackageOption = Annotated[
    list[str] | None,
    option(
        "--package", metavar="NAME", help="Search the versions of this package; may be given again."
    ),
]
PreOption = Annotated[bool, option("--pre", help="Pre-releases and nightlies of packages, too.")]
FirstParentOption = Annotated[
    bool, option("--first-parent", help="Take merges for all that they bring in.")
]
RepeatOption = Annotated[
    int,
    option(
        "--repeat",
        metavar="N",
        min=1,
        help="Check each candidate N times; it is bad as soon as one check is. [1]",
    ),
]
AsInOption = Annotated[
    str | None,
    option(
        "--options",
        metavar="|".join(ENDS),
        help="The night whose options of the target hold, where they are not the same in both.",
    ),
]
AgainOption = Annotated[bool, option("--again", help="Forget what was checked before.")]
CacheOption = Annotated[
    float,
    option(
        "--cache-limit",
        metavar="GIB",
        min=0.0,
        help="Disk that kept environments may take together. [20]",
    ),
]
FormatOption = Annotated[
    str,
    option("--format", metavar="|".join(FORMATS), help="How to print it. [text]"),
]


def command(
    target: TargetArgument,
    good: GoodOption,
    bad: BadOption,
    by: ByOption = "bitwise",
    over: OverOption = "all",
    package: PackageOption = None,
    pre: PreOption = False,
    first_parent: FirstParentOption = False,
    repeat: RepeatOption = 1,
    options: AsInOption = None,
    again: AgainOption = False,
    cache_limit: CacheOption = 20.0,
    format: FormatOption = "text",
) -> int:
    """Search for the change between two nights; return 0 where it is found, 1 where not."""
    from reprocheck.suite.bisect.change_search import Options
    from reprocheck.suite.bisect.environments import GIB, Environments, default_folder
    from reprocheck.suite.bisect.plan import Asked

    for flag, given, allowed in (
        ("--by", by, CRITERIA),
        ("--over", over, KINDS),
        ("--options", options, ENDS),
        ("--format", format, FORMATS),
    ):
        if given is not None and given not in allowed:
            raise UsageError(
                f"{flag} {given}: bisect knows no such value.", f"Take {' or '.join(allowed)}."
            )
    asked = Options(
        good=good,
        bad=bad,
        by=by,  # type: ignore[arg-type]
        asked=Asked(
            over=over,  # type: ignore[arg-type]
            first_parent=first_parent,
            packages=tuple(package or ()),
            pre=pre,
        ),
        repeat=repeat,
        as_in=options,  # type: ignore[arg-type]
        again=again,
        environments=Environments(folder=default_folder(), limit=int(cache_limit * GIB)),
    )
    return _bisect(target, asked, format)


def _bisect(target: str, options: Options, format: str) -> int:
    import msgspec

    from reprocheck.cli.failure import Interrupted
    from reprocheck.cli.terminal import standard_output
    from reprocheck.suite.bisect.change_search import find
    from reprocheck.suite.history import open_suite
    from reprocheck.suite.targets import load

    suite = load(Path.cwd())
    view = View()
    try:
        with open_suite(suite, create=False) as history:
            found = find(suite, history, target, options, view)
    except KeyboardInterrupt:
        raise Interrupted(
            f"{view.checked} checked and kept; the same command goes on from there."
        ) from None
    out = standard_output()
    if format == "json":
        out.data(msgspec.json.format(msgspec.json.encode(found)) + b"\n")
    else:
        _print(found, out)
    return EXIT_FOUND if found.outcome in OUTCOMES_FOUND else EXIT_NOT_FOUND


def _print(search: Bisected, out: Stream) -> None:
    from reprocheck.suite.bisect.words import words

    said = words(search)
    style = "bold green" if search.outcome == "found" else "bold yellow"
    first, *others = said.lines
    out.labelled(said.head, first, style)
    for line in others:
        out.paragraph(line, indent=2 if line else 0)


class View:
    """Print on stderr how a search goes: one line per candidate."""

    def __init__(self) -> None:
        from reprocheck.cli.terminal import Stream

        self.err = Stream(sys.stderr)
        self.checked = 0
        self._most = 0

    def planned(self, found: Plan, most: int) -> None:
        """Print what is searched, and the largest number of checks it takes."""
        from reprocheck.language import count

        self._most = most
        changes = count(found.graph.bad_end, "change")
        checks = count(most, "check")
        self.err.line(f"{changes} between the nights, at most {checks}", "bold")

    def begins(self, number: int, candidate: Candidate) -> None:
        """Announce the check of a candidate."""
        self.err.line(f"  check {number} of {self._most}: {candidate.label}", "dim")

    def ended(self, checked: Checked, *, remembered: bool) -> None:
        """Print how a candidate was judged."""
        self.checked += 1
        known = ", known from before" if remembered else ""
        reason = f": {checked.reason.partition(chr(10))[0]}" if checked.reason else ""
        self.err.paragraph(
            f"{checked.candidate} {ANSWERS[checked.answer]}{known}{reason}", indent=2
        )

    def say(self, text: str) -> None:
        """Show what is under way."""
        self.err.paragraph(text, indent=4, style="dim")


ANSWERS = {"good": "is good", "bad": "is bad", "skip": "cannot be checked"}
