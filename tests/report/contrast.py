"""The contrast of what a page says with the ground that it stands on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

_RATIOS = """(selectors) => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const linear = (v) => (v / 255 <= .04045 ? v / 255 / 12.92 : ((v / 255 + .055) / 1.055) ** 2.4);
  const light = ([r, g, b]) => .2126 * linear(r) + .7152 * linear(g) + .0722 * linear(b);
  const ground = (node) => {
    for (; node; node = node.parentElement) {
      const colour = parse(getComputedStyle(node).backgroundColor);
      if (colour.length < 4 || colour[3] > .99) return colour;
    }
    return [255, 255, 255];
  };
  const seen = {};
  for (const selector of selectors) {
    const node = document.querySelector(selector);
    const a = light(parse(getComputedStyle(node).color)), b = light(ground(node));
    seen[selector] = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  }
  return seen;
}"""


def contrast(page: Any, selectors: Sequence[str]) -> dict[str, float]:
    """The ratio of WCAG for the first element of each selector."""
    found: dict[str, float] = page.evaluate(_RATIOS, list(selectors))
    return found
