"""Start of the recorder in a process: settings of the run, the recorder, hooks that wait for a
framework's import, files opened.
"""

from __future__ import annotations

import atexit
import os

from . import events, files, import_hook, jsontext, loaders, savers

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

OLDEST = {
    "torch": (2, 0),
    "mindspore": (2, 2),
    "tensorflow": (2, 16),
    "keras": (3, 0),
    "jax": (0, 4, 30),
}
"""The first version of a framework that its adapter knows; an older one is left alone."""

FRAMEWORK_CONTROLS = {
    "torch": "reprocheck_child.frameworks.torch.controls",
    "mindspore": "reprocheck_child.frameworks.mindspore.controls",
    "jax": "reprocheck_child.frameworks.jax.controls",
    "tensorflow": "reprocheck_child.frameworks.tensorflow.controls",
    "keras": "reprocheck_child.frameworks.keras.controls",
}
"""Likewise, and the module whose `install(module, active)` puts the controls of the run in place
there, before the adapter.
"""

STAND_IN = os.path.join(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standin", "reprocheck.py"
)


def start(folder: str) -> None:
    """Record this process into `folder`; raises OSError or ValueError where the folder does not
    hold the settings of a run.
    """
    with open(os.path.join(folder, "recorder.json"), encoding="utf-8") as file:
        settings = jsontext.loads(file.read())
    recorder = events.Recorder(folder, settings)
    events.CURRENT = recorder
    recorder.hello("start")
    os.register_at_fork(before=recorder.forking, after_in_child=recorder.forked)
    if settings.get("portable"):
        from . import hashing

        hashing.take_portable()
    if settings.get("patched"):
        _start_patched(recorder, settings["patched"])
    if settings.get("controls"):
        _start_controls(recorder, settings)
    for trigger, adapter in FRAMEWORKS.items():
        import_hook.when_imported(trigger, _installer(recorder, trigger, adapter))
    import_hook.provide("reprocheck", STAND_IN)
    import_hook.install()
    files.watch(recorder, settings)
    loaders.install(recorder)
    savers.install(recorder)
    atexit.register(recorder.ended)


def _start_patched(recorder: events.Recorder, files: Mapping[str, str]) -> None:
    """A patch that is tried takes the place of files before the script is read."""
    try:
        from . import patched

        patched.start(recorder, files)
    except Exception as error:
        recorder.problem("putting the patch in place", error)


def _start_controls(recorder: events.Recorder, settings: Mapping[str, Any]) -> None:
    """Controls act before anything that is imported later: their own modules are loaded only
    here.
    """
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
        version = str(getattr(module, "__version__", "?"))
        if is_older(version, OLDEST.get(name, ())):
            said = (
                "%s %s is older than %s, the first that can be recorded: what"
                " `reprocheck.log_loss(value)` is given counts alone."
            )
            text = said % (name, version, ".".join(map(str, OLDEST[name])))
            recorder.emit({"e": "caveat", "code": "old-framework", "text": text})
            recorder.emit({"e": "framework", "name": name, "version": version, "hooks": {}})
            return
        try:
            from importlib import import_module

            hooks = import_module(adapter).install(module, recorder)
        except Exception as error:
            recorder.problem("installing the hooks for " + name, error)
            hooks = {"install": repr(error)}
        recorder.emit({"e": "framework", "name": name, "version": version, "hooks": hooks})

    return install


def is_older(version: str, oldest: tuple[int, ...]) -> bool:
    """Whether a version such as `2.13.0+cpu` comes before the oldest; one that cannot be read does
    not.
    """
    numbers: list[int] = []
    for part in version.split("+")[0].split(".")[: len(oldest)]:
        digits = part[: len(part) - len(part.lstrip("0123456789"))]
        if not digits:
            return False
        numbers.append(int(digits))
    return tuple(numbers) < oldest[: len(numbers)]
