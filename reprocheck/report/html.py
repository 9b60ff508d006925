"""Draw blocks as HTML: one offline file.

Its scripts are inlined and named by their hash in the content security policy; nothing is fetched.
"""

from __future__ import annotations

import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from hashlib import sha256
from html import unescape
from importlib import resources
from typing import TYPE_CHECKING, Any

from reprocheck.language import count, tag, tr
from reprocheck.model.verdict import Tone
from reprocheck.report.blocks import Block, Report
from reprocheck.report.page_charts import DASHES
from reprocheck.report.text import fact, line, moment, origin

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

SIGNS: Mapping[Tone, str] = {"good": "✓", "unsure": "?", "bad": "≠", "failed": "!"}


def render(report: Report, issue: str, *, data: Mapping[str, Any] | None = None) -> bytes:
    """Return the page, in UTF-8.

    issue   the text that its copy button copies
    data    the data of the charts that can be zoomed; None if none can
    """
    from markupsafe import Markup

    scripts = _scripts(live=data is not None)
    text = environment().get_template("page.html").render(
        report=report,
        sign=SIGNS[report.tone],
        issue=issue,
        data=None if data is None else Markup(_script_json(data)),
        policy=policy(scripts),
        styles=list(map(Markup, _styles(live=data is not None))),
        scripts=list(map(Markup, scripts)),
    )  # fmt: skip
    return text.encode("utf-8", "replace")


def _script_json(data: Mapping[str, Any]) -> str:
    """Return JSON escaped so that it cannot end the script element around it."""
    text = json.dumps(data, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _styles(*, live: bool) -> list[str]:
    own = source("templates/report.css")
    return [source("vendor/uplot/uPlot.min.css"), own] if live else [own]


def _scripts(*, live: bool) -> list[str]:
    """Return the scripts of a page, each as it stands in an element of its own."""
    copy = source("templates/copy.js")
    if not live:
        return [copy]
    return [source("vendor/uplot/uPlot.iife.min.js"), source("templates/report.js") + copy]


def runs_no_other_script(page: bytes) -> bool:
    """Return whether a page begins as those of `render` do, up to its content policy.

    The policy lets it run the scripts of this version alone. So does no page of another version.
    """
    beginning = _BEGINNING.match(page)
    if beginning is None:
        return False
    declared = unescape(beginning[1].decode("ascii", "replace"))
    return declared in (policy(_scripts(live=True)), policy(_scripts(live=False)))


_BEGINNING = re.compile(
    rb'\s*<!doctype html>\s*<html lang="[\w-]{1,20}">\s*<head>\s*<meta charset="utf-8">\s*'
    rb'<meta http-equiv="Content-Security-Policy" content="([^"<>]{1,2000})">'
)
"""What stands before the first element that could run anything."""


def policy(scripts: Sequence[str]) -> str:
    """Return the content security policy that allows these scripts and nothing from outside."""
    hashes = " ".join(
        f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'" for script in scripts
    )
    return (
        f"default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {hashes};"
        " base-uri 'none'; form-action 'none'"
    )


@cache
def environment() -> Environment:
    """Return the template environment: autoescape on, an undefined name is an error."""
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    templates = Environment(
        loader=FunctionLoader(lambda name: source(f"templates/{name}")),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters.update(line=line, prose=_prose, fact=fact, moment=moment, html=_html)
    templates.filters.update(rung_id=rung_id, origin=origin)
    templates.globals.update(count=count, tag=tag, tr=tr, DASHES=DASHES)
    return templates


def ready() -> None:
    """Import jinja2 and compile the templates."""
    for name in ("page.html", "blocks.html"):
        environment().get_template(name)


def _html(block: Block) -> Markup:
    """Return a block as HTML: by the macro of `blocks.html` that has the name of its class."""
    from markupsafe import Markup

    macros = environment().get_template("blocks.html").module
    return Markup(getattr(macros, type(block).__name__)(block))


def rung_id(name: str) -> str:
    """Return the place of a rung on the page."""
    return f"rung-{name.replace(' ', '-')}"


def _prose(text: str) -> Markup:
    """Return a sentence escaped for HTML, with text between backticks as code."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(line(text)))))


@cache
def source(name: str) -> str:
    return resources.files("reprocheck.report").joinpath(name).read_text("utf-8")
