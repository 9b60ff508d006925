"""Stops the deeper recording of level `auto` when code is compiled, exported or captured.

Hooks would become part of the compiled code, or be left out of the compiled code.
"""

from typing import Any

from ...recorder import import_hook

COMPILED = "%s was called"


def watch(torch: Any, hooks: Any, first: Any) -> None:
    """Call `first`, which leaves the deeper level, before any compiler, export or capture runs."""

    def leave_before(owner: Any, name: str, what: str) -> None:
        if hasattr(owner, name):
            why = COMPILED % what

            def before(*args: Any, **kwargs: Any) -> None:
                first.leave(why)

            hooks.around(owner, name, "before " + what, before=before)

    leave_before(torch, "compile", "torch.compile")

    def watch_compiler(module: str, name: str) -> None:
        what = module + "." + name
        import_hook.when_imported(module, lambda loaded: leave_before(loaded, name, what))

    # modules and functions in them that compile, beside `torch.compile`; loaded by the first use
    for module, name in (
        ("torch._dynamo", "optimize"),  # what scripts of the time of 2.0 call
        ("torch.export", "export"),
    ):
        watch_compiler(module, name)

    def watch_graphs(backend: str) -> None:
        for graph in ("CUDAGraph", "XPUGraph", "NPUGraph"):
            kind = getattr(getattr(torch, backend, None), graph, None)
            leave_before(kind, "capture_begin", "torch.%s.%s" % (backend, graph))

    watch_graphs("cuda")
    watch_graphs("xpu")
    import_hook.when_imported("torch_npu", lambda loaded: watch_graphs("npu"))
