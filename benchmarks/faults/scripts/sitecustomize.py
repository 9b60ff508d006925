"""Found through PYTHONPATH by every Python of a fault: at one event in the life of the process that
is meant, it does what FAULT asks.

FAULT is JSON: `who`, the first words of the command line behind the interpreter; `at`, the number of
an event or a part of its text; `act`, one of ACTS, and its `argument`. Events are what a process
does to files and processes, in its order; an act comes before its event. A file that was to be written anew
is there, and empty, where it is killed: the kill could have come a moment later.
"""

import json
import os
import shutil
import sys

WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT
OTHERS = {
    "os.rename": 2,
    "os.remove": 1,
    "os.mkdir": 1,
    "os.rmdir": 1,
    "os.symlink": 2,
    "os.link": 2,
    "os.chmod": 1,
    "subprocess.Popen": 1,
    "shutil.rmtree": 1,
    "fcntl.flock": 0,
}
"""Events of the interpreter's audit, and how many of their arguments are their text."""


class Life:
    """The events of this process so far."""

    def __init__(self, at, act, argument):
        self.at, self.act, self.argument = at, act, argument
        self.count, self.busy = 0, False

    def heard(self, name, arguments):
        """An audit hook."""
        if self.busy or self.act is None:
            return
        text = described(name, arguments)
        if not text or "__pycache__" in text:
            return
        self.busy = True
        try:
            self.count += 1
            if self.act is note:
                note(text, self.argument)
            elif self.at == self.count or (isinstance(self.at, str) and self.at in text):
                act, self.act = self.act, None
                note(text, os.environ.get("FAULT_NOTED", os.devnull))
                act(text, self.argument)
        finally:
            self.busy = False


def described(name, arguments):
    """An event as a text; "" where it changes nothing."""
    if name == "open":
        path, _, flags = arguments
        if isinstance(path, int) or not isinstance(flags, int) or not flags & WRITES:
            return ""
        emptied = flags & os.O_TRUNC or not os.path.lexists(path)
        return ("create " if emptied else "open ") + os.fsdecode(path)
    if name not in OTHERS:
        return ""
    return " ".join([name, *map(str, arguments[: OTHERS[name]])])


def note(text, path):
    """A line that says what the event was."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    os.write(descriptor, text.encode("utf-8", "replace") + b"\n")
    os.close(descriptor)


def signal(text, number):
    """A signal to this process; before SIGKILL, a file that was to be written anew is empty."""
    verb, _, path = text.partition(" ")
    if number == 9 and verb == "create":
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644))
    os.kill(os.getpid(), number)


def shell(text, words):
    """A command of the shell."""
    os.system(words)


def remove(text, folder):
    """A folder is gone."""
    shutil.rmtree(folder, ignore_errors=True)


ACTS = {"note": note, "signal": signal, "shell": shell, "remove": remove}


def begin(asked):
    """Listens, where this process is the one that is meant."""
    who = asked["who"].split()
    if sys.orig_argv[1 : 1 + len(who)] == who:
        life = Life(asked.get("at"), ACTS[asked["act"]], asked.get("argument"))
        sys.addaudithook(life.heard)


if "FAULT" in os.environ:
    begin(json.loads(os.environ["FAULT"]))
