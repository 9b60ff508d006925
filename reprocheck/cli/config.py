"""`reprocheck config`: each setting, its value, and where the value comes from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from reprocheck.cli.parameters import option, with_settings
from reprocheck.errors import UsageError
from reprocheck.settings import OPTIONS

_ORIGIN_STYLES = {"default": "dim"}


@with_settings(*(option.name for option in OPTIONS))
def config(
    flags: dict[str, object],
    format: Annotated[
        str,
        option("--format", metavar="text|json", help="How to print the settings. [text]"),
    ] = "text",
) -> int:
    """Print the settings that hold here; with flags, those that `run` would use with them."""
    import json

    from reprocheck import settings
    from reprocheck.cli.terminal import standard_output

    if format not in ("text", "json"):
        raise UsageError(f"--format {format}: config has no such format.", "Take text or json.")
    held = settings.load(flags, Path.cwd())
    out = standard_output(held.color)
    if format == "json":
        rows = {
            setting.name: {"value": setting.value, "origin": setting.origin}
            for setting in held.provenance
        }
        out.line(json.dumps(rows, indent=2))
        return 0
    names = max(len(known.key) for known in OPTIONS)
    values = max(len(_shown(setting.value)) for setting in held.provenance)
    for known, setting in zip(OPTIONS, held.provenance, strict=True):
        row = f"{known.key:<{names}}  {_shown(setting.value):<{values}}  "
        style = _ORIGIN_STYLES.get(setting.origin, "bold")
        out.line(out.joined(row, (setting.origin, style)))
    return 0


def _shown(value: object) -> str:
    if value is None:
        return "not set"
    if isinstance(value, bool):
        return str(value).lower()
    return str(value)
