"""Refuses every connection and name look-up beyond loopback, in each Python process that the tests start.

Every attempt is also noted in the file that REFUSED_CONNECTIONS names, so that a swallowed error is still seen.
With REFUSE_LOOPBACK in its environment a process may not even open a connection to its own machine.
"""

import ipaddress
import os
import sys


def is_allowed(host: object) -> bool:
    if os.environ.get("REFUSE_LOOPBACK"):
        return False
    if host in (None, "", "localhost", b"localhost"):
        return True
    try:
        return ipaddress.ip_address(
            host.decode() if isinstance(host, bytes) else str(host)
        ).is_loopback
    except ValueError:
        return False


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto"):
        address = arguments[1]
        host = address[0] if isinstance(address, tuple) else "localhost"  # a path: a local socket
    elif event in ("socket.getaddrinfo", "socket.gethostbyname"):
        host = arguments[0]
    else:
        return
    if not is_allowed(host):
        note = os.environ.get("REFUSED_CONNECTIONS")
        if note:
            with open(note, "a", encoding="utf-8") as file:  # noqa: PTH123 (few imports, in every process)
                file.write(f"{event} in {sys.argv[:3]}\n")
        reach = (
            "all connections here"
            if os.environ.get("REFUSE_LOOPBACK")
            else "connections beyond loopback"
        )
        raise ConnectionRefusedError(f"the tests refuse {reach}")


sys.addaudithook(refuse)
