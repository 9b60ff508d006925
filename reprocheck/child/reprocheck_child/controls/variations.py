"""The variations that need little code.

They are names of machine and user, the folders that variables name, the width of the terminal,
addresses, permissions, standard input and processors. Variables themselves are set before the
start; here their use by the script is noted, with its line.
"""

from __future__ import annotations

import os
import time
from functools import partial

from ..recorder import import_hook
from ..recorder.hooking import guarded, like, replace, set_in_type

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable

    from .active_controls import Active

READ = {
    "hostname": ("HOSTNAME",),
    "user": ("USER", "LOGNAME", "USERNAME"),
    "timezone": ("TZ",),
    "locale": ("LC_ALL", "LANG"),
    "tmpdir": ("TMPDIR",),
    "home": ("HOME",),
    "columns": ("COLUMNS", "LINES"),
    "path": ("PWD",),
}
"""Variation -> the environment variables that carry it."""
BALLAST = 4096
"""Objects of each size that are made before the script; half of them are freed, out of order."""
_STEP = 1597
"""Prime to `BALLAST`: steps of so many objects reach each once."""
_SIZES = range(15, 480, 16)
"""Lengths of bytes: with what Python adds, one for each size that its own allocator serves."""
_ballast: list[Any] = []


def install(active: Active) -> None:
    """Put those that are on in place."""
    for name, act in ACTS.items():
        if active.varies(name):
            with active.trying(name, "it could not be installed"):
                act(active)
    _watch_variables(active)


def _watch_variables(active: Active) -> None:
    """Note which variables the user's code reads, directly or through a library."""
    carries = {
        variable: name
        for name, variables in READ.items()
        for variable in variables
        if active.varies(name)
    }
    if not carries:
        return

    def reading(real: Callable[..., str]) -> Callable[..., str]:
        def getitem(self: Any, key: Any) -> str:
            name = carries.get(key)
            if name is not None and not active.for_imports() and active.line():
                active.touched(name, key)
            return real(self, key)

        return getitem

    replace(type(os.environ), "__getitem__", reading)


def _hostname(active: Active) -> None:
    """Give the user's modules another name of the machine.

    Libraries find each other by the real one.
    """
    host = str(active.settings["host"])

    def naming(what: str) -> Callable[..., Any]:
        def make(real: Callable[..., str]) -> Callable[..., str]:
            def name(*args: Any) -> str:
                if args or not active.users_module():
                    return real(*args)
                active.touched("hostname", what)
                return host

            return name

        return make

    def uname(real: Callable[[], Any]) -> Callable[[], Any]:
        def named() -> Any:
            system = real()
            if not active.users_module():
                return system
            active.touched("hostname", "os.uname")
            return os.uname_result((system[0], host, *system[2:]))

        return named

    replace(os, "uname", uname)
    for module, function in (
        ("socket", "gethostname"),
        ("socket", "getfqdn"),
        ("platform", "node"),
    ):
        import_hook.when_imported(module, partial(_name, function, naming))


def _name(function: str, naming: Callable[[str], Any], module: Any) -> None:
    replace(module, function, naming(module.__name__ + "." + function))


def _timezone(active: Active) -> None:
    """Count the calls of the user's modules that give local time."""

    def counting(what: str) -> Callable[..., Any]:
        def make(real: Callable[..., Any]) -> Callable[..., Any]:
            def local(*args: Any, **kwargs: Any) -> Any:
                if active.users_module():
                    active.touched("timezone", what)
                return real(*args, **kwargs)

            return local

        return make

    for name in ("localtime", "mktime", "ctime", "strftime", "asctime"):
        replace(time, name, counting("time." + name))
    import_hook.when_imported("datetime", partial(_local_dates, active))


def _local_dates(active: Active, module: Any) -> None:
    """Count the calls of the user's modules that make a date of local time."""

    def counted(kind: Any, name: str) -> Any:
        real = kind.__dict__[name]

        def local(cls: Any, *args: Any, **kwargs: Any) -> Any:
            if active.users_module():
                active.touched("timezone", kind.__name__ + "." + name)
            return real.__get__(None, cls)(*args, **kwargs)

        return classmethod(like(local, real))

    for kind, names in (
        (module.datetime, ("now", "fromtimestamp")),
        (module.date, ("today", "fromtimestamp")),
    ):
        for name in names:
            set_in_type(kind, name, counted(kind, name))


def _path(active: Active) -> None:
    """Count the calls of the user's code that ask for the working directory or a whole path."""

    def make(real: Callable[[], str]) -> Callable[[], str]:
        def getcwd() -> str:
            if not active.for_imports() and active.line():
                active.touched("path", "os.getcwd")
            return real()

        return getcwd

    def whole(real: Callable[..., str]) -> Callable[..., str]:
        def path(*args: Any, **kwargs: Any) -> str:
            if active.asked_by_user(through=("pathlib",)):
                active.touched("path", "os.path." + real.__name__)
            return real(*args, **kwargs)

        return path

    replace(os, "getcwd", make)
    replace(os.path, "abspath", whole)
    replace(os.path, "realpath", whole)


def _address(active: Active) -> None:
    """Make later objects take places that are free here and there, in no order."""
    makers: list[Callable[[], Any]] = [object, _fraction]
    makers += [partial(bytes, size) for size in _SIZES]
    for make in makers:
        made: list[Any] = [make() for _ in range(BALLAST)]
        for number in range(0, BALLAST * _STEP // 2, _STEP):
            made[(number + active.point) % BALLAST] = None
        _ballast.append(made)


def _fraction() -> float:
    return len(_ballast) + 0.5


def _umask(active: Active) -> None:
    os.umask(int(active.settings["umask"]))


def _stdin(active: Active) -> None:
    """Put a closed pipe in the place of the empty device.

    What a parent process hands over stays.
    """
    with guarded("standard input"):
        if os.fstat(0).st_rdev != os.stat(os.devnull).st_rdev:
            return
        reading, writing = os.pipe()
        os.close(writing)
        os.dup2(reading, 0)
        os.close(reading)


def _processors(active: Active) -> None:
    """Let the process use half of its processors."""
    before = sorted(os.sched_getaffinity(0))
    visible = int(active.settings["processors"])
    if len(before) > visible:
        os.sched_setaffinity(0, before[:visible])

    def make(real: Callable[[], Any]) -> Callable[[], Any]:
        def cpu_count() -> Any:
            if not active.users_module():
                return real()
            active.touched("processors", "os.cpu_count")
            return visible

        return cpu_count

    replace(os, "cpu_count", make)


ACTS: dict[str, Callable[[Active], None]] = {
    "hostname": _hostname,
    "timezone": _timezone,
    "path": _path,
    "address": _address,
    "umask": _umask,
    "stdin": _stdin,
    "processors": _processors,
}
"""Variation -> what acts beside its variables."""
