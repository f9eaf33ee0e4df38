"""Real receivers of alerts on loopback: a web server, a mail server, and a wire that keeps every byte sent to them."""

import ipaddress
import json
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

SECRET = "a-secret-of-the-receiver"
PASSWORD = "mail-password-1"


@dataclass
class Got:
    """One request, as it arrived."""

    headers: dict[str, str]
    body: bytes

    @property
    def alert(self) -> dict[str, Any]:
        return json.loads(self.body)


Answer = Callable[[BaseHTTPRequestHandler, Got], None]


def answer_with(status: int, **headers: str) -> Answer:
    def answer(handler: BaseHTTPRequestHandler, got: Got) -> None:
        del got
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    return answer


@dataclass
class WebhookReceiver:
    """An HTTP server that keeps what it got. It can be stopped and started again on its port."""

    answer: Answer = field(default_factory=lambda: answer_with(204))
    got: list[Got] = field(default_factory=list)
    tls: ssl.SSLContext | None = None
    port: int = 0

    @property
    def url(self) -> str:
        return f"http{'s' if self.tls else ''}://127.0.0.1:{self.port}/alerts"

    def start(self) -> None:
        receiver = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                got = Got({name.lower(): value for name, value in self.headers.items()}, body)
                receiver.got.append(got)
                with suppress(OSError):
                    receiver.answer(self, got)

            def do_GET(self) -> None:
                receiver.got.append(Got({}, b""))

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", self.port), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None  # type: ignore[method-assign]
        if self.tls is not None:
            self._server.socket = self.tls.wrap_socket(self._server.socket, server_side=True)
        self.port = self._server.server_address[1]
        threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True).start()

    def stop(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@contextmanager
def open_webhook(
    answer: Answer | None = None, tls: ssl.SSLContext | None = None
) -> Iterator[WebhookReceiver]:
    receiver = WebhookReceiver(answer or answer_with(204), tls=tls)
    receiver.start()
    try:
        yield receiver
    finally:
        receiver.stop()


@dataclass
class Mail:
    """One e-mail, as it arrived."""

    greeting: str
    sender: str
    recipients: list[str]
    content: str
    is_encrypted: bool
    is_logged_in: bool


class MailReceiver:
    """The handler of a real mail server."""

    def __init__(self) -> None:
        self.mails: list[Mail] = []
        self.reply = "250 OK"
        self.refused: set[str] = set()

    async def handle_RCPT(
        self, server: SMTP, session: Session, envelope: Envelope, address: str, options: list[str]
    ) -> str:
        del server, session, options
        if address in self.refused:
            return "550 no such person CANARY"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server: SMTP, session: Session, envelope: Envelope) -> str:
        del server
        assert isinstance(envelope.content, bytes)
        if self.reply.startswith("250"):
            self.mails.append(
                Mail(
                    greeting=str(session.host_name),
                    sender=str(envelope.mail_from),
                    recipients=[str(one) for one in envelope.rcpt_tos],
                    content=envelope.content.decode("ascii"),
                    is_encrypted=session.ssl is not None,
                    is_logged_in=bool(session.authenticated),
                )
            )
        return self.reply


def check_login(
    server: SMTP, session: Session, envelope: Envelope, mechanism: str, data: object
) -> AuthResult:
    del server, session, envelope, mechanism
    is_right = isinstance(data, LoginPassword) and data.password == PASSWORD.encode()
    return AuthResult(success=is_right, handled=is_right)


@contextmanager
def open_mail(**options: Any) -> Iterator[tuple[MailReceiver, int]]:
    """Start a mail server with options of aiosmtpd; yield its handler and its port."""
    handler = MailReceiver()
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    controller = Controller(handler, hostname="127.0.0.1", port=port, **options)
    controller.start()
    try:
        yield handler, port
    finally:
        controller.stop()


@contextmanager
def open_raw(speak: Callable[[socket.socket], None]) -> Iterator[int]:
    """Start a server that does with each connection what `speak` does; yield its port."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listening.accept()
                threading.Thread(target=speak_safely, args=(connection,), daemon=True).start()

    def speak_safely(connection: socket.socket) -> None:
        with connection, suppress(OSError):
            speak(connection)

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield listening.getsockname()[1]
    finally:
        listening.close()


class Wire:
    """A relay in front of a receiver that keeps every byte on its way there."""

    def __init__(self, target: int) -> None:
        self._target = target
        self.sent = bytearray()

    def speak(self, connection: socket.socket) -> None:
        with socket.create_connection(("127.0.0.1", self._target)) as receiver:
            back = threading.Thread(target=self._pump, args=(receiver, connection, None))
            back.start()
            self._pump(connection, receiver, self.sent)
            back.join()

    def _pump(self, source: socket.socket, target: socket.socket, kept: bytearray | None) -> None:
        with suppress(OSError):
            while piece := source.recv(65_536):
                if kept is not None:
                    kept += piece
                target.sendall(piece)
            target.shutdown(socket.SHUT_WR)


@contextmanager
def open_wire(target: int) -> Iterator[tuple[Wire, int]]:
    wire = Wire(target)
    with open_raw(wire.speak) as port:
        yield wire, port


@dataclass(frozen=True)
class Certificate:
    """A certificate of 127.0.0.1 that signed itself, and a server's TLS with it."""

    file: Path
    context: ssl.SSLContext


def make_certificate(folder: Path) -> Certificate:
    folder.mkdir(exist_ok=True)
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    file = folder / "cert.pem"
    file.write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    key_file = folder / "key.pem"
    key_file.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file, key_file)
    return Certificate(file, context)
