"""Chromium without a window, driven through its debugging pipe: no driver program and no port."""

import base64
import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import time
from contextlib import suppress
from pathlib import Path

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_FLAGS = (
    *("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run"),
    *("--disable-extensions", "--disable-background-networking", "--disable-component-update"),
    *("--hide-scrollbars", "--remote-debugging-pipe"),
)
_PATIENCE = 300.0  # seconds for an answer: with other processes, axe takes more than one minute on long pages


class Chromium:
    """A browser with one tab. What pages say and ask for is kept in `console` and `requests`."""

    def __init__(self, profile):
        to_browser, self._write = _pipe()
        self._read, from_browser = _pipe()

        def wire():  # the browser reads commands from 3 and answers on 4
            os.dup2(to_browser, 3)
            os.dup2(from_browser, 4)

        self._process = subprocess.Popen(
            [CHROMIUM, *_FLAGS, f"--user-data-dir={profile}", "about:blank"],
            preexec_fn=wire,
            pass_fds=(3, 4),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(to_browser)
        os.close(from_browser)
        self._buffer, self._last, self._events = b"", 0, []
        self.console, self.requests = [], []
        target = self._send("Target.createTarget", url="about:blank")["targetId"]
        self._session = None
        self._session = self._send("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._send(f"{domain}.enable")

    def close(self):
        """End the browser."""
        with suppress(OSError):
            os.close(self._write)
        self._process.terminate()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        os.close(self._read)

    def look(self, width, *, height=900, scheme="light", media="screen"):
        """Size of the window in CSS pixels, colour scheme, and what the page is shown on."""
        size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self._send("Emulation.setDeviceMetricsOverride", **size)
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        self._send("Emulation.setEmulatedMedia", media=media, features=features)

    def open(self, path, fragment=""):
        """Load a file; the seconds until it was loaded."""
        self._send("Page.navigate", url="about:blank")
        self._wait("Page.loadEventFired")
        self.console.clear()
        self.requests.clear()
        self._events.clear()
        begun = time.perf_counter()
        self._send("Page.navigate", url=Path(path).resolve().as_uri() + fragment)
        self._wait("Page.loadEventFired")
        return time.perf_counter() - begun

    def run(self, script):
        """Value of an expression in the page; a promise is waited for."""
        found = self._send("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in found:
            raise RuntimeError(json.dumps(found["exceptionDetails"])[:2000])
        return found["result"].get("value")

    def picture(self, path):
        """Save what is seen, for people."""
        found = self._send("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(found["data"]))

    def sheets(self):
        """On how many sheets the page is printed."""
        self.look(720, media="print")
        found = self._send("Page.printToPDF", preferCSSPageSize=True)
        return len(re.findall(rb"/Type\s*/Page\b", base64.b64decode(found["data"])))

    def _send(self, method, **parameters):
        self._last += 1
        message = {"id": self._last, "method": method, "params": parameters}
        if getattr(self, "_session", None):
            message["sessionId"] = self._session
        os.write(self._write, json.dumps(message).encode() + b"\0")
        wanted = self._last
        while True:
            answer = self._next()
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)

    def _wait(self, method):
        while method not in self._events:
            self._note(self._next())
        self._events.remove(method)

    def _next(self):
        until = time.monotonic() + _PATIENCE
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._read], [], [], max(0.0, until - time.monotonic()))
            part = os.read(self._read, 1 << 20) if ready else b""
            if not part:
                raise TimeoutError("the browser does not answer")
            self._buffer += part
        text, _, self._buffer = self._buffer.partition(b"\0")
        return json.loads(text)

    def _note(self, event):
        method, found = event.get("method", ""), event.get("params", {})
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            self.console.append(json.dumps(found["exceptionDetails"])[:500])
        elif method == "Runtime.consoleAPICalled" and found["type"] in ("error", "warning", "assert"):
            self.console.append(json.dumps(found["args"])[:500])
        elif method == "Log.entryAdded" and found["entry"]["level"] in ("error", "warning"):
            self.console.append(found["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(found["request"]["url"])


def _pipe():
    """Ends of a pipe, numbered so that those of the browser are free."""
    ends = os.pipe()
    high = [fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends]
    for end in ends:
        os.close(end)
    return high
