"""What `reprocheck suite baseline` prints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from os.path import relpath
from pathlib import Path
from typing import TYPE_CHECKING

from reprocheck.cli.terminal import standard_error, standard_output
from reprocheck.language import count
from reprocheck.report.text import ulps
from reprocheck.suite.baselines import Allowed, accept_command, allowed
from reprocheck.suite.baselines.accept import changed
from reprocheck.suite.curves import unpack

if TYPE_CHECKING:
    from reprocheck.suite.baselines.imports import Taken
    from reprocheck.suite.model import Allow, Baseline, Difference, TargetCheck

LABEL = 12
"""Columns of the labels."""
MOST_ROWS = 30
MOST_FACTS = 8
COLUMNS = ("series", "where", "now", "baseline", "ULP", "relative", "beyond")


def accepted(baseline: Baseline, previous: Baseline | None, file: Path | None = None) -> None:
    """Print an accepted baseline, and how it differs from the one that it replaces.

    file  the file of baselines that has it now
    """
    out = standard_output()
    out.labelled("ACCEPTED", f"{baseline.target} of night {baseline.night}", "bold green")
    _row("why", baseline.why)
    _row("by", baseline.who)
    _row("curves", _curves(baseline))
    if baseline.recording:
        _row("recording", baseline.recording)
    if file is not None:
        _row("written to", f"{relpath(file)}: commit it, so that others can review the change")
    if previous is None:
        _row("replaces", "nothing: it is the first of this target")
        return
    _row("replaces", _origin(previous))
    _facts(previous, baseline.environment)
    if not baseline.replaced:
        _row("differences", "none: every bit is the same")
        return
    _table(baseline.replaced)


def recording(target: str, number: int, of: int) -> None:
    """Announce a deeper recording, which takes as long as a run of the training."""
    standard_error().line(f"{number} of {of}  {target}: recording at level module")


def left_out(checks: Sequence[TargetCheck]) -> None:
    """Print the checks that were not accepted because they are not good."""
    for check in checks:
        standard_output().labelled(
            "LEFT OUT",
            f"{check.target}: its check is not good. {check.reason or check.verdict}",
            "bold yellow",
        )


def without_good_check(targets: Sequence[str]) -> None:
    """Print the targets that have no good check whose curves could be accepted."""
    for target in targets:
        said = f"{target}: it has no good check in the last nights."
        standard_output().labelled("LEFT OUT", said, "bold yellow")


def nothing_to_accept() -> None:
    """Print that every check has the curves of its baseline."""
    standard_output().line("Nothing to accept: no curves differ from their baselines.")


def no_baseline() -> None:
    """Print that there is no baseline."""
    out = standard_output()
    out.line("There is no baseline.")
    out.labelled("to accept one:", accept_command("TARGET"))


def shown(baseline: Baseline, asked: Allow | None) -> None:
    """Print a baseline, and where it comes from."""
    standard_output().line(baseline.target, "bold")
    _row("accepted", f"{_date(baseline.when)} by {baseline.who}")
    _row("why", baseline.why)
    _row("of", _source(baseline))
    _row("curves", _curves(baseline))
    _row("allow", _allow(allowed(asked, baseline)))
    _row("key", _key(baseline))
    if baseline.recording:
        _row("recording", baseline.recording)


def without(check: TargetCheck, baseline: Baseline | None) -> None:
    """Print that a check cannot be compared."""
    out = standard_output()
    if baseline is None:
        out.labelled(check.target, "has no baseline.", "bold")
        command = accept_command(check.target, night=check.night)
        out.labelled("  to accept one:", command)
        return
    out.labelled(check.target, f"recorded no curves in night {check.night}.", "bold")


def compared(
    check: TargetCheck,
    baseline: Baseline,
    differences: Sequence[Difference],
    held: Allowed,
) -> None:
    """Print how a check differs from its baseline."""
    out = standard_output()
    too_far = held.exceeded(differences)
    out.labelled(check.target, _said(differences, too_far), "bold")
    _row("night", check.night)
    _row("baseline", _origin(baseline))
    _row("allow", _allow(held))
    if baseline.key.digest != check.key.digest:
        _row("key", "another one than the baseline's")
    _facts(baseline, {**check.beside, **check.key.facts})
    if differences:
        _table(differences)
    if too_far:
        out.labelled("  to accept it:", accept_command(check.target, night=check.night))


def removed(number: int, targets: Sequence[str]) -> None:
    """Print how many baselines were removed, and of which targets."""
    what = f"{count(number, 'baseline')} of {', '.join(targets)}"
    standard_output().labelled("REMOVED", what, "bold")


def printed(content: bytes) -> None:
    """Write an export to standard output."""
    standard_output().data(content)


def written(file: Path, number: int) -> None:
    """Print that an export was written to a file."""
    standard_output().labelled("EXPORTED", f"{count(number, 'baseline')} to {file}", "bold green")


def imported(taken: Taken) -> None:
    """Print the result of an import."""
    out = standard_output()
    for baseline in taken.baselines:
        out.labelled("IMPORTED", f"{baseline.target}: {_curves(baseline)}", "bold green")
        _row("key", _key(baseline))
        if any(series.rounded for series in unpack(baseline.curves)):
            _row("compared", "by the tolerance: the file has fewer digits, or steps, than a check")
    for baseline in taken.there:
        out.labelled("THERE", f"{baseline.target}: it has these curves already", "bold")
    for name, why in taken.left_out.items():
        out.labelled("LEFT OUT", f"{name}: {why}", "bold yellow")


def _row(label: str, text: str) -> None:
    standard_output().labelled(label, text, indent=2, label_width=LABEL)


def _said(differences: Sequence[Difference], too_far: Sequence[Difference]) -> str:
    if too_far:
        return f"is further from its baseline than is allowed in {_series(len(too_far))}."
    apart = [difference for difference in differences if not difference.new]
    if apart:
        return f"is within what is allowed; {_series(len(apart))} not equal in every bit."
    return "agrees with its baseline."


def _series(number: int) -> str:
    return f"{number} series"


def _curves(baseline: Baseline) -> str:
    """Format the size of a baseline's curves: `3 series of 100 iterations, 2,104 bytes`."""
    series = unpack(baseline.curves)
    names = {(one.series.name, one.series.by) for one in series}
    last = max((max(one.series.iterations, default=0) for one in series), default=0)
    size = f"{len(baseline.curves):,} bytes"
    return f"{_series(len(names))}, {count(last, 'iteration')}, {size}"


