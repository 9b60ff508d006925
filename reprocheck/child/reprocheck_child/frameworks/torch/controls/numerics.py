"""The controls `deterministic`, `single-thread` and `no-compile` for PyTorch.

Settings are made at the import, and watched for what scripts set against them later.
"""

import sys
from typing import Any, Callable

from ....recorder import import_hook
from ....recorder.hooking import named_like, replace


def guarded(
    active: Any, control: str, what: str, real: Callable[..., Any], wanted: Any
) -> Callable[..., Any]:
    """Return a wrapper of the setter `real(value)` that watches the values set by the script.

    If a value contradicts the control, it is reported and kept, or replaced in a trial arm.
    """

    def setter(value: Any, *args: Any, **kwargs: Any) -> Any:
        if value == wanted:
            return real(value, *args, **kwargs)
        if active.override:
            active.overridden(control, what, value, wanted)
            return real(wanted, *args, **kwargs)
        active.conflict(control, what, value, wanted)
        return real(value, *args, **kwargs)

    return named_like(setter, real)


def deterministic(torch: Any, active: Any) -> None:
    """Switch deterministic algorithms on, and the benchmarks of cuDNN off.

    An operator without a deterministic algorithm raises an error.
    """
    _algorithms(torch, active)
    _flag(torch, active, "cudnn", "deterministic", True)
    _flag(torch, active, "cudnn", "benchmark", False)
    if hasattr(torch._C, "_set_mkldnn_deterministic"):
        _flag(torch, active, "mkldnn", "deterministic", True)
    import_hook.when_imported("torch._inductor.config", lambda config: _inductor(active, config))
    import_hook.when_imported("torch_npu", lambda module: _npu(torch, active, module))


def _algorithms(torch: Any, active: Any) -> None:
    """Switch deterministic algorithms on without `torch.use_deterministic_algorithms`.

    That function imports the compiler's settings, which takes seconds.
    """
    # The setter of C++ that it ends in: also reached by `torch.set_deterministic_debug_mode` and by
    # what holds the function of Python under a name of its own.
    core, what = torch._C, "torch.use_deterministic_algorithms"
    real, fill = core._set_deterministic_algorithms, _filling(torch)

    def set_algorithms(mode: Any, *, warn_only: Any = False) -> Any:
        given, wanted = _said(mode, warn_only), _said(True, False)
        if given == wanted:
            # the script asks for all that comes with it, as it would without the control
            fill(True)
            return real(True, warn_only=False)
        if active.override:
            active.overridden("deterministic", what, given, wanted)
            return real(True, warn_only=False)
        active.conflict("deterministic", what, given, wanted)
        return real(mode, warn_only=warn_only)

    real(True, warn_only=False)
    fill(False)
    core._set_deterministic_algorithms = named_like(set_algorithms, real)
    active.touched("deterministic", what, True)


def _said(mode: Any, warn_only: Any) -> str:
    return "%s, warn_only=True" % bool(mode) if mode and warn_only else str(bool(mode))


def _filling(torch: Any) -> Callable[[bool], None]:
    """Stop deterministic mode from filling new memory with NaN, because `fill-memory` does that.

    `fill(True)` switches the filling on again, once. If the script sets it itself, its value stays.
    """
    core = torch._C
    if not hasattr(core, "_set_deterministic_fill_uninitialized_memory"):
        return lambda restore: None
    real, before = (
        core._set_deterministic_fill_uninitialized_memory,
        [core._get_deterministic_fill_uninitialized_memory()],
    )

    def set_fill(mode: Any) -> Any:
        before.clear()
        return real(mode)

    core._set_deterministic_fill_uninitialized_memory = named_like(set_fill, real)

    def fill(restore: bool) -> None:
        if not restore:
            real(False)
        elif before:
            real(before.pop())

    return fill


