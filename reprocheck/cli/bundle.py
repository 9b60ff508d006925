"""`reprocheck bundle DIR -o issue.zip`: what of a check is sent with a bug report, in one file."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated

from reprocheck.cli.parameters import argument, option, with_settings
from reprocheck.errors import ReportError, UsageError

if TYPE_CHECKING:
    from reprocheck.bundle import Bundle
    from reprocheck.model import Check
    from reprocheck.redaction import Redaction
    from reprocheck.resume.model import ResumeCheck

NAME = "issue.zip"
REDACT = ("default", "strict", "none")
NOT_INSTALLED = (
    "The detector of secrets is not installed, so free text is left out as with --redact strict:"
    ' pip install "reprocheck[bundle]"'
)


@with_settings("lang")
def bundle(
    flags: dict[str, object],
    folder: Annotated[
        Path,
        argument(
            metavar="DIR|ZIP", help="A report folder, such as reports/latest, or the zip of one."
        ),
    ],
    output_file: Annotated[
        Path,
        option(
            "-o", metavar="FILE", help="The zip, or one part of it: FILE.html, FILE.md. [issue.zip]"
        ),
    ] = Path(NAME),
    redact: Annotated[
        str,
        option(
            "--redact",
            metavar="|".join(REDACT),
            help="What is taken out: secrets and names, all free text, or nothing. [default]",
        ),
    ] = REDACT[0],
    preview: Annotated[
        bool,
        option("--preview", help="Print what would leave the machine, and write nothing."),
    ] = False,
    with_values: Annotated[
        bool,
        option(
            "--with-values",
            help="Add the tensors that `reprocheck run --with-values` recorded.",
        ),
    ] = False,
    with_source: Annotated[
        bool,
        option("--with-source", help="Add your files that the report folder keeps."),
    ] = False,
    with_log: Annotated[
        bool,
        option("--with-log", help="Add the ends of the logs, and errors word for word."),
    ] = False,
) -> int:
    """Pack what may be sent of a check. Exit 0 whatever the verdict was."""
    from reprocheck import settings
    from reprocheck.cli.report import loaded
    from reprocheck.language import spoken

    part = _part(output_file)
    with spoken(settings.load(flags, Path.cwd()).lang):
        with loaded(folder) as check:
            tensors = _values(check, folder, asked=with_values)
            texts = _texts(check, asked=with_source)
            made = _made(check, redact, tensors, texts, with_log=with_log)
        if preview:
            return _shown(made)
        _write(output_file, part(made))
        _say(made, output_file, redact)
        return 0


def attached(check: Check, folder: Path, *, values: bool = False) -> Path:
    """Write the attachment of a check into its report folder, and return it.

    `values`: include recorded tensors. Raises ReportError.
    """
    file = folder / NAME
    there = values and _has_values(check)
    _write(file, _made(check, REDACT[0], _values(check, folder, asked=there)).zipped)
    return file


def _has_values(check: Check | ResumeCheck) -> bool:
    ladder = getattr(check, "ladder", None)
    return ladder is not None and ladder.replay is not None and bool(ladder.replay.values)


def _values(check: Check | ResumeCheck, folder: Path, *, asked: bool) -> bytes:
    """Return the recorded tensors of a report folder; none if `asked` is False."""
    from reprocheck.replay import values

    if not asked:
        return b""
    if not _has_values(check):
        raise UsageError(
            f"{folder} holds no values of tensors.",
            "Check again with `reprocheck run --with-values`; the zip of a check never has them.",
        )
    return values.read(folder)


def _texts(check: Check | ResumeCheck, *, asked: bool) -> dict[str, str]:
    """Return the user's files kept in a report folder; none if `asked` is False."""
    from reprocheck.ladder.sources import kept

    if not asked:
        return {}
    texts = kept(check.folder) if check.folder else {}
    if not texts:
        raise UsageError(
            "The report folder keeps none of your files.",
            "A check keeps them where its runs differ; leave out --with-source.",
        )
    return texts


