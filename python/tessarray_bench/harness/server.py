"""A file server on loopback that waits before the first byte of each answer, as an object store does, and counts.

Plain HTTP/1.1: GET and HEAD, byte ranges, connections kept alive. `GET /?counts` tells how many requests there were
and how many bytes of files went out, so that a worker can tell them apart by step; it does not count itself.
"""

from __future__ import annotations

import http.server
import json
import threading
import time
from pathlib import Path
from typing import Any
from urllib.parse import unquote

COUNTS = "/?counts"


class Server:
    """Serves one folder while the `with` block runs."""

    def __init__(self, folder: Path, latency: float) -> None:
        handler = type("Handler", (_Handler,), {"folder": folder.resolve(), "latency": latency})
        self._http = _Http(("127.0.0.1", 0), handler)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Server:
        threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._http.shutdown()
        self._http.server_close()


class _Http(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 256

    def __init__(self, *arguments: Any) -> None:
        self.lock = threading.Lock()
        self.requests = 0
        self.transferred = 0
        super().__init__(*arguments)

    def count(self, nbytes: int) -> None:
        with self.lock:
            self.requests += 1
            self.transferred += nbytes

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is no news."""


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body leave in one packet each, at once.
    disable_nagle_algorithm = True
    wbufsize = 1 << 16
    folder: Path
    latency: float
    server: _Http

    def do_GET(self) -> None:
        if self.path == COUNTS:
            counts = {"requests": self.server.requests, "transferred": self.server.transferred}
            self._answer(200, json.dumps(counts).encode())
            return
        self._serve(body=True)

    def do_HEAD(self) -> None:
        self._serve(body=False)

    def _serve(self, body: bool) -> None:
        time.sleep(self.latency)
        path = self._file()
        if path is None:
            self.server.count(0)
            self._answer(404, b"")
            return
        size = path.stat().st_size
        asked = _range(self.headers.get("Range"), size)
        if asked is not None and asked[0] >= asked[1]:
            self.server.count(0)
            self._answer(416, b"", {"Content-Range": f"bytes */{size}"})
            return
        start, stop = asked or (0, size)
        more = {"Accept-Ranges": "bytes"}
        if asked is not None:
            more["Content-Range"] = f"bytes {start}-{stop - 1}/{size}"
        if not body:
            self.server.count(0)
            self._answer(206 if asked else 200, None, more, stop - start)
            return
        with path.open("rb") as file:
            file.seek(start)
            content = file.read(stop - start)
        self.server.count(len(content))
        self._answer(206 if asked else 200, content, more)

    def _file(self) -> Path | None:
        """The file of the folder that is asked for; links are followed, out of it they are not."""
        try:
            path = (self.folder / unquote(self.path.split("?")[0]).lstrip("/")).resolve()
            return path if path.is_relative_to(self.folder) and path.is_file() else None
        except (OSError, ValueError):  # a name that is too long, or no name
            return None

    def _answer(
        self, status: int, content: bytes | None, more: dict[str, str] | None = None, length: int = 0
    ) -> None:
        self.send_response(status)
        for name, value in (more or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(length if content is None else len(content)))
        self.end_headers()
        if content:
            self.wfile.write(content)

    def log_message(self, *arguments: Any) -> None:
        """Nothing is logged: requests are counted."""


def _range(header: str | None, size: int) -> tuple[int, int] | None:
    """The half-open byte range that a `Range` header asks for; None for all of the file."""
    if not header or not header.startswith("bytes=") or "," in header:
        return None
    first, _, last = header.removeprefix("bytes=").strip().partition("-")
    if not (first or last).isdecimal() or not (last or first).isdecimal():
        return None  # what is no range is to be ignored
    if not first:
        return (max(size - int(last), 0), size)
    return (int(first), min(int(last) + 1, size) if last else size)
