"""Mutants of a submission that the aggregator would take: bytes, base64, JSON, keys and signatures, all bent.

    python -m tests.attacks.mutants --mutants 100000

posts them to a real server and fails if one is accepted, gets another answer than the three that strangers may get,
takes a second, or if the server's memory grows.
"""

import argparse
import base64
import json
import random
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import yaml

from aggregator.home import Home
from aggregator.log import journal
from protocol.keys import ED25519_ORDER
from tests.aggregator.federation import new_home, ready, registry_of, scores
from tests.bench.accept_bench import read_answer, serve

SLOWEST_S = 1.0
WARM_UP = 3000  # mutants until memory is compared: caches and pools have filled
MAX_GROWTH_MIB = 16.0
Draw = random.Random
Mutation = Callable[[bytes, Draw], bytes]


def flip_a_bit(data: bytes, draw: Draw) -> bytes:
    bent = bytearray(data)
    bent[draw.randrange(len(bent))] ^= 1 << draw.randrange(8)
    return bytes(bent)


def replace_a_byte(data: bytes, draw: Draw) -> bytes:
    bent = bytearray(data)
    bent[draw.randrange(len(bent))] = draw.choice(b'"\\{}[]:,0aZ= \n\x00\xff')
    return bytes(bent)


def cut(data: bytes, draw: Draw) -> bytes:
    start = draw.randrange(len(data))
    return data[:start] + data[start + draw.randint(1, 200) :]


def insert(data: bytes, draw: Draw) -> bytes:
    place = draw.randrange(len(data) + 1)
    return data[:place] + draw.randbytes(draw.randint(1, 40)) + data[place:]


def repeat(data: bytes, draw: Draw) -> bytes:
    start = draw.randrange(len(data))
    piece = data[start : start + draw.randint(1, 400)]
    return data[:start] + piece * draw.randint(2, 9) + data[start:]


def end_early(data: bytes, draw: Draw) -> bytes:
    return data[: draw.randrange(len(data))]


def write(envelope: Any) -> bytes:
    return json.dumps(envelope, sort_keys=True, separators=(",", ":")).encode()


def bend_payload(data: bytes, draw: Draw) -> bytes:
    """Change the statement under right signatures: a figure, a digit of a digest, a word."""
    envelope = json.loads(data)
    payload = bytearray(base64.b64decode(envelope["payload"]))
    for _ in range(draw.randint(1, 3)):
        place = draw.randrange(len(payload))
        payload[place] = draw.choice(b"0123456789abcdef-")
    envelope["payload"] = base64.b64encode(payload).decode()
    return write(envelope)


def bend_signature(data: bytes, draw: Draw) -> bytes:
    """Change a signature so that its form may still be right."""
    envelope = json.loads(data)
    signature = draw.choice(envelope["signatures"])
    raw = bytearray(base64.b64decode(signature["sig"]))
    if draw.random() < 0.3:
        s = int.from_bytes(raw[32:], "little") + ED25519_ORDER * draw.randint(1, 8)
        raw[32:] = (s % 2**256).to_bytes(32, "little")
    else:
        raw[draw.randrange(len(raw))] ^= 1 << draw.randrange(8)
    signature["sig"] = base64.b64encode(raw).decode()
    return write(envelope)


def bend_signatures(data: bytes, draw: Draw) -> bytes:
    """Leave one out, double one, turn them round, exchange them, or give one another key."""
    envelope = json.loads(data)
    first, second = envelope["signatures"]
    other_key = {**first, "keyid": draw.randbytes(32).hex()}
    choices = [
        *(
            [first],
            [second],
            [first, first, second],
            [second, first],
            [],
            [first, second] * draw.randint(2, 500),
        ),
        [{**first, "sig": second["sig"]}, {**second, "sig": first["sig"]}],
        sorted([other_key, second], key=lambda entry: str(entry["keyid"])),
        sorted([first, second, other_key], key=lambda entry: str(entry["keyid"])),
        [{**first, "keyid": first["keyid"].upper()}, second],
    ]
    envelope["signatures"] = draw.choice(choices)
    return write(envelope)


