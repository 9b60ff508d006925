"""From `[[tool.reprocheck.target]]` to targets.

    load(cwd)                   the suite of the nearest settings file upwards
    Suite.select(...)           targets by name, tag and shard
    missing(target)             what a target needs and does not find on this machine
    folder_name(name)           a target's name as the name of a folder

Errors are SettingsError, with the file and the key.
"""

from reprocheck.suite.targets.selection import folder_name, missing
from reprocheck.suite.targets.suite import Suite, load

__all__ = ["Suite", "folder_name", "load", "missing"]
