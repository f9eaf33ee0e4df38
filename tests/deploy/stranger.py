"""Tries, from within a service, what a stranger would try who runs code there; prints what was allowed."""

import ctypes
import mmap
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

ATTEMPTS: dict[str, Callable[[], object]] = {
    "run code that was written while running": lambda: mmap.mmap(
        -1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC
    ),
    "change the program": lambda: Path("/opt/intramural/bin/intramural").touch(),
    "write beside the site": lambda: Path("/var/lib/stranger").touch(),
    "read other services' secrets": lambda: list(Path("/etc/credstore").iterdir()),
    "read people's folders": lambda: list(Path("/root").iterdir()),
    "see other processes": lambda: Path("/proc/1").stat(),
    "speak to services of this machine": lambda: socket.socket(socket.AF_UNIX),
    "listen to the network": lambda: socket.socket(socket.AF_PACKET, socket.SOCK_RAW),
    "reach another machine": lambda: socket.create_connection(("10.231.80.9", 8001), 2),
    "make a namespace": lambda: refuse_negative(ctypes.CDLL(None).unshare(0x10000000)),
    "become somebody else": lambda: os.setuid(0),
    "set a program's owner bit": lambda: Path("/var/lib/intramural/site").chmod(0o4700),
}


def refuse_negative(result: int) -> None:
    if result < 0:
        raise PermissionError


def main() -> None:
    """Try everything."""
    allowed = []
    for name, attempt in ATTEMPTS.items():
        with suppress(OSError):
            attempt()
            allowed.append(name)
    print(f"allowed: {', '.join(allowed) or 'nothing'}", flush=True)


if __name__ == "__main__":
    main()
