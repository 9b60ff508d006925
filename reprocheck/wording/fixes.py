"""The fixes of the causes and of a search, and entries of the catalogue."""

from __future__ import annotations

from functools import partial

from reprocheck.language import changed, count, mark, tag, tr
from reprocheck.model.statements import fixes as statements
from reprocheck.rules import Entry, entry
from reprocheck.rules.fix_text import in_names_of
from reprocheck.settings import controls
from reprocheck.wording.ladder.inputs import called
from reprocheck.wording.say import say


@say.register
def catalogue_fix(remedy: statements.CatalogueFix) -> str:
    """Return the fix of an entry."""
    return tr(entry(remedy.code).fix_for(remedy.keys))


@say.register
def control_fix(remedy: statements.ControlFix) -> str:
    """Return the fix that stands for a control."""
    return tr(controls.control(remedy.control).fix[remedy.key])


@say.register
def in_names(remedy: statements.InNames) -> str:
    """Return a fix with the names of the script."""
    return changed(say(remedy.fix), partial(in_names_of, dict(remedy.names)))


@say.register
def parts(remedy: statements.Parts) -> str:
    """Return the parts of a fix, one after the other."""
    return "".join(map(say, remedy.parts))


@say.register
def left_in_folder(remedy: statements.LeftInFolder) -> str:
    """Return a comment that says where the left files are listed."""
    numbers = [(remedy.files, "file"), (remedy.folders, "folder")]
    counted = " and ".join(count(number, name) for number, name in numbers if number)
    return f"# {counted}: see Files in the report\n"


@say.register
def at_lines(remedy: statements.AtLines) -> str:
    """Return what to do in each line."""
    return "\n".join(f"{line}: {fix}" for line, fix in remedy.fixes)


_SEEDS = {
    "each time": mark(
        "Give the generator a seed that is another one each time it is made, in each worker, epoch"
        " and rank, so that the streams stay apart."
    ),
    "where its owner is made": mark(
        "Give `{owner}` a seed where it is made: `{call}()` draws from a generator without one."
    ),
    "by an argument": mark(
        "`{call}()` makes a generator without a seed: give it one, by the argument that takes a"
        " seed."
    ),
}


@say.register
def seed_call(remedy: statements.SeedCall) -> str:
    """Say which call needs a seed."""
    return tr(_SEEDS[remedy.kind], call=remedy.call, owner=remedy.owner)


@say.register
def keep_order(remedy: statements.KeepOrder) -> str:
    """Say how a call keeps the order of its rows."""
    return tr("Write `{argument}=True` in the call, or sort its rows.", argument=remedy.argument)


@say.register
def give_alike(remedy: statements.GiveAlike) -> str:
    """Say which argument, variable or file to give to all runs alike."""
    given = remedy.given
    if given.of_one_run:
        return tr(
            "Start every run with the {called}, or every run without it.", called=called(given)
        )
    if given.kind != "input":
        return tr(
            "Start every run with the same {called}, such as `{first}`.",
            called=called(given),
            first=given.first,
        )
    if given.made:
        return tr(
            "Seed what the program draws that makes `{name}`, or make the file once, before the"
            " runs that are compared.",
            name=given.name,
        )
    return tr(
        "Keep `{name}` as it is while runs are compared: pin its version, or give each run a copy"
        " of its own.",
        name=given.name,
    )


@say.register
def fix_value(remedy: statements.FixValue) -> str:
    """Say where a value has to be fixed."""
    if not remedy.file:
        return tr("Give a fixed value in the command in place of `{by}`.", by=remedy.by)
    return tr(
        "Give it a fixed value in line {line} of {file}: `{fixed}`",
        line=remedy.line,
        file=remedy.file,
        fixed=remedy.fixed,
    )


def translated(entry: Entry) -> Entry:
    """Return an entry with its title, and the fixes that are sentences, translated."""
    if tag() == "en":
        return entry
    return entry._replace(
        title=tr(entry.title),
        fix=tr(entry.fix),
        fixes={name: tr(fix) for name, fix in entry.fixes.items()},
        titles={name: tr(title) for name, title in entry.titles.items()},
    )