def _flag(torch: Any, active: Any, backend: str, name: str, wanted: bool) -> None:
    """Set a flag of `torch.backends`, and guard it.

    The script may set it as an attribute or through `flags`.
    """
    # `torch.backends.cudnn.deterministic` is a `ContextProp` of the class of that module: it keeps
    # the setter of C++ that it was made with, and `flags` calls the one of `torch._C`. Both are
    # replaced.
    function, what = "_set_%s_%s" % (backend, name), "torch.backends.%s.%s" % (backend, name)
    real = getattr(torch._C, function)
    real(wanted)
    setter = guarded(active, "deterministic", what, real, wanted)
    setattr(torch._C, function, setter)
    attribute = vars(type(getattr(torch.backends, backend))).get(name)
    if getattr(attribute, "setter", None) is not None:
        attribute.setter = setter
    active.touched("deterministic", what, wanted)


def _inductor(active: Any, config: Any) -> None:
    with active.trying("deterministic", "in compiled code"):
        # what `torch.use_deterministic_algorithms` sets there, in the versions that have it
        if not getattr(config, "deterministic", True):
            config.deterministic = True
            active.touched("deterministic", "torch._inductor.config.deterministic", True)


def _npu(torch: Any, active: Any, module: Any) -> None:
    """Set torch's deterministic flag again after the import of torch_npu, which reads the flag."""
    where = "torch_npu %s" % getattr(module, "__version__", "?")
    with active.trying("deterministic", where):
        if not torch.are_deterministic_algorithms_enabled():
            torch._C._set_deterministic_algorithms(True)
        what = "torch.use_deterministic_algorithms, read by torch_npu"
        active.touched("deterministic", what, True)


def single_thread(torch: Any, active: Any) -> None:
    """Set one thread inside operators and one thread between operators."""
    torch.set_num_threads(1)
    active.touched("single-thread", "torch.set_num_threads", 1)
    setter = guarded(active, "single-thread", "torch.set_num_threads", torch.set_num_threads, 1)
    torch.set_num_threads = torch._C.set_num_threads = setter
    _between_operators(torch, active)


def _between_operators(torch: Any, active: Any) -> None:
    """Set the number of threads between operators, and replace the script's later call.

    PyTorch accepts this number once a process, so the script's own call would raise an error. The
    replaced call is reported.
    """
    what = "torch.set_num_interop_threads"
    real = torch.set_num_interop_threads
    try:
        real(1)
    except RuntimeError as error:
        active.unavailable("single-thread", "between operators: %s" % error)
        return
    active.touched("single-thread", what, 1, setting=True)

    def set_num_interop_threads(number: Any) -> None:
        if number != 1:
            active.overridden("single-thread", what, number, 1)

    new = named_like(set_num_interop_threads, real)
    torch.set_num_interop_threads = torch._C.set_num_interop_threads = new


def no_compile(torch: Any, active: Any) -> None:
    """Let `torch.compile` return code uncompiled.

    The environment variable is set before the process starts; this also works if the script removed
    it.
    """

    def compiling(real: Any) -> Any:
        def compile(*args: Any, **kwargs: Any) -> Any:
            active.touched("no-compile", "torch.compile")
            compiled = real(*args, **kwargs)
            _still_off(torch, active)
            return compiled

        return compile

    replace(torch, "compile", compiling)
    import_hook.when_imported("torch._dynamo.config", lambda config: _switch_off(active, config))


def _switch_off(active: Any, config: Any) -> None:
    what = "torch._dynamo.config.disable"
    with active.trying("no-compile", what):
        config.disable = True
        active.touched("no-compile", what, True)


def _still_off(torch: Any, active: Any) -> None:
    """Report that the script has switched the compiler on again."""
    config: Any = sys.modules.get("torch._dynamo.config")
    if getattr(config, "disable", True):  # on, not imported yet, or a version without it
        return
    if active.override:
        active.overridden("no-compile", "torch._dynamo.config.disable", False, True)
        config.disable = True
    else:
        active.conflict("no-compile", "torch._dynamo.config.disable", False, True)