def bend_form(data: bytes, draw: Draw) -> bytes:
    """Write the same value in another form, or say more than is asked for."""
    envelope = json.loads(data)
    deep: Any = []
    for _ in range(draw.randint(1, 300)):
        deep = [deep]
    forms = [
        lambda: json.dumps(envelope, sort_keys=True).encode(),
        lambda: json.dumps(dict(reversed(envelope.items())), separators=(",", ":")).encode(),
        lambda: write({**envelope, "note": draw.randbytes(draw.randint(1, 60)).hex()}),
        lambda: write({**envelope, "payload": deep}),
        lambda: write(
            {
                **envelope,
                "payloadType": draw.choice(["", "text/plain", "application/json", 1, None, deep]),
            }
        ),
        lambda: write(
            {
                **envelope,
                "payload": envelope["payload"] + draw.choice(["=", "==", "\n", " ", "A", "AA=="]),
            }
        ),
        lambda: b"\xef\xbb\xbf" + data,
        lambda: data + draw.choice([b"\n", b" ", b"\x00", b"{}", data]),
        lambda: data.replace(b'"payload"', b'"p\\u0061yload"', 1),
        lambda: data.replace(b'{"payload":', b'{"payload":"","payload":', 1),
        lambda: write([envelope]),
        lambda: data.decode().encode(draw.choice(["utf-16", "utf-32"])),
    ]
    return draw.choice(forms)()


MUTATIONS: tuple[Mutation, ...] = (
    flip_a_bit,
    replace_a_byte,
    cut,
    insert,
    repeat,
    end_early,
    bend_payload,
    bend_signature,
    bend_signatures,
    bend_form,
)


def make_mutants(envelope: bytes, count: int, seed: int) -> Iterator[bytes]:
    """Give `count` mutants, none of which is the envelope itself, none larger than one body may be."""
    draw = Draw(seed)
    made = 0
    while made < count:
        mutant = MUTATIONS[made % len(MUTATIONS)](envelope, draw)
        if mutant != envelope and len(mutant) <= 64 * 1024:
            made += 1
            yield mutant


ANSWERS = {b"400": {"malformed"}, b"403": {"unknown_key", "bad_signature"}}


def read_memory_mib(pid: int) -> float:
    for line in Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) / 1024
    raise AssertionError("no such process")


def connect(port: int) -> socket.socket:
    connection = socket.create_connection(("127.0.0.1", port), timeout=30)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def post_mutants(home: Home, envelope: bytes, count: int, seed: int) -> list[str]:
    """Post mutants to a server of its own; return all faults, and print a summary."""
    faults: list[str] = []
    seen: dict[str, int] = {}
    slowest = 0.0
    memory = 0.0
    with serve(home.directory, 1) as (port, pid):
        connection = connect(port)
        for number, mutant in enumerate(make_mutants(envelope, count, seed)):
            head = f"POST /v1/submissions HTTP/1.1\r\nHost: test\r\nContent-Length: {len(mutant)}\r\n\r\n"
            start = time.perf_counter()
            connection.sendall(head.encode() + mutant)
            answer = read_answer(connection)
            took = time.perf_counter() - start
            slowest = max(slowest, took)
            if b"connection: close" in answer.lower():
                connection.close()
                connection = connect(port)
            status = answer[9:12]
            code = str(json.loads(answer.partition(b"\r\n\r\n")[2]).get("code"))
            seen[code] = seen.get(code, 0) + 1
            if code not in ANSWERS.get(status, set()):
                faults.append(f"mutant {number} of seed {seed}: {status.decode()} {code}")
            if took > SLOWEST_S:
                faults.append(f"mutant {number} of seed {seed}: {took:.2f} s")
            if number == min(WARM_UP, count // 2):
                memory = read_memory_mib(pid)
        grown = read_memory_mib(pid) - memory
        connection.close()
    if grown > MAX_GROWTH_MIB:
        faults.append(f"the server's memory has grown by {grown:.1f} MiB")
    print(
        f"{count} mutants: {seen}; slowest {slowest * 1000:.0f} ms; memory grew by {grown:.1f} MiB"
    )
    return faults


def main() -> None:
    """Make a home, post the mutants, and exit with 1 if anything is wrong."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--mutants", type=int, default=100_000)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = new_home(Path(folder) / "aggregator")
        site = ready(home)
        envelope = site.sign(site.result(registry_of(home), scores(1)))
        with home.database.reading() as connection:
            before = journal.size(connection)
        (home.directory / "aggregator.yaml").write_text(yaml.safe_dump({"requests_per_minute": 0}))
        faults = post_mutants(home, envelope, given.mutants, given.seed)
        with home.database.reading() as connection:
            if journal.size(connection) != before:
                faults.append("a mutant was accepted")
        home.database.close()
    for fault in faults:
        print(fault)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
