"""People who want the service switched off: they open connections and say nothing, or say it slowly."""

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Iterator

START_OF_HEAD = b"POST /v1/submissions HTTP/1.1\r\nHost: x\r\nX-Slow: "
HEAD_OF_LONG_BODY = b"POST /v1/submissions HTTP/1.1\r\nHost: x\r\nContent-Length: 60000\r\n\r\n"


class Attacker:
    """Holds connections open, and opens each anew that the server ends."""

    def __init__(
        self, port: int, *, idle: int, dripping_heads: int = 0, dripping_bodies: int = 0
    ) -> None:
        self._port = port
        self._plan = (
            [b""] * idle + [START_OF_HEAD] * dripping_heads + [HEAD_OF_LONG_BODY] * dripping_bodies
        )
        self._held: list[tuple[socket.socket, bytes]] = []
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._go_on)
        self.reopened = 0

    @contextlib.contextmanager
    def attack(self) -> Iterator["Attacker"]:
        """Attack until the block is left; all connections stand when it is entered."""
        for opening in self._plan:
            self._held.append((self._open(opening), opening))
        self._thread.start()
        try:
            yield self
        finally:
            self._stopping.set()
            self._thread.join()
            for connection, _ in self._held:
                connection.close()

    @property
    def connections(self) -> int:
        return len(self._held)

    def _open(self, opening: bytes) -> socket.socket:
        connection = socket.create_connection(("127.0.0.1", self._port), timeout=10)
        connection.sendall(opening)
        connection.setblocking(False)
        return connection

    def _go_on(self) -> None:
        while not self._stopping.wait(0.5):
            for number, (connection, opening) in enumerate(self._held):
                if self._stopping.is_set():
                    return
                if self._is_alive(connection, opening):
                    continue
                connection.close()
                with contextlib.suppress(OSError):
                    self._held[number] = (self._open(opening), opening)
                    self.reopened += 1

    def _is_alive(self, connection: socket.socket, opening: bytes) -> bool:
        try:
            if opening:
                connection.send(b"a")
            return connection.recv(4096) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False


def read_answers(port: int, request: bytes, *, wait_s: float = 3.0) -> bytes:
    """Send bytes as they are; return all that comes back until the server closes or is silent for `wait_s`."""
    answer = b""
    with socket.create_connection(("127.0.0.1", port), timeout=wait_s) as connection:
        deadline = time.monotonic() + wait_s
        with contextlib.suppress(TimeoutError, ConnectionError):
            connection.sendall(request)
            while time.monotonic() < deadline and (chunk := connection.recv(65536)):
                answer += chunk
    return answer


def is_closed(connection: socket.socket, *, within_s: float) -> bool:
    """Say whether the server ends a connection within a time."""
    connection.setblocking(False)
    selector = selectors.DefaultSelector()
    selector.register(connection, selectors.EVENT_READ)
    deadline = time.monotonic() + within_s
    while (left := deadline - time.monotonic()) > 0:
        if not selector.select(left):
            return False
        try:
            if connection.recv(65536) == b"":
                return True
        except ConnectionResetError:
            return True
    return False
