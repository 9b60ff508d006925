"""What to type next, after each outcome of a check."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

from reprocheck.language import mark, tr
from reprocheck.model import MIRRORS_RULE, Check, VerdictName, is_elsewhere
from reprocheck.model.seeds import SeedChangesNothing, SeedNotJudged
from reprocheck.report import compared
from reprocheck.report.command_line import again, compared_again
from reprocheck.report.text import line
from reprocheck.settings.must_differ import NONE, PLACEHOLDER
from reprocheck.settings.variations import FIRST_RUN

Step = tuple[str, str]
"""Why, and the command."""
CONFIRM = mark("Confirm the cause and get a fix that was tried:")
SHORTEST_TIMEOUT = 60
MORE_TIME = 4
"""How many times as long as the longest run so far the next timeout is."""


def next_command(check: Check) -> Step:
    """Return (why, command) for the command to type next: the first step that applies."""
    if check.between is not None:
        return _stricter(check, compared_again) or compared.next_command(check)
    for step in _STEPS:
        found = step(check)
        if found is not None:
            return found
    options = f"--runs {_more_runs(check)}"
    return tr("Use more runs to rule out rarer differences:"), again(check, options)


def command(check: Check) -> str:
    """Return the command that was started, quoted for a shell."""
    return line(shlex.join(check.record.entry_point.command))


def _allowed_difference(check: Check) -> Step | None:
    """Return the next step if the checks pass but the runs differ later or in bits.

    None if the cause is confirmed, or nothing is known of the difference.
    """
    verdict = check.verdict
    confirmed = any(cause.confidence == "confirmed" for cause in check.causes)
    if verdict.verdict != "reproducible" or not verdict.next_rule or confirmed:
        return None
    located = any(cause.source for cause in check.causes)
    searchable = located or verdict.failing_series(check.record.fail_on) is not None
    if searchable and _not_searched(check):
        return tr(CONFIRM), again(check, _stricter_rule(check), "explain")
    return _stricter(check, again)


def _stricter(check: Check, command: Callable[[Check, str], str]) -> Step | None:
    """Return the command with the rule that fails a difference which the pass ignores."""
    verdict = check.verdict
    if not verdict.passed or verdict.plainly_passes:
        return None
    why = _MAKE_A_FAILURE[verdict.first_divergence is not None]
    return tr(why), command(check, _stricter_rule(check))


def _stricter_rule(check: Check) -> str:
    """Return the option that makes the check fail; "" if it fails already."""
    if not check.verdict.passed:
        return ""
    return f"--fail-on {shlex.quote(check.verdict.next_rule)}"


_MAKE_A_FAILURE = {
    True: mark("Make the later difference a failure:"),
    False: mark("Make the difference of the series a failure:"),
}
"""Whether losses are outside the tolerance -> why the rule is added."""


def _confirm(check: Check) -> Step | None:
    fails = check.verdict.verdict == "not_reproducible"
    if fails and check.causes and _not_searched(check):
        return tr(CONFIRM), again(check, "", "explain")
    return None


def _not_searched(check: Check) -> bool:
    """Return whether no control was on or tried yet."""
    return check.search is None and not check.record.controls


def _search_again(check: Check) -> Step | None:
    search = check.search
    if search is None:
        return None
    if search.broken_off:
        return tr("Search again for what removes the difference:"), again(check, "", "explain")
    if search.further:
        options = " ".join(search.further)
        return tr("Search for the cause of the remaining difference:"), again(
            check, options, "explain"
        )
    return None


def _read_about_the_cause(check: Check) -> Step | None:
    if not check.causes:
        return None
    code = line(check.causes[0].code)
    return tr("Read what the cause means and how else to fix it:"), f"reprocheck rules {code}"


def _seed(check: Check) -> Step | None:
    """Return the next step of a check in which another seed must show, and did not."""
    because = check.verdict.because
    if isinstance(because, SeedChangesNothing):
        return tr("Once the seed reaches the training, check again:"), again(check, "")
    if not isinstance(because, SeedNotJudged):
        return None
    if because.why == "runs differ":
        why = tr("Find why runs with one seed differ:")
        return why, again(check, f"--must-differ {NONE}")
    if because.why == "nothing drawn" and check.stopped_early is not None:
        return tr("Train until something is drawn:"), again(check, "--steps all")
    if because.why == "no seed":
        return tr(
            "Put {placeholder} where the command takes its seed:", placeholder=PLACEHOLDER
        ), again(check, "")
    return None


def _by_verdict(check: Check) -> Step | None:
    after = _AFTER.get(check.verdict.verdict)
    if after is None:
        return None
    return after(check)


def _after_failure(check: Check) -> Step:
    advice = check.record.advice
    if advice is None:
        return tr("See whether the script runs without reprocheck:"), command(check)
    advised = again(check, " ".join(advice.options), words=advice.words)
    return line(advice.why), f"{line(advice.before)} {advised}".strip()


def _after_timeout(check: Check) -> Step:
    longest = max((run.record.seconds for run in check.runs), default=float(SHORTEST_TIMEOUT))
    minutes = round(longest * MORE_TIME / 60)
    return tr("Give it more time:"), again(
        check, f"--timeout {max(SHORTEST_TIMEOUT, minutes * 60)}"
    )


def _after_no_verdict(check: Check) -> Step:
    if check.not_finite:
        return tr("Find where NaN or infinity comes from in the script itself:"), command(check)
    if any(run.absent for run in check.runs):
        return tr("See what the missing ranks print:"), again(check, "--show-output")
    stopped = any(trace.stopped_at is not None for trace in check.traces)
    if stopped:  # the stop can hide what is missing
        return tr("Let the training run to its own end:"), again(check, "--steps all")
    if check.verdict.bitwise.one_is_longer:
        return tr("One run trains longer than another; fix what ends it early, then:"), again(
            check, ""
        )
    if any(len(trace.losses) for trace in check.traces):
        return tr("The runs ended by themselves; train for more iterations, then:"), again(
            check, ""
        )
    options = "--show-output --steps all"
    return tr("See what the script prints, and whether it trains at all:"), again(check, options)


_AFTER: Mapping[VerdictName, Callable[[Check], Step]] = {
    "script_failed": _after_failure,
    "timed_out": _after_timeout,
    "inconclusive": _after_no_verdict,
}


def _own_folders(check: Check) -> Step | None:
    """Return the step `--workdir copy` if run 2 saw files of run 1 that were new to it."""
    left = (path for path in check.state_left if not is_elsewhere(path))
    if all(path in check.state_alike for path in left):
        return None
    why = tr("Give each run its own working directory, so that run 2 sees nothing of run 1:")
    return why, again(check, "--workdir copy")


def _where_and_why(check: Check) -> Step | None:
    """Return the next step of a failed check that was told not to explain."""
    explained = check.ladder is not None or _setting(check, "explain") is not False
    if explained or check.verdict.exit_code != 1:
        return None
    return tr("See where the runs first diverge, and why:"), again(check, "--explain")


def _how_often(check: Check) -> Step | None:
    if check.verdict.verdict != "not_reproducible":
        return None
    options = f"--runs {_more_runs(check)} --steps 2"
    return tr("See how often the runs differ, and by how much:"), again(check, options)


def _how_far(check: Check) -> Step | None:
    if check.verdict.bitwise.equal is not False or check.stopped_early is None:
        return None
    return tr("See how far the difference grows in the whole training:"), again(
        check, "--steps all"
    )


def _more_runs(check: Check) -> int:
    return max(5, 2 * len(check.runs))


def _setting(check: Check, name: str) -> object:
    return next((setting.value for setting in check.record.settings if setting.name == name), None)


def _vary_alone(check: Check) -> Step | None:
    found = check.variations
    if found is None or not found.guilty:
        return None
    names = ",".join(one.name for one in found.guilty)
    why = tr("Once that is mended, check with these variations alone:")
    if len(found.guilty) == 1:
        why = tr("Once that is mended, check with this variation alone:")
    options = f"--vary {names}"
    if found.run > FIRST_RUN:
        options += f" --vary-seed {found.seed}"
    return why, again(check, options)


def _mirror(check: Check) -> Step | None:
    if check.verdict.broken_rule != MIRRORS_RULE:
        return None
    return tr("Once what is the same differs, check again:"), again(check, "")


_STEPS: tuple[Callable[[Check], Step | None], ...] = (
    _seed,
    _vary_alone,
    _mirror,
    _allowed_difference,
    _confirm,
    _search_again,
    _read_about_the_cause,
    _by_verdict,
    _own_folders,
    _where_and_why,
    _how_often,
    _how_far,
)
