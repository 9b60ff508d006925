"""Start of the recorder in a process: settings of the run, the recorder, hooks that wait for a framework's import, files opened."""

from __future__ import annotations

import atexit
import os

from . import events, files, import_hook, jsontext

TYPE_CHECKING = False  # importing `typing` would cost each process 10 ms
if TYPE_CHECKING:
    from typing import Any, Mapping

FRAMEWORKS = {
    "torch": "reprocheck_child.frameworks.torch.losses",
    "mindspore": "reprocheck_child.frameworks.mindspore.losses",
    "jax": "reprocheck_child.frameworks.jax.losses",
    "tensorflow": "reprocheck_child.frameworks.tensorflow.losses",
    "keras": "reprocheck_child.frameworks.keras.losses",
}
"""Top-level module whose import triggers an adapter, and the adapter's module."""

FRAMEWORK_CONTROLS = {
    "torch": "reprocheck_child.frameworks.torch.controls",
    "mindspore": "reprocheck_child.frameworks.mindspore.controls",
    "jax": "reprocheck_child.frameworks.jax.controls",
    "tensorflow": "reprocheck_child.frameworks.tensorflow.controls",
    "keras": "reprocheck_child.frameworks.keras.controls",
}
"""Likewise, and the module whose `install(module, active)` puts the controls of the run in place there, before the adapter."""

STAND_IN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standin", "reprocheck.py")


def start(folder: str) -> None:
    """Record this process into `folder`; raises OSError or ValueError where the folder does not hold the settings of a run."""
    with open(os.path.join(folder, "recorder.json"), encoding="utf-8") as file:
        settings = jsontext.loads(file.read())
    recorder = events.Recorder(folder, settings)
    events.CURRENT = recorder
    recorder.hello("start")
    os.register_at_fork(after_in_child=recorder.forked)
    if settings.get("portable"):
        from . import hashing

        hashing.take_portable()
    if settings.get("controls"):
        _start_controls(recorder, settings)
    for trigger, adapter in FRAMEWORKS.items():
        import_hook.when_imported(trigger, _installer(recorder, trigger, adapter))
    import_hook.provide("reprocheck", STAND_IN)
    import_hook.install()
    files.watch(recorder, settings)
    atexit.register(recorder.ended)


def _start_controls(recorder: events.Recorder, settings: Mapping[str, Any]) -> None:
    """Controls act before anything that is imported later: their own modules are loaded only here."""
    try:
        from . import controls

        active = controls.start(recorder, settings)
    except Exception as error:
        recorder.problem("starting the controls", error)
        return
    for trigger, module in FRAMEWORK_CONTROLS.items():
        import_hook.when_imported(trigger, _controller(active, trigger, module))


def _controller(active: Any, name: str, controls: str) -> import_hook.Callback:
    def install(module: object) -> None:
        try:
            from importlib import import_module

            import_module(controls).install(module, active)
        except Exception as error:
            active.recorder.problem("installing the controls for " + name, error)

    return install


def _installer(recorder: events.Recorder, name: str, adapter: str) -> import_hook.Callback:
    def install(module: object) -> None:
        try:
            from importlib import import_module

            hooks = import_module(adapter).install(module, recorder)
        except Exception as error:
            recorder.problem("installing the hooks for " + name, error)
            hooks = {"install": repr(error)}
        recorder.emit({"e": "framework", "name": name, "version": str(getattr(module, "__version__", "?")), "hooks": hooks})

    return install
