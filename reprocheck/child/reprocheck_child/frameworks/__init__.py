"""Adapters: a folder a framework, installed when the script first imports it.

`losses` holds the adapter: NAME, MINIMUM (oldest version whose hooks are known to work) and
`install(module, recorder)`, which returns {hook: "ok" or what is missing}. It loads `deep` where a
run records more than its losses. `controls` has `install(module, active)`.
"""