def _origin(baseline: Baseline) -> str:
    return f"{_source(baseline)}, accepted {_date(baseline.when)} by {baseline.who}: {baseline.why}"


def _source(baseline: Baseline) -> str:
    if not baseline.night:
        return "imported curves"
    if not baseline.commit:
        return f"night {baseline.night}"
    from reprocheck.suite.model import short

    return f"night {baseline.night}, commit {short(baseline.commit)}"


def _key(baseline: Baseline) -> str:
    facts = ", ".join(f"{name} {value}" for name, value in baseline.key.facts.items())
    return f"{baseline.key.digest} ({facts})"


def _allow(held: Allowed) -> str:
    if not held.sentence:
        return held.allow
    return f"{held.allow}: {held.sentence}"


def _date(seconds: float) -> str:
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M UTC}"


def _facts(baseline: Baseline, now: Mapping[str, str]) -> None:
    """Print some of the environment facts that have changed since the baseline was recorded."""
    if not baseline.night:
        _row("environment", "not known of imported curves")
        return
    then = baseline.environment
    if not then:
        # the night is in another history: what stood beside the key is not known
        then = baseline.key.facts
        now = {name: now[name] for name in then if name in now}
    facts = changed(then, now)
    if not facts:
        _row("environment", "the same")
        return
    from reprocheck.suite.model import short

    rows = [
        f"{name}: {short(then) or 'none'} → {short(now) or 'none'}"
        for name, (then, now) in facts.items()
    ]
    left = len(rows) - MOST_FACTS
    if left > 0:
        rows[MOST_FACTS:] = [f"and {left} more"]
    _row("environment", "\n".join(rows))


def _table(differences: Sequence[Difference]) -> None:
    """Print one row for each series that differs."""
    from rich.table import Table

    out = standard_output()
    table = Table.grid(padding=(0, 2, 0, 0))
    for name in COLUMNS:
        table.add_column(justify="left" if name == "series" else "right", no_wrap=True)
    table.add_row(*(out.text(name, "dim") for name in COLUMNS))
    ranks = len({difference.rank for difference in differences}) > 1
    for difference in differences[:MOST_ROWS]:
        table.add_row(*map(out.text, _cells(difference, ranks=ranks)))
    out.draw(table, indent=2)
    if len(differences) > MOST_ROWS:
        out.line(f"  and {count(len(differences) - MOST_ROWS, 'more series', 'more series')}")


def _cells(difference: Difference, *, ranks: bool) -> Iterator[str]:
    yield f"{difference.series} (rank {difference.rank})" if ranks else difference.series
    if difference.new or difference.missing:
        yield "new" if difference.new else "missing"
        return
    yield f"{difference.step:.15g}" if difference.step is not None else ""
    yield from _numbers(difference.value, difference.other)
    yield ulps(difference.ulp) if difference.ulp is not None else ""
    yield f"{difference.relative:.2g}"
    yield "yes" if difference.beyond is not None else "no"


def _numbers(value: float | None, other: float | None) -> tuple[str, str]:
    """Format two values with nine digits, or in full if nine digits look the same.

    Nine are enough to tell single-precision numbers apart.
    """
    if value is None or other is None:
        return _number(value), _number(other)
    if _number(value) == _number(other):
        return repr(value), repr(other)
    return _number(value), _number(other)


def _number(value: float | None) -> str:
    if value is None:
        return "none"
    return f"{value:.9g}"
