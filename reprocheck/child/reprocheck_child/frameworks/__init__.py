"""Adapters: one module a framework, installed when the script first imports it.

Each has NAME, MINIMUM (oldest version whose hooks are known to work) and `install(module, recorder) -> {hook: "ok" or what is missing}`.
"""