_PARTS: Mapping[str, Callable[[Bundle], bytes]] = {
    ".zip": lambda made: made.zipped,
    ".html": lambda made: made.files["report.html"],
    ".md": lambda made: made.files["issue.md"],
}
"""By the suffix of the file that -o names."""


def _part(file: Path) -> Callable[[Bundle], bytes]:
    part = _PARTS.get(file.suffix.lower())
    if part is None:
        raise UsageError(
            f"-o {file}: an attachment is a .zip, .html or .md file.", f"Name one, such as {NAME}."
        )
    return part


def _made(
    check: Check | ResumeCheck,
    redact: str,
    values: bytes,
    texts: Mapping[str, str] = MappingProxyType({}),
    *,
    with_log: bool = False,
) -> Bundle:
    from reprocheck.bundle import made
    from reprocheck.model import Check
    from reprocheck.resume import attachment

    redaction = _redaction(check, redact, with_log=with_log)
    for name, asked in (("source", bool(texts)), ("log", with_log)):
        if asked and redaction.strict:
            raise UsageError(
                f"No {name} leaves with --redact strict.",
                f"Leave out --with-{name}, or --redact strict.",
            )
    if isinstance(check, Check):
        return made(check, redaction, values, texts)
    return attachment.made(check, redaction, texts)


def _redaction(check: Check | ResumeCheck, asked: str, *, with_log: bool) -> Redaction:
    """Return the redaction of a bundle; without a scanner for secrets, free text is left out."""
    from reprocheck import redaction
    from reprocheck.cli.terminal import standard_error

    if asked not in REDACT:
        raise UsageError(f"--redact {asked}: there is no such level.", f"Take {', '.join(REDACT)}.")
    scanner = redaction.found_scanner()
    if scanner is None and asked == "default":
        standard_error().labelled("note:", NOT_INSTALLED, "bold")
    return redaction.redaction_of(
        check,
        "folder" if asked == "none" else "attachment",
        identity=redaction.identity(),
        known=redaction.known_secrets((), os.environ),
        scanner=scanner,
        strict=asked == "strict",
        with_log=with_log,
    )


def _write(file: Path, data: bytes) -> None:
    from reprocheck.files.atomic import put

    try:
        put(file, data)
    except OSError as error:
        raise ReportError(
            f"{file} cannot be written: {error.strerror or error}.", "Name another file with -o."
        ) from None


_ASKED_FOR = ("source/", "log/")


def _shown(made: Bundle) -> int:
    """Print what would leave the machine.

    The manifest, the size of each file, the text of the issue, and source and logs if they were
    asked for.
    """
    from reprocheck.cli.terminal import standard_output

    out = standard_output()
    asked = [data.decode() for name, data in made.files.items() if name.startswith(_ASKED_FOR)]
    issue = made.files["issue.md"].decode()
    for text in (made.files["README.md"].decode(), _sizes(made), issue, *asked):
        for line in text.splitlines():
            out.line(line)
        out.line()
    return 0


def _sizes(made: Bundle) -> str:
    rows = [f"  {name:<12} {len(data):>12,} bytes" for name, data in made.files.items()]
    return "\n".join([*rows, f"  {NAME:<12} {len(made.zipped):>12,} bytes"])


def _say(made: Bundle, file: Path, redact: str) -> None:
    """Print where the bundle is, what was redacted and how strictly.

    If the strictness differs from what was asked for, why.
    """
    from reprocheck.bundle.manifest import counted
    from reprocheck.cli.terminal import standard_output

    out = standard_output()
    size = f"({file.stat().st_size:,} bytes)"
    out.line(f"BUNDLE  {file}  {size}", "bold green")
    how = f"--redact {made.redact}"
    if made.redact != redact:
        how = f"as with --redact {made.redact}, since the detector of secrets is not installed"
    out.line(f"  taken out ({how}; `--preview` prints all that leaves):")
    for line in counted(made.counts):
        out.line(f"  {line}")
