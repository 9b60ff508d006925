"""What somebody would put into a page to run a script there, or to learn that it was opened."""

from __future__ import annotations

from pathlib import Path
from typing import Any

_ELSEWHERE = "http://127.0.0.1:9"
_SCRIPTS = """
<script>window.ran = "a script"</script>
<script src="data:text/javascript,window.ran='data'"></script>
<img src="data:image/png;base64,AA==" onerror="window.ran = 'a handler'">
<svg onload="window.ran = 'a drawing'"></svg>
<details open ontoggle="window.ran = 'a toggle'"><summary>x</summary></details>
<iframe srcdoc="<script>parent.ran = 'a frame'</script>"></iframe>
<a id="smuggled" href="javascript:void(window.ran = 'a link')">x</a>
"""
_REQUESTS = f"""
<script src="{_ELSEWHERE}/x.js"></script><img src="{_ELSEWHERE}/x.png">
<link rel="stylesheet" href="{_ELSEWHERE}/x.css"><style>@import url({_ELSEWHERE}/y.css);</style>
<iframe src="{_ELSEWHERE}/x.html"></iframe><object data="{_ELSEWHERE}/x.swf"></object>
<video src="{_ELSEWHERE}/x.mp4"></video>
"""


def smuggled(page: Path, target: Path) -> Path:
    """A page with all of it, as if none of our escaping had worked."""
    text = page.read_text()
    assert "</body>" in text
    target.write_text(text.replace("</body>", f"{_SCRIPTS}{_REQUESTS}</body>"))
    return target


def ran_and_sent(browser: Any, url: str) -> tuple[object, list[str]]:
    """What ran in a page, and what it asked for: nothing, where its policy holds."""
    page = browser.new_page()
    sent: list[str] = []

    def failed(request: Any) -> None:
        if request.failure != "csp":
            sent.append(f"{request.url}: {request.failure}")

    page.on("requestfailed", failed)
    page.goto(url)
    page.evaluate("document.getElementById('smuggled').click()")
    ran = page.evaluate("window.ran ?? null")
    page.close()
    return ran, sent
