"""What axe-core objects to on a page, in every theme and width that readers have."""

from __future__ import annotations

from typing import Any

SCHEMES = ("light", "dark")
ALL: dict[str, object] = {}
LOOKS: dict[str, object] = {
    "runOnly": [
        "color-contrast",
        "link-in-text-block",
        "scrollable-region-focusable",
        "target-size",
    ]
}
"""Rules whose outcome depends on colours and sizes. All others read the document, which is the same
in every view.
"""
VIEWS = (("light", 1280, ALL), ("dark", 390, LOOKS))
"""Colours depend on the theme alone and sizes on the width alone: two views have all of them."""
_RUN = "(rules) => axe.run({ ...rules, resultTypes: ['violations'] })"


def objections(page: Any) -> dict[str, list[str]]:
    """The violations of an open page, by theme, width and rule: the elements.

    Everything is unfolded. `page` was opened with `bypass_csp`: the policy of a page keeps out what
    axe brings along.
    """
    # here: tests without a browser are collected where axe is not installed
    from axe_playwright_python.base import AXE_SCRIPT

    page.evaluate(AXE_SCRIPT)
    page.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true })")
    found = {}
    for scheme, width, rules in VIEWS:
        page.emulate_media(color_scheme=scheme)
        page.set_viewport_size({"width": width, "height": 900})
        result = page.evaluate(_RUN, rules)
        assert len(result["passes"]) > (1 if rules else 20), "axe looked at next to nothing"
        for rule in result["violations"]:
            targets = [str(node["target"][0]) for node in rule["nodes"]]
            found[f"{scheme}, {width}: {rule['id']}"] = targets
    return found
