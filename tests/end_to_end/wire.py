"""What stands between a hospital and an aggregator, on loopback: an authority, a TLS front, and a CONNECT proxy.

As a program it is a TLS front in a process of its own, for another network namespace:

    python -m tests.end_to_end.wire HOST PORT CERTIFICATE KEY TARGET_PORT [TARGET_HOST]
"""

import asyncio
import base64
import ipaddress
import ssl
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = timedelta(days=1)


@dataclass(frozen=True)
class Identity:
    """A server's certificate and key, as files."""

    certificate: Path
    key: Path

    def context(self) -> ssl.SSLContext:
        """Return the context of a server of today."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, self.key)
        return context

    def outdated_context(self, version: ssl.TLSVersion) -> ssl.SSLContext:
        """Return the context of a server that speaks this old version and no other."""
        context = self.context()
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
        return context


class PrivateAuthority:
    """A certificate authority such as a hospital has: no system trusts it. `bundle` is its PEM file."""

    def __init__(self, folder: Path, name: str = "authority") -> None:
        self._folder = folder / name
        self._folder.mkdir()
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, f"Test {name}")])
        basic = x509.BasicConstraints(ca=True, path_length=0)
        certificate = self._builder(self._name, self._name, self._key, -DAY, DAY).add_extension(
            basic, critical=True
        )
        self.bundle = self._write("authority.pem", certificate.sign(self._key, hashes.SHA256()))

    def issue(self, host: str, *, begins: timedelta = -DAY, ends: timedelta = DAY) -> Identity:
        """Issue a certificate for a host name or address, valid between two times from now."""
        key = ec.generate_private_key(ec.SECP256R1())
        builder = self._builder(x509.Name([]), self._name, key, begins, ends).add_extension(
            _alternative_name(host), critical=True
        )
        return self._identity(key, builder.sign(self._key, hashes.SHA256()))

    def self_signed(self, host: str) -> Identity:
        """Make a certificate that nobody but its own key vouches for."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
        builder = self._builder(name, name, key, -DAY, DAY)
        return self._identity(
            key,
            builder.add_extension(_alternative_name(host), critical=False).sign(
                key, hashes.SHA256()
            ),
        )

    def _builder(
        self,
        subject: x509.Name,
        issuer: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        begins: timedelta,
        ends: timedelta,
    ) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        builder = (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(issuer)
            .public_key(key.public_key())
        )
        builder = builder.serial_number(x509.random_serial_number())
        return builder.not_valid_before(now + begins).not_valid_after(now + ends)

    def _identity(self, key: ec.EllipticCurvePrivateKey, certificate: x509.Certificate) -> Identity:
        number = f"{certificate.serial_number:x}"
        key_file = self._folder / f"{number}.key"
        key_file.touch(0o600)
        key_file.write_bytes(
            key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return Identity(self._write(f"{number}.pem", certificate), key_file)

    def _write(self, name: str, certificate: x509.Certificate) -> Path:
        path = self._folder / name
        path.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
        return path


def _alternative_name(host: str) -> x509.SubjectAlternativeName:
    try:
        return x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(host))])
    except ValueError:
        return x509.SubjectAlternativeName([x509.DNSName(host)])


class Listener:
    """A server in a thread of its own; `port` is where it listens while its `with` block lasts."""

    def __init__(
        self, context: ssl.SSLContext | None = None, host: str = "127.0.0.1", port: int = 0
    ) -> None:
        self.context, self.host, self.port = context, host, port
        self.connections = 0

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hold one connection; it is closed afterwards."""
        raise NotImplementedError

    def __enter__(self) -> Self:
        ready = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self.serve(ready)), daemon=True)
        self._thread.start()
        assert ready.wait(10)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._loop.call_soon_threadsafe(self._stopping.set)
        self._thread.join(10)
        assert not self._thread.is_alive()

    async def serve(self, ready: threading.Event) -> None:
        """Serve until the `with` block ends."""
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        # A client that refuses the certificate is an error of the handshake, which asyncio would print.
        self._loop.set_exception_handler(lambda loop, context: None)
        server = await asyncio.start_server(self._hold, self.host, self.port, ssl=self.context)
        self.port = server.sockets[0].getsockname()[1]
        ready.set()
        await self._stopping.wait()
        server.close()
        conversations = asyncio.all_tasks() - {asyncio.current_task()}
        for conversation in conversations:
            conversation.cancel()
        await asyncio.gather(*conversations, return_exceptions=True)

    async def _hold(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            await self.converse(reader, writer)
            await writer.drain()
            writer.close()
            await writer.wait_closed()
        except (OSError, asyncio.IncompleteReadError):
            writer.transport.abort()


class Trap(Listener):
    """Counts who comes, and answers nobody."""

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Hang up."""


