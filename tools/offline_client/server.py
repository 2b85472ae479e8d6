"""An HTTP server on loopback that answers as the Messages API would, by a script, and logs each request."""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from offline_client.script import Script, message, stream


class ScriptedModel:
    """A context manager; `url` is where it listens. Requests go to the log, one JSON object a line:
    n, path, rule (the name of the rule that answered), body. Keys are in headers, which are not logged."""

    def __init__(self, spec: dict[str, Any], log: Path) -> None:
        self.script = Script(spec)
        self.log = log
        self.lock = threading.Lock()
        self.count = 0
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"

    def __enter__(self) -> ScriptedModel:
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method: str, path: str, raw: bytes) -> tuple[int, str, bytes, float]:
        """Status, content type, body and seconds to wait for one request."""
        path = path.split("?")[0]
        try:
            body = json.loads(raw) if raw else {}
        except ValueError:
            body = {"unreadable": raw.decode("utf-8", "replace")}
        scripted = method == "POST" and path == "/v1/messages"
        with self.lock:
            self.count += 1
            number = self.count
            rule, reply, found = self.script.choose(body) if scripted else ("", {}, {})
            entry = {"n": number, "path": path, "rule": rule, "body": body}
            with self.log.open("a", encoding="utf-8") as log:
                log.write(json.dumps(entry, ensure_ascii=False) + "\n")
        delay = float(reply.get("delay_s", 0))
        if scripted and "error" in reply:
            error = {"type": reply["error"]["type"], "message": reply["error"].get("message", "scripted")}
            return reply["error"].get("status", 500), "application/json", _error(error), delay
        if scripted:
            whole = message(reply, body, number, found)
            if not body.get("stream"):
                return 200, "application/json", json.dumps(whole).encode(), delay
            events = "".join(f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in stream(whole))
            return 200, "text/event-stream", events.encode(), delay
        if path == "/v1/messages/count_tokens":
            return 200, "application/json", json.dumps({"input_tokens": len(raw) // 4 + 1}).encode(), 0
        return 404, "application/json", _error({"type": "not_found_error", "message": path}), 0


def _error(error: dict[str, str]) -> bytes:
    return json.dumps({"type": "error", "error": error}).encode()


def _handler(model: ScriptedModel) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def respond(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            status, kind, body, delay = model.answer(self.command, self.path, raw)
            time.sleep(delay)
            try:
                self.send_response(status)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                if self.command != "HEAD":
                    self.wfile.write(body)
            except ConnectionError:
                self.close_connection = True  # the client did not wait for the answer

        do_GET = do_POST = do_HEAD = respond

    return Handler
