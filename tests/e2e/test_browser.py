"""A report's page in a real browser: it is laid out without sideways scrolling and loads nothing."""

import json
import re
import shutil
import subprocess

import pytest

from verifiable_dp.api import evidence
from verifiable_dp.campaign import errata
from verifiable_dp.reporting.page import render_errata, render_index

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="no chromium on this machine")

PROBE = """<script>
addEventListener("load", () => {
  const width = document.documentElement.clientWidth;
  const wide = [...document.querySelectorAll("body *")].filter((e) => {
    for (let p = e; p; p = p.parentElement) {
      if (getComputedStyle(p).overflowX === "auto" || p.tagName === "svg") return false;
    }
    return e.getBoundingClientRect().right > width + 1;
  });
  const found = {
    width,
    scroll: document.documentElement.scrollWidth,
    wide: wide.map((e) => e.tagName + "." + e.className),
    plots: [...document.querySelectorAll("svg")].map((e) => e.getBoundingClientRect().height),
    loaded: performance.getEntriesByType("resource").map((e) => e.name),
    headings: [...document.querySelectorAll("h1, h2")].map((e) => e.textContent),
  };
  parent.postMessage(JSON.stringify(found), "*");
});
</script>"""
# A window of a browser has a least width; a frame has none.
FRAME = """<body><iframe src="page.html" width="{width}" height="900"></iframe><pre id="found"></pre><script>
addEventListener("message", (e) => {{ document.getElementById("found").textContent = e.data; }});
</script></body>"""


@pytest.fixture(scope="module")
def pages():
    report = evidence("nas")
    rows = errata(["tree-budget", "local-rate", "good-event", "central-sensitivity"])
    return {
        "record": report.to_html(),
        "index": render_index([report.record], ["nas/record.html"], rows["errata"]),
        "errata": render_errata(rows),
    }


def measure(page, width, folder):
    (folder / "page.html").write_text(page.replace("</body>", PROBE + "</body>"), "utf-8")
    path = folder / "frame.html"
    path.write_text(FRAME.format(width=width), "utf-8")
    done = subprocess.run(
        [
            *(CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
            *(f"--user-data-dir={folder / 'profile'}", "--window-size=1600,1000"),
            *("--virtual-time-budget=4000", "--dump-dom", path.as_uri()),
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    found = re.search(r'<pre id="found">(.+?)</pre>', done.stdout, re.DOTALL)
    assert found, done.stderr[-2000:]
    text = found[1].replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">")
    return json.loads(text)


@needs_browser
@pytest.mark.parametrize("which", ["record", "index", "errata"])
@pytest.mark.parametrize("width", [360, 1440])
def test_the_page_fits_its_window(pages, which, width, tmp_path):
    found = measure(pages[which], width, tmp_path)
    assert found["width"] <= width
    assert found["scroll"] <= found["width"]
    assert found["wide"] == []
    assert found["loaded"] == []
    assert found["headings"]
    assert all(height > 50 for height in found["plots"])


@needs_browser
def test_a_page_that_is_too_wide_is_told_apart(pages, tmp_path):
    broken = pages["record"].replace("<body>", '<body><div style="width:3000px">wide</div>')
    assert broken != pages["record"]
    assert measure(broken, 1440, tmp_path)["wide"]