class PlainServer(Listener):
    """Speaks no TLS, and says so as web servers do. `heard` is everything that was said to it."""

    def __init__(self) -> None:
        super().__init__()
        self.heard = bytearray()

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer whatever comes with an error in plain HTTP."""
        self.heard += await reader.read(65_536)
        writer.write(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")


async def read_message(reader: asyncio.StreamReader) -> bytes:
    """Read one HTTP request or reply: its head, and a body of the length that the head says."""
    head = await reader.readuntil(b"\r\n\r\n")
    length = 0
    for line in head.decode("latin-1").split("\r\n"):
        name, _, value = line.partition(":")
        if name.lower() == "content-length":
            length = int(value)
    return head + await reader.readexactly(length)


class Front(Listener):
    """A reverse proxy before `intramural-aggregator serve`, with TLS where a context is given.

    Attributes:
        requests: every request as it arrived, decrypted.
        replies: every reply as it left.
        change_request: what is done to a request before it is passed on.
        change_reply: what is done to a reply before it is passed back.
        answer: what is answered without asking the aggregator; None asks it.
    """

    def __init__(
        self,
        target_port: int,
        context: ssl.SSLContext | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        target_host: str = "127.0.0.1",
    ) -> None:
        super().__init__(context, host, port)
        self.target_host, self.target_port = target_host, target_port
        self.requests: list[bytes] = []
        self.replies: list[bytes] = []
        self.change_request: Callable[[bytes], bytes] = lambda request: request
        self.change_reply: Callable[[bytes], bytes] = lambda reply: reply
        self.answer: bytes | None = None

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one request on and its reply back, then close."""
        request = await read_message(reader)
        self.requests.append(request)
        reply = self.answer
        if reply is None:
            near, far = await asyncio.open_connection(self.target_host, self.target_port)
            far.write(self.change_request(request))
            reply = self.change_reply(await read_message(near))
            far.close()
        self.replies.append(reply)
        writer.write(reply)


class ConnectProxy(Listener):
    """The hospital's way out: opens tunnels with CONNECT, to the hosts it knows.

    Attributes:
        routes: port on loopback of each `host:port` that may be asked for.
        asked: first lines of all requests.
        passed: every byte that went through the tunnels, both ways.
        login: `user:password` without which nothing passes (Basic authentication); None for no login.
        answer: what is answered to CONNECT instead of opening the tunnel; None opens it.
        resets: whether the connection is reset after that answer, once the client's first bytes of TLS are there.
        cut_after: bytes from the client after which a tunnel is cut; None means never.
    """

    def __init__(self, routes: Mapping[str, int]) -> None:
        super().__init__()
        self.routes = dict(routes)
        self.asked: list[str] = []
        self.heads: list[bytes] = []
        self.passed = bytearray()
        self.login: str | None = None
        self.answer: bytes | None = None
        self.resets = False
        self.cut_after: int | None = None

    @property
    def url(self) -> str:
        """The address for `proxy:` of site.yaml."""
        return f"http://127.0.0.1:{self.port}"

    async def converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Open one tunnel and hold it until one end closes."""
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        line = head.split(b"\r\n", 1)[0].decode("latin-1")
        self.asked.append(line)
        method, target, _ = line.split(" ")
        if self.answer is not None:
            writer.write(self.answer)
            if self.resets:
                await reader.read(1)
                writer.transport.abort()
            return
        if self.login is not None and not self._is_signed_in(head):
            writer.write(
                b"HTTP/1.1 407 Proxy Authentication Required\r\n"
                b'Proxy-Authenticate: Basic realm="hospital"\r\nContent-Length: 0\r\n\r\n'
            )
            return
        if method != "CONNECT" or target not in self.routes:
            writer.write(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n")
            return
        near, far = await asyncio.open_connection("127.0.0.1", self.routes[target])
        writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
        upward = asyncio.create_task(self._pump(reader, far, self.cut_after))
        downward = asyncio.create_task(self._pump(near, writer, None))
        await asyncio.wait({upward, downward}, return_when=asyncio.FIRST_COMPLETED)
        for pump in (upward, downward):
            pump.cancel()
        far.close()

    def _is_signed_in(self, head: bytes) -> bool:
        for line in head.decode("latin-1").split("\r\n"):
            name, _, value = line.partition(":")
            if name.lower() == "proxy-authorization":
                scheme, _, token = value.strip().partition(" ")
                return scheme == "Basic" and base64.b64decode(token).decode() == self.login
        return False

    async def _pump(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, limit: int | None
    ) -> None:
        passed = 0
        while data := await source.read(65_536):
            passed += len(data)
            if limit is not None and passed > limit:
                return
            self.passed += data
            target.write(data)
            await target.drain()


def main() -> None:
    """Serve as a TLS front until killed; the first line says that it listens."""
    host, port, certificate, key, target_port, *target_host = sys.argv[1:]
    context = Identity(Path(certificate), Path(key)).context()
    with Front(int(target_port), context, host, int(port), *target_host) as front:
        print(f"Serving on https://{host}:{front.port}", flush=True)
        threading.Event().wait()


if __name__ == "__main__":
    main()
