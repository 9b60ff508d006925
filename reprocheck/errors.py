"""The errors that a user can fix, as exceptions that the command line prints in one place.

    ReprocheckError            internal, exit 70
    └── UsageError             the command line or a setting, exit 2
        ├── SettingsError      a settings file, environment variable or flag
        ├── EntryPointError    the script or command that was named cannot be started
        ├── ControlError       a control that does not exist or that the environment contradicts
        └── ReportError        a report folder that cannot be read or written

Imports the standard library only.
"""

from __future__ import annotations

EXIT_USAGE = 2
EXIT_INTERNAL = 70
EXIT_INTERRUPTED = 130


class ReprocheckError(Exception):
    """An error with `message`, what to do (`fix`) and the exit code of the process."""

    exit_code = EXIT_INTERNAL

    def __init__(self, message: str, fix: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.fix = fix


class UsageError(ReprocheckError):
    """The user asked for something that cannot be done."""

    exit_code = EXIT_USAGE


class SettingsError(UsageError):
    """A setting has an unknown name or a value that means nothing.

    The message says where it stands.
    """


class EntryPointError(UsageError):
    """The script, module or command is missing or cannot be started."""


class ControlError(UsageError):
    """A control has an unknown name, or a value that the user set stands against it."""


class ReportError(UsageError):
    """A report folder is missing, incomplete or cannot be written."""


def message(error: Exception) -> str:
    """Return what an error says in a sentence of ours; one that is not ours with its type."""
    if isinstance(error, ReprocheckError):
        return error.message
    return f"{type(error).__name__}: {error}"
