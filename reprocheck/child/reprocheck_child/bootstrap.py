"""Start of the recorder in a process: settings of the run, the recorder, hooks that wait for a framework's import, files opened."""

from __future__ import annotations

import atexit
import os

from . import events, files, import_hook, jsontext

FRAMEWORKS = {
    "torch": "reprocheck_child.frameworks.torch",
    "mindspore": "reprocheck_child.frameworks.mindspore",
}
"""Top-level module whose import triggers an adapter, and the adapter's module."""

STAND_IN = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "standin", "reprocheck.py")


def start(folder: str) -> None:
    """Record this process into `folder`; raises OSError or ValueError where the folder does not hold the settings of a run."""
    with open(os.path.join(folder, "recorder.json"), encoding="utf-8") as file:
        settings = jsontext.loads(file.read())
    recorder = events.Recorder(folder, settings)
    events.CURRENT = recorder
    recorder.hello("start")
    for trigger, adapter in FRAMEWORKS.items():
        import_hook.when_imported(trigger, _installer(recorder, trigger, adapter))
    import_hook.provide("reprocheck", STAND_IN)
    import_hook.install()
    files.watch(recorder, settings)
    os.register_at_fork(after_in_child=recorder.forked)
    atexit.register(recorder.ended)


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
