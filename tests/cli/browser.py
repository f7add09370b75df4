"""A headless Chromium, spoken to over a pipe (--remote-debugging-pipe), so that no port is opened and nothing but Python is needed."""

import json
import os
import select
import shutil
import subprocess
import tempfile
import time

TIME_LIMIT_S = 60


def find():
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


class Browser:
    def __init__(self, program):
        self.folder = tempfile.mkdtemp(prefix="normtune-test-browser-")
        to_read, self.to_write = os.pipe()
        self.to_listen, to_answer = os.pipe()
        # Chromium reads commands from descriptor 3 and answers on 4; first copies, for those two may be the pipes' own.
        command = f"exec 98<&{to_read} 99>&{to_answer} 3<&98 4>&99 98<&- 99>&-; exec \"$@\""
        self.process = subprocess.Popen(
            ["bash", "-c", command, "-", program, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-extensions",
             "--disable-background-networking", f"--user-data-dir={self.folder}", "--remote-debugging-pipe", "about:blank"],
            pass_fds=(to_read, to_answer), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            env={**os.environ, "HOME": self.folder})
        os.close(to_read)
        os.close(to_answer)
        self.pending = b""
        self.number = 0
        self.session = None
        self.complaints = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(domain + ".enable")

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to_write)
        os.close(self.to_listen)
        shutil.rmtree(self.folder, ignore_errors=True)

    def message(self):
        until = time.monotonic() + TIME_LIMIT_S
        while b"\0" not in self.pending:
            if not select.select([self.to_listen], [], [], max(0, until - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            part = os.read(self.to_listen, 1 << 20)
            if not part:
                raise EOFError("the browser ended")
            self.pending += part
        one, self.pending = self.pending.split(b"\0", 1)
        message = json.loads(one)
        if message.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.complaints.append(json.dumps(message["params"])[:500])
        return message

    def call(self, method, **parameters):
        self.number += 1
        command = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            command["sessionId"] = self.session
        os.write(self.to_write, json.dumps(command).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']}")
                return message["result"]

    def open(self, url):
        """Until the page and its script have run."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        until = time.monotonic() + TIME_LIMIT_S
        while time.monotonic() < until:
            if self.evaluate("location.href !== 'about:blank' && document.readyState === 'complete'"):
                return
        raise TimeoutError(f"{url} does not load")

    def evaluate(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(json.dumps(result["exceptionDetails"])[:500])
        return result["result"].get("value")

    def press(self, key):
        codes = {"Tab": 9, "Enter": 13}
        text = {"Enter": "\r"}.get(key)
        event = {"key": key, "code": key, "windowsVirtualKeyCode": codes[key], **({"text": text} if text else {})}
        self.call("Input.dispatchKeyEvent", type="keyDown", **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **{k: v for k, v in event.items() if k != "text"})

    def width(self, pixels):
        self.call("Emulation.setDeviceMetricsOverride", width=pixels, height=800, deviceScaleFactor=1, mobile=pixels < 600)
