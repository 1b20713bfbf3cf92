"""Drives a headless Chromium over its pipe of the DevTools protocol: pages, keys, mouse, screenshots."""

import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

PATIENCE = 30  # seconds after which anything counts as hanging


class Browser:
    """One browser with one page. Console errors and uncaught exceptions of the page gather in `errors`; what it asked of
    the network in `requests`."""

    def __init__(self, width=1280, height=800):
        program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
        if not program:
            raise FileNotFoundError("chromium")
        self.profile = tempfile.mkdtemp(prefix="bide-browser-")
        to_browser, self._to = os.pipe()
        self._from, from_browser = os.pipe()

        def prepare():
            # The protocol's descriptors are 3 and 4; the pipes may have those numbers themselves.
            read, write = os.dup(to_browser), os.dup(from_browser)
            os.dup2(read, 3)
            os.dup2(write, 4)

        self.process = subprocess.Popen(
            [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-extensions", "--no-proxy-server",
             f"--user-data-dir={self.profile}", f"--window-size={width},{height}", "--remote-debugging-pipe", "about:blank"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            close_fds=False, preexec_fn=prepare)
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._next = 0
        self._session = None
        self.errors = []
        self.requests = []
        target = self._call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self._call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self._call(domain + ".enable")
        self._call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self.profile, ignore_errors=True)

    def _message(self, patience):
        end = time.monotonic() + patience
        while b"\0" not in self._buffer:
            ready, _, _ = select.select([self._from], [], [], max(0, end - time.monotonic()))
            if not ready:
                return None
            part = os.read(self._from, 1 << 20)
            if not part:
                raise AssertionError("the browser has ended")
            self._buffer += part
        text, self._buffer = self._buffer.split(b"\0", 1)
        return json.loads(text)

    def _note(self, message):
        method, parameters = message.get("method"), message.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.errors.append(str(parameters["exceptionDetails"].get("exception", {}).get("description", parameters)))
        elif method == "Log.entryAdded" and parameters["entry"]["level"] == "error":
            self.errors.append(parameters["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def _call(self, method, **parameters):
        self._next += 1
        message = {"id": self._next, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._message(PATIENCE)) is not None:
            if answer.get("id") == message["id"]:
                if "error" in answer:
                    raise AssertionError(f"{method}: {answer['error']}")
                return answer["result"]
            self._note(answer)
        raise AssertionError(f"{method} is not answered")

    def open(self, url):
        self._call("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")

    def run(self, script):
        """The value of an expression; a promise is awaited."""
        result = self._call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise AssertionError(f"{script}: {result['exceptionDetails']}")
        return result["result"].get("value")

    def wait_for(self, script, patience=PATIENCE):
        """Until the expression is true; its value."""
        end = time.monotonic() + patience
        while time.monotonic() < end:
            if value := self.run(script):
                return value
            time.sleep(0.05)
        raise AssertionError(f"never true: {script}; errors of the page: {self.errors}")

    def text(self, selector):
        return self.run(f"document.querySelector({json.dumps(selector)}).innerText")

    def click(self, selector):
        self.run(f"document.querySelector({json.dumps(selector)}).click()")

    def mouse(self, kind, x, y, **more):
        """kind: mouseMoved, mousePressed, mouseReleased, mouseWheel."""
        self._call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **more)

    def key(self, key):
        for kind in ("keyDown", "keyUp"):
            self._call("Input.dispatchKeyEvent", type=kind, key=key, **({"text": key} if len(key) == 1 and kind == "keyDown" else {}))

    def scheme(self, name):
        """dark or light, as the system would ask for."""
        self._call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def screenshot(self, path=None):
        """The bytes of a PNG, also written to `path`."""
        data = base64.b64decode(self._call("Page.captureScreenshot", format="png")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data
