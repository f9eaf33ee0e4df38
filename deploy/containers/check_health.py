"""Asks the program in this container whether it lives: the health check of the images, with a port as argument.

Exits with 0 if /healthz is answered, over TLS or without. Whose certificate it is does not matter: nobody else can
listen there, and nothing is sent.
"""

import http.client
import ssl
import sys
from contextlib import suppress

_TIMEOUT_S = 5.0


def connect(port: int) -> list[http.client.HTTPConnection]:
    """Return the connections to try."""
    anyone = ssl.create_default_context()
    anyone.check_hostname = False
    anyone.verify_mode = ssl.CERT_NONE
    plain = http.client.HTTPConnection("127.0.0.1", port, timeout=_TIMEOUT_S)
    secure = http.client.HTTPSConnection("127.0.0.1", port, timeout=_TIMEOUT_S, context=anyone)
    return [plain, secure]


def is_alive(port: int) -> bool:
    """Return whether the program answers, whatever it answers but an error of its own."""
    for connection in connect(port):
        with suppress(OSError, http.client.HTTPException):
            connection.request("GET", "/healthz")
            return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR
    return False


if __name__ == "__main__":
    sys.exit(0 if is_alive(int(sys.argv[1])) else 1)
