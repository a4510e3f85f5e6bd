"""Chromium without a window, driven over its DevTools protocol."""

from __future__ import annotations

import base64
import contextlib
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from typing import TYPE_CHECKING, Any

import pytest
from websockets.sync.client import ClientConnection, connect

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE_S = 60.0
"""For one step on a busy machine; on an idle one each takes milliseconds."""


@contextlib.contextmanager
def started(profile: Path) -> Iterator[Browser]:
    """Start Chromium; end all of its processes afterwards."""
    program = shutil.which("chromium")
    if program is None:
        missing = "no chromium here; apt-get install chromium brings it"
        if os.geteuid() == 0:
            pytest.fail(missing)
        pytest.skip(missing)
    words = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-breakpad"]
    words += ["--no-first-run", "--disable-background-networking", "--remote-debugging-port=0"]
    process = subprocess.Popen(
        [program, *words, f"--user-data-dir={profile}", "about:blank"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        port = _port(profile, process)
        with urllib.request.urlopen(
            f"http://127.0.0.1:{port}/json/list", timeout=PATIENCE_S
        ) as answer:
            (target,) = [one for one in json.load(answer) if one["type"] == "page"]
        with connect(target["webSocketDebuggerUrl"], max_size=None, proxy=None) as connection:
            browser = Browser(connection)
            for domain in ("Page", "Runtime", "DOM", "Log", "Network"):
                browser.send(f"{domain}.enable")
            yield browser
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _port(profile: Path, process: subprocess.Popen[bytes]) -> int:
    file = profile / "DevToolsActivePort"
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit:
        assert process.poll() is None, "chromium has ended"
        if file.exists() and file.read_text().strip():
            return int(file.read_text().split("\n")[0])
        time.sleep(0.05)
    raise AssertionError("chromium did not open its port")


class Browser:
    """One page of a browser.

    Args:
        connection: The websocket of its DevTools.
    """

    def __init__(self, connection: ClientConnection) -> None:
        self._connection = connection
        self._number = 0
        self.complaints: list[str] = []
        """Errors of scripts, and of the content security policy."""
        self.asked: list[str] = []
        """Addresses that were asked for."""

    def send(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Send a command, and return its result."""
        self._number += 1
        number = self._number
        self._connection.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._connection.recv(timeout=PATIENCE_S))
            if message.get("id") == number:
                assert "error" not in message, (method, message["error"])
                result: dict[str, Any] = message["result"]
                return result
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        method, facts = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            details = facts["exceptionDetails"]
            thrown = details.get("exception", {}).get("description", "")
            self.complaints.append(f"{details['text']} {thrown}")
        elif method == "Log.entryAdded" and facts["entry"]["level"] == "error":
            self.complaints.append(f"{facts['entry']['text']} {facts['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.asked.append(facts["request"]["url"])

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        """Set the size of the window, and which colours its user prefers."""
        self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])

    def open(self, url: str) -> None:
        """Go to an address."""
        self.send("Page.navigate", url=url)

    def evaluate(self, code: str) -> Any:
        """Return the value of an expression in the page; promises are awaited."""
        answer = self.send(
            "Runtime.evaluate", expression=code, awaitPromise=True, returnByValue=True
        )
        assert "exceptionDetails" not in answer, (code, answer["exceptionDetails"])
        return answer["result"].get("value")

    def wait(self, code: str) -> Any:
        """Wait until an expression is true, and return its value."""
        limit = time.monotonic() + PATIENCE_S
        while time.monotonic() < limit:
            # While a page loads, there may be nothing to ask.
            with contextlib.suppress(AssertionError):
                value = self.evaluate(code)
                if value:
                    return value
            time.sleep(0.05)
        text = self.evaluate("document.body.innerText")
        raise AssertionError(f"never true: {code}\n{text}\n{self.complaints}")

    def text(self, selector: str) -> str:
        """Wait for an element, and return its text."""
        found = json.dumps(selector)
        self.wait(f"document.querySelector({found}) !== null")
        return str(self.evaluate(f"document.querySelector({found}).innerText"))

    def click(self, selector: str, text: str = "") -> None:
        """Click on the first element that has the selector, and the text."""
        which = (
            f"[...document.querySelectorAll({json.dumps(selector)})]"
            f".find((e) => e.innerText.includes({json.dumps(text)}) && !e.disabled)"
        )
        self.wait(f"{which} !== undefined")
        self.evaluate(f"{which}.click()")

    def type(self, text: str) -> None:
        """Type text into what has the focus."""
        self.send("Input.insertText", text=text)

    def press(self, key: str, code: int, *, shift: bool = False, control: bool = False) -> None:
        """Press a key.

        Args:
            key: Its name, as ``KeyboardEvent.key`` has it.
            code: Its number on Windows.
            shift: Whether Shift is held.
            control: Whether Ctrl is held.
        """
        facts: dict[str, Any] = {
            "key": key,
            "windowsVirtualKeyCode": code,
            "modifiers": 8 * shift + 2 * control,
        }
        if key == "Enter" and not shift:
            facts["text"] = "\r"
        self.send("Input.dispatchKeyEvent", type="keyDown", **facts)
        self.send("Input.dispatchKeyEvent", type="keyUp", **facts)

    def choose_files(self, selector: str, *paths: Path) -> None:
        """Give files to a file input."""
        root = self.send("DOM.getDocument")["root"]["nodeId"]
        node = self.send("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.send("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def picture(self) -> bytes:
        """Return what the window shows, as PNG."""
        return base64.b64decode(self.send("Page.captureScreenshot", format="png")["data"])
