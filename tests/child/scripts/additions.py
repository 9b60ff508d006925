"""Says what a process shows of itself that a recorder could add; and what stands in the place of functions of packages that are named."""

# ruff: noqa: E402 - the modules are listed before any other is imported
import sys

early = sorted(sys.modules)

import atexit
import importlib
import json
import os
import types


def from_the_recorder(value):
    if str(type.__getattribute__(type(value), "__dict__").get("__module__")).startswith("reprocheck_child"):
        return True
    if isinstance(value, (types.MethodType, staticmethod, classmethod)):
        value = value.__func__
    return isinstance(value, types.FunctionType) and "reprocheck_child" in value.__code__.co_filename


def replaced(package):
    for name, module in list(sys.modules.items()):
        if module is None or name.partition(".")[0] != package:
            continue
        for attribute, value in list(vars(module).items()):
            place = name + "." + attribute
            if isinstance(value, type):
                if vars(value).get("__module__") == name:
                    yield from (place + "." + key for key, held in list(vars(value).items()) if from_the_recorder(held))
            elif from_the_recorder(value) or (isinstance(value, dict) and any(from_the_recorder(held) for held in list(value.values()))):
                yield place


seen = {
    "modules": early,
    "finders": [type(finder).__module__ + "." + type(finder).__name__ for finder in sys.meta_path if not isinstance(finder, type)],
    "path": sys.path,
    "atexit": atexit._ncallbacks(),
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")),
    "environment": sorted(os.environ),
}
for package in sys.argv[2:]:
    importlib.import_module(package)
for package in sys.argv[2:]:
    seen[package] = sorted(replaced(package.partition(".")[0]))
with open(sys.argv[1], "w") as file:
    json.dump(seen, file)
