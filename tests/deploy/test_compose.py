"""deploy/compose: in form, and so that nothing but the doors leads out of its networks."""

import asyncio
import json
import re
import socket
import ssl
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema_rs import Draft7Validator

from tests.deploy.guides import DEPLOY
from tests.end_to_end.wire import PrivateAuthority

COMPOSE = DEPLOY / "compose"
TEXT = (COMPOSE / "compose.yaml").read_text("utf-8")
CONTENT: dict[str, Any] = yaml.safe_load(TEXT)
SERVICES: dict[str, dict[str, Any]] = CONTENT["services"]
DOORS = {"pages", "delivery", "inference", "board"}


SCHEMA = json.loads(
    Path(__file__).with_name("compose_spec").joinpath("compose-spec.json").read_text("utf-8")
)


def test_the_file_is_what_the_compose_specification_describes():
    assert [str(fault) for fault in Draft7Validator(SCHEMA).iter_errors(CONTENT)] == []


def test_a_misspelt_key_is_not_what_the_compose_specification_describes():
    services = {**SERVICES, "agent": {**SERVICES["agent"], "readonly": True}}
    assert not Draft7Validator(SCHEMA).is_valid({**CONTENT, "services": services})


def test_images_are_named_by_this_version_and_others_by_the_person_who_chooses_them():
    version = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text("utf-8"))["project"][
        "version"
    ]
    for service in SERVICES.values():
        default = service["image"].partition(":")[2].removesuffix("}")
        assert default.startswith("?") or re.fullmatch(
            rf"-localhost/intramural-[a-z-]+:{re.escape(version)}", default
        )


def test_only_doors_are_in_networks_that_lead_out():
    inside = {name for name, network in CONTENT["networks"].items() if network.get("internal")}
    outside = set(CONTENT["networks"]) - inside
    assert {
        name for name, service in SERVICES.items() if set(service["networks"]) & outside
    } == DOORS
    assert all("network_mode" not in service for service in SERVICES.values())
    assert {name for name, service in SERVICES.items() if "ports" in service} == {"pages", "board"}


def test_each_door_leads_to_one_address():
    for name in DOORS:
        door = SERVICES[name]
        assert door["entrypoint"][-1] == "/forward.py"
        assert len(door["command"]) == 2
        assert "volumes" not in door
        assert "secrets" not in door
    assert SERVICES["delivery"]["command"][1].startswith("${AGGREGATOR_ADDRESS:?")
    assert SERVICES["pages"]["command"][1] == "agent:8766"


def test_the_model_server_reaches_neither_the_aggregator_nor_people():
    assert set(SERVICES["vllm"]["networks"]) == {"models"}
    assert set(SERVICES["agent"]["networks"]) == {"people", "door", "models"}


@pytest.mark.parametrize("name", SERVICES)
def test_a_service_may_do_no_more_than_its_program_needs(name: str):
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]
    assert not str(service["user"]).startswith(("0", "root"))
    assert service["ulimits"] == {"core": 0}
    assert not {"privileged", "cap_add", "devices", "pid", "ipc"} & set(service)


def test_the_agent_has_no_swap():
    agent = SERVICES["agent"]
    assert agent["memswap_limit"] == agent["mem_limit"]


def test_secrets_come_from_files_alone():
    for secret in CONTENT["secrets"].values():
        assert set(secret) == {"file"}
    for service in SERVICES.values():
        for name, value in service.get("environment", {}).items():
            assert "PASSWORD" not in name or value.startswith("/run/secrets/")
    ignored = (DEPLOY.parent / ".gitignore").read_text().splitlines()
    assert {"/deploy/compose/secrets/", "/deploy/compose/.env"} <= set(ignored)


def test_every_variable_is_explained_and_the_required_ones_are_in_the_example():
    guide = (COMPOSE / "README.md").read_text("utf-8")
    example = (COMPOSE / "example.env").read_text("utf-8")
    for name, default in re.findall(r"\$\{([A-Z_]+)(:[?-])", TEXT):
        assert f"`{name}`" in guide
        if default == ":?":
            assert f"\n{name}=" in example


@contextmanager
def open_door(target: str) -> Iterator[int]:
    """Run a door to an address; yield its port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = (sys.executable, "-I", str(COMPOSE / "forward.py"), str(port), target)
    door = subprocess.Popen(command)
    try:
        for _ in range(600):
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                break
            except ConnectionRefusedError:
                assert door.poll() is None
                threading.Event().wait(0.1)
        yield port
    finally:
        door.terminate()
        assert door.wait(30) == -15


@contextmanager
def serve_lengths(context: ssl.SSLContext | None = None) -> Iterator[int]:
    """Answer each connection with the number of bytes that it sent before it was done; yield the port."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        content = await (reader.readline() if context else reader.read())
        writer.write(f"{len(content)} ".encode() * 1000)
        await writer.drain()
        writer.close()

    loop = asyncio.new_event_loop()
    server = loop.run_until_complete(asyncio.start_server(answer, "127.0.0.1", 0, ssl=context))
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.run_until_complete(asyncio.sleep(0))
        server.close()
        loop.close()


def receive_all(connection: socket.socket) -> bytes:
    pieces = []
    while piece := connection.recv(65_536):
        pieces.append(piece)
    return b"".join(pieces)


def test_a_door_passes_on_what_both_ends_send_up_to_the_last_byte():
    with (
        serve_lengths() as port,
        open_door(f"127.0.0.1:{port}") as door,
        socket.create_connection(("127.0.0.1", door), 60) as connection,
    ):
        connection.sendall(b"x" * 3_000_000)
        connection.shutdown(socket.SHUT_WR)
        assert receive_all(connection) == b"3000000 " * 1000


def test_tls_goes_through_a_door_from_end_to_end(tmp_path: Path):
    authority = PrivateAuthority(tmp_path)
    identity = authority.issue("board.example").context()
    client = ssl.create_default_context(cafile=str(authority.bundle))
    with serve_lengths(identity) as port, open_door(f"127.0.0.1:{port}") as door:
        plain = socket.create_connection(("127.0.0.1", door), 60)
        with client.wrap_socket(plain, server_hostname="board.example") as connection:
            connection.sendall(b"report\n")
            assert connection.recv(2) == b"7 "


def test_a_door_to_a_server_that_is_gone_ends_each_connection_at_once():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    with open_door(f"127.0.0.1:{port}") as door:
        for _ in range(3):
            with socket.create_connection(("127.0.0.1", door), 60) as connection:
                assert connection.recv(1) == b""


def test_people_who_break_off_leave_the_door_open_for_others():
    with serve_lengths() as port, open_door(f"127.0.0.1:{port}") as door:
        for _ in range(50):
            broken = socket.create_connection(("127.0.0.1", door), 60)
            broken.sendall(b"x" * 100_000)
            reset = (1).to_bytes(4, sys.byteorder) + bytes(4)
            broken.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, reset)
            broken.close()
        with socket.create_connection(("127.0.0.1", door), 60) as connection:
            connection.sendall(b"xy")
            connection.shutdown(socket.SHUT_WR)
            assert receive_all(connection) == b"2 " * 1000


@pytest.mark.parametrize(
    "target", ["board.example", ":443", "board.example:", "board.example:https"]
)
def test_a_door_to_no_address_does_not_open(target: str):
    command = (sys.executable, "-I", str(COMPOSE / "forward.py"), "1", target)
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert "expected HOST:PORT" in done.stderr
