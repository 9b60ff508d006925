"""The controls `deterministic`, `single-thread`, `no-compile` and `launch-blocking`.

They are those of MindSpore.

MindSpore takes some of these settings once a process. Where a control has made the call, the
script's own call for the same is accepted; one that asks for the opposite stands, and is a
conflict.
"""

from typing import Any, Callable

from ....recorder.hooking import like
from ..pynative import Opening, everywhere

DETERMINISTIC, THREAD, COMPILE, BLOCKING = (
    "deterministic",
    "single-thread",
    "no-compile",
    "launch-blocking",
)


def deterministic(mindspore: Any, active: Any) -> None:
    """Call `set_deterministic(True)`, once."""
    from mindspore import device_manager

    real = device_manager.set_deterministic
    real(True)
    active.touched(DETERMINISTIC, "mindspore.set_deterministic", True)

    def set_deterministic(deterministic: Any) -> Any:
        if deterministic is True:
            return active.touched(DETERMINISTIC, "mindspore.set_deterministic", True)
        if deterministic is not False:
            return real(deterministic)  # says what is wrong with it
        if _ours_wins(active, DETERMINISTIC, "mindspore.set_deterministic", False, True):
            return None
        return device_manager.DeviceManagerConf.get_instance().set_deterministic(False)

    everywhere(real, like(set_deterministic, real))
    _watch_context(active, DETERMINISTIC, "deterministic", "ON")


def single_thread(mindspore: Any, active: Any) -> None:
    """Set one thread that dispatches operators, and one thread for operators on the CPU."""
    from mindspore.device_context.cpu import op_tuning
    from mindspore.runtime import executor

    conf = executor.RuntimeConf.get_instance()
    for module, name, again in (
        (executor, "dispatch_threads_num", conf.set_dispatch_threads_num),
        (op_tuning, "threads_num", conf.set_op_threads_num),
    ):
        _once(active, module, name, again)
    _watch_context(active, THREAD, "runtime_num_threads", 1)


def _once(active: Any, module: Any, name: str, again: Callable[[int], Any]) -> None:
    """Set the number of threads `module.name` to 1, and replace the script's later calls.

    `again` sets the number past MindSpore's check that forbids a second call.
    """
    real, what = getattr(module, name), module.__name__ + "." + name
    real(1)
    active.touched(THREAD, what, 1)

    def setter(*args: Any, **named: Any) -> Any:
        value = next(iter((*args, *named.values())), None)
        if value == 1:
            return active.touched(THREAD, what, 1)
        if type(value) is not int or value < 1:
            return real(*args, **named)  # says what is wrong with it
        return None if _ours_wins(active, THREAD, what, value, 1) else again(value)

    everywhere(real, like(setter, real))


def no_compile(mindspore: Any, active: Any) -> None:
    """Keep MindSpore out of graph mode: `jit` returns its function uncompiled."""
    _Eager(mindspore, active).hook()


class _Eager(Opening):
    def __init__(self, mindspore: Any, active: Any) -> None:
        super().__init__(mindspore, active.recorder, None)
        self.active = active

    def _say(self) -> None:
        self.active.touched(COMPILE, "graph mode and functions compiled by jit", "PyNative mode", 2)

    def _keep(self, mode: str) -> None:
        self.kept = True
        self.active.unavailable(COMPILE, "parallel mode %r needs the graph compiler" % mode)
        if self._asked:
            self.context._context().set_mode(self.context.GRAPH_MODE)


def launch_blocking(mindspore: Any, active: Any) -> None:
    """Make the host wait for each operator before the next one is launched."""
    mindspore.runtime.launch_blocking()
    active.touched(BLOCKING, "mindspore.runtime.launch_blocking", True)
    _watch_context(active, BLOCKING, "pynative_synchronize", True)


def _watch_context(active: Any, control: str, key: str, wanted: Any) -> None:
    """Watch the script's `set_context(key=...)`.

    The wanted value passes; another value is reported and kept, or overridden.
    """
    from mindspore import context

    real: Callable[..., Any] = context.set_context

    def set_context(**named: Any) -> Any:
        if (
            key in named
            and named[key] != wanted
            and _ours_wins(active, control, "mindspore.set_context(%s)" % key, named[key], wanted)
        ):
            named = {name: value for name, value in named.items() if name != key}
        return real(**named)

    everywhere(real, like(set_context, real))


def _ours_wins(active: Any, control: str, what: str, value: Any, wanted: Any) -> bool:
    """Report a setting of the script's that contradicts a control.

    Return whether it is replaced.
    """
    if active.override:
        active.overridden(control, what, value, wanted, 2)
    else:
        active.conflict(control, what, value, wanted, 2)
    return bool(active.override)
