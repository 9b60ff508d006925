"""Renderers: a check -> bytes.

One table of formats; numpy, jinja2, and matplotlib for pictures, are imported on first use.

    FORMATS              name -> Format(name, filename, render(check) -> bytes)
    write(check, folder) all of them into a folder, or those of some names
    names(check, draw)   those that the setting `draw` asks for
    to_json(check)       report.json as a dictionary
    next_command(check)  (why, command) to type next
    warm_up()            load what drawing needs

Imports reprocheck.model, reprocheck.rules, reprocheck.controls and reprocheck.errors only.
"""

from __future__ import annotations

from reprocheck.report.document import to_json
from reprocheck.report.formats import FORMATS, Format, names, warm_up, write
from reprocheck.report.next_step import next_command

__all__ = ["FORMATS", "Format", "names", "next_command", "to_json", "warm_up", "write"]
