"""Reading an aggregator's public log over HTTP. The received data is not verified here."""

import ssl
import time
from collections.abc import Iterator
from typing import Final

import httpx

from aggregator.errors import BoardMismatchError, SettingsError
from aggregator.log.publication import PublishedEntry, parse_entry
from protocol.envelope import REGISTRY_TYPE, decode
from protocol.errors import ProtocolError
from protocol.registry import parse_registry

ENTRIES_AT_ONCE: Final = 256
TIMEOUT_S: Final = 30.0
TRIES: Final = 5
MAX_WAIT_S: Final = 60.0
# Bytes; enough for 256 entries of up to 88 KiB, or for a registry.
MAX_ANSWER: Final = 32 * 1024 * 1024
MAX_ANSWER_S: Final = 300.0  # seconds for receiving an answer, from its first byte
MAX_VERSIONS: Final = 100_000  # maximum number of registry versions
# Total bytes of all versions, which are kept in memory together.
MAX_REGISTRIES: Final = 2 * 1024**3


class RemoteLog:
    """The public log of the aggregator at a URL."""

    def __init__(self, url: str) -> None:
        """Create a client, which connects lazily.

        Raises:
            SettingsError: the URL is not an http or https URL.
        """
        if not url.startswith(("http://", "https://")):
            raise SettingsError("the log's URL must begin with https:// (or http://)")
        self._url = url.rstrip("/")
        # No compression: a small response must not expand to a large one.
        headers = {"Accept-Encoding": "identity"}
        self._client = httpx.Client(
            timeout=TIMEOUT_S, verify=ssl.create_default_context(), headers=headers
        )

    def __enter__(self) -> "RemoteLog":
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def checkpoint(self) -> str:
        """Return the newest checkpoint."""
        return _as_text(self._get("/v1/log/checkpoint"), "its checkpoint")

    def consistency(self, old_size: int, new_size: int) -> list[bytes]:
        """Return the consistency proof between two sizes, which is empty if the old size is 0 or
        equals the new size.
        """
        if old_size in (0, new_size):
            return []
        answer = self._get(f"/v1/log/consistency?from={old_size}&to={new_size}")
        try:
            return [
                bytes.fromhex(node) for node in httpx.Response(200, content=answer).json()["proof"]
            ]
        except (ValueError, TypeError, KeyError, RecursionError):
            raise BoardMismatchError("the log's consistency proof is malformed") from None

    def newest_registry(self) -> bytes:
        """Return the newest registry as signed."""
        return self._get("/v1/registry")

    def registries(self) -> tuple[bytes, ...]:
        """Return every registry version as signed.

        Raises:
            BoardMismatchError: the newest claims an implausible version number, or all versions
                together are too large.
        """
        newest = self.newest_registry()
        try:
            count = parse_registry(decode(newest, REGISTRY_TYPE).payload).version
        except ProtocolError as error:
            raise BoardMismatchError(
                f"the newest registry is not a registry: {error.detail}"
            ) from None
        if count > MAX_VERSIONS:
            raise BoardMismatchError(
                f"the newest registry claims version {count}, but at most {MAX_VERSIONS} versions are read"
            )
        versions: list[bytes] = []
        size = len(newest)
        for version in range(1, count):
            versions.append(self._get(f"/v1/registry/{version}"))
            size += len(versions[-1])
            if size > MAX_REGISTRIES:
                fault = (
                    f"{version} of {count} registry versions have more than {MAX_REGISTRIES} bytes"
                )
                raise BoardMismatchError(fault)
        return (*versions, newest)

    def entries(self, size: int) -> Iterator[PublishedEntry]:
        """Yield the first `size` entries as the public sees them."""
        for start in range(0, size, ENTRIES_AT_ONCE):
            end = min(size, start + ENTRIES_AT_ONCE)
            lines = self._get(f"/v1/log/entries?start={start}&end={end}").splitlines()
            if len(lines) != end - start:
                raise BoardMismatchError(
                    f"the log returned {len(lines)} of the entries {start} to {end - 1}"
                )
            for line in lines:
                yield parse_entry(line)

    def send_cosignature(self, note: str) -> None:
        """Send a checkpoint with this witness's signature.

        Raises:
            BoardMismatchError: the aggregator does not accept it.
        """
        try:
            with self._client.stream(
                "POST", self._url + "/v1/log/cosignatures", content=note.encode()
            ) as answer:
                status = answer.status_code
        except httpx.HTTPError as error:
            raise _unreachable(error) from None
        if status != httpx.codes.OK:
            raise BoardMismatchError(
                f"the aggregator does not accept the cosignature (HTTP status {status})",
                "Ask the people who run it whether the registry names this witness with this key.",
            )

    def _get(self, path: str) -> bytes:
        """Return a response. While the aggregator reports that it is busy, wait and try again."""
        for attempt in range(TRIES):
            try:
                with self._client.stream("GET", self._url + path) as answer:
                    if answer.status_code == httpx.codes.OK:
                        return _read_limited(answer, path)
            except httpx.HTTPError as error:
                raise _unreachable(error) from None
            if answer.status_code not in (429, 503):
                break
            time.sleep(
                min(_seconds(answer.headers.get("Retry-After", "1")), MAX_WAIT_S)
                * (attempt + 1)
                / TRIES
            )
        raise SettingsError(
            f"the aggregator answered {path.partition('?')[0]} with HTTP status {answer.status_code}",
            "Check the URL, or try again later.",
        )


def _read_limited(answer: httpx.Response, path: str) -> bytes:
    """Read the bytes of a response. Stop if they are too many or take too long."""
    fault = ""
    content = bytearray()
    until = time.monotonic() + MAX_ANSWER_S
    if answer.headers.get("Content-Encoding", "identity") != "identity":
        fault = "with a compressed response, which was not requested"
    else:
        for chunk in answer.iter_raw():
            content += chunk
            if len(content) > MAX_ANSWER:
                fault = f"with a response of more than {MAX_ANSWER} bytes"
                break
            if time.monotonic() > until:
                fault = f"with a response that took longer than {MAX_ANSWER_S:.0f} seconds"
                break
    if fault:
        raise SettingsError(
            f"the aggregator answered {path.partition('?')[0]} {fault}",
            "Check the URL. If it is correct, inform the people who run the aggregator.",
        )
    return bytes(content)


def _seconds(value: str) -> float:
    return float(value) if value.isdecimal() else 1.0


def _as_text(content: bytes, name: str) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError:
        raise BoardMismatchError(f"{name} is not UTF-8 text") from None


def _unreachable(error: httpx.HTTPError) -> SettingsError:
    return SettingsError(
        f"the aggregator cannot be reached: {type(error).__name__}",
        "Check the URL and the connection, and try again.",
    )
