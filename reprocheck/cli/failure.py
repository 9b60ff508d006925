"""The one place that prints errors and chooses the exit code for them."""

from __future__ import annotations

import os
from collections.abc import Callable

from reprocheck import interrupts
from reprocheck.errors import EXIT_INTERNAL, EXIT_INTERRUPTED, EXIT_USAGE, ReprocheckError

MORE_MEMORY = (
    "Give it more (`ulimit -v`, the limit of the job). What was recorded is kept;"
    " `reprocheck report DIR` draws it."
)


class Interrupted(Exception):  # noqa: N818 - an event, not an error
    """Report that the user or the system (SIGTERM) ended the check.

    `kept`: says what was kept of it.

    This is no KeyboardInterrupt, because typer handles that one itself.
    """

    def __init__(self, kept: str) -> None:
        super().__init__(kept)
        self.kept = kept


def guarded(call: Callable[[], int], *, verbose: bool = False) -> int:
    """Call `call` and return its exit code; an error becomes two lines on stderr, no traceback.

    Exit code 1 is a verdict, and comes from `call` alone.
    """
    try:
        return _called(call, verbose=verbose)
    finally:
        interrupts.ignore()


def _called(call: Callable[[], int], *, verbose: bool) -> int:
    try:
        code = call()
        flush_output()
        if interrupts.heard():
            raise KeyboardInterrupt
    except ReprocheckError as error:
        print_error(error.message, error.fix)
        return error.exit_code
    except Interrupted as interrupted:
        interrupts.ignore()
        print_error("interrupted.", interrupted.kept)
        return EXIT_INTERRUPTED
    except KeyboardInterrupt:
        interrupts.ignore()
        print_error("interrupted.")
        return EXIT_INTERRUPTED
    except Exception as error:
        if library := _without_memory(error):
            print_error(f"There is not enough memory: {library}.", MORE_MEMORY)
            return EXIT_USAGE
        return _internal(error, verbose=verbose)
    return code


def _without_memory(error: BaseException | None) -> str:
    """Return the message of an error in the chain that says memory is used up; "" if none does.

    It is a MemoryError, or an ImportError of a shared library, which cannot be mapped without
    memory.
    """
    while error is not None:
        if isinstance(error, MemoryError):
            return str(error) or "it was refused by the system"
        if isinstance(error, ImportError) and (error.path or "").endswith(".so"):
            return str(error)
        error = error.__cause__ or error.__context__
    return ""


def print_error(message: str, fix: str = "") -> None:
    """Print `error: MESSAGE` and `fix: FIX` on stderr."""
    from reprocheck.cli.terminal import standard_error

    stream = standard_error()
    stream.labelled("error:", message, "bold red")
    if fix:
        stream.labelled("fix:", fix, "bold")


def flush_output() -> None:
    """Flush stdout, with the same error handling as `Stream.write`."""
    from reprocheck.cli.terminal import standard_output

    standard_output().write("")


def _internal(error: Exception, *, verbose: bool) -> int:
    import traceback

    from reprocheck.cli.terminal import standard_error

    text = "".join(traceback.format_exception(error))
    if verbose:
        standard_error().write(text)
    where = _save(text)
    fix = "Run it again with -v, and report the traceback."
    if where:
        fix = f"Please report it, with the traceback in {where}."
    print_error(f"reprocheck itself failed: {type(error).__name__}: {error}".rstrip(": "), fix)
    return EXIT_INTERNAL


def _save(text: str) -> str | None:
    import tempfile

    try:
        descriptor, name = tempfile.mkstemp(prefix="reprocheck-traceback-", suffix=".txt")
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError:
        return None
    return name
