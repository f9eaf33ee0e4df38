"""A real PostgreSQL for tests: a cluster of its own, reached through its socket, gone afterwards."""

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import create_engine, make_url, text


def find_programs() -> Path:
    """Return the folder of the newest PostgreSQL's programs; Debian keeps them off the path. Without any, skip."""
    debian = sorted(
        Path("/usr/lib/postgresql").glob("*/bin/initdb"), key=lambda path: int(path.parts[-3])
    )
    found = debian[-1] if debian else shutil.which("initdb")
    if found is None:
        pytest.skip(
            "PostgreSQL is not installed (Debian: apt-get install postgresql)",
            allow_module_level=True,
        )
    pytest.importorskip(
        "psycopg", reason="PostgreSQL's driver is not installed (pip install -e '.[postgres]')"
    )
    return Path(found).parent


@contextlib.contextmanager
def start_cluster(*, is_durable: bool = False) -> Iterator[str]:
    """Start PostgreSQL and give the URL of its server, without the database's name.

    Args:
        is_durable: whether a commit waits for the disk, as it does in production; tests need not.
    """
    programs = find_programs()
    place = Path(tempfile.mkdtemp(prefix="pg-"))  # a socket's path must be short
    user = None
    if os.geteuid() == 0:  # which PostgreSQL refuses to run as
        user = pwd.getpwnam("nobody").pw_uid
        os.chown(place, user, -1)

    def program(name: str, *words: str) -> None:
        environment = {"LC_ALL": "C", "PATH": os.defpath, "HOME": str(place)}
        subprocess.run(
            [programs / name, "-D", place / "data", *words],
            check=True, cwd=place, env=environment, user=user, stdout=subprocess.DEVNULL,
        )  # fmt: skip

    try:
        program("initdb", "--username=tester", "--auth=trust", "--encoding=UTF8", "--no-sync")
        options = (
            f"-c listen_addresses='' -c unix_socket_directories='{place}' -c max_connections=60"
        )
        options += "" if is_durable else " -c fsync=off"
        program("pg_ctl", "--wait", "--log", str(place / "log"), "--options", options, "start")
        try:
            yield f"postgresql+psycopg://tester@/{{database}}?host={place}"
        finally:
            program("pg_ctl", "--mode=immediate", "stop")
    finally:
        shutil.rmtree(place)


def create_database(cluster: str) -> str:
    """Make an empty database in a cluster; return its URL."""
    name = _draw_name()
    _run_on_server(cluster.format(database="postgres"), f"CREATE DATABASE {name}")
    return cluster.format(database=name)


def copy_database(url: str, copy_url: str | None = None) -> str:
    """Copy a database; return the copy's URL. Whoever is still connected to it is cut off.

    Args:
        url: of the database.
        copy_url: of the copy, on the same server and not there yet; drawn if None.
    """
    source = make_url(url)
    copy = make_url(copy_url) if copy_url is not None else source.set(database=_draw_name())
    # Commands that ran in this process may have left connections behind, and each would forbid the copy.
    connected = f"FROM pg_stat_activity WHERE datname = '{source.database}'"
    _run_on_server(_administrators(url), f"SELECT pg_terminate_backend(pid) {connected}")
    _run_on_server(
        _administrators(url), f"CREATE DATABASE {copy.database} TEMPLATE {source.database}"
    )
    return copy.render_as_string()


def drop_database(url: str) -> None:
    """Drop a database, and end whoever is connected to it."""
    _run_on_server(_administrators(url), f"DROP DATABASE {make_url(url).database} WITH (FORCE)")


def _administrators(url: str) -> str:
    """Return the URL of the database on the same server from which others are made and dropped."""
    return make_url(url).set(database="postgres").render_as_string()


def _draw_name() -> str:
    return "t" + os.urandom(6).hex()


def _run_on_server(url: str, statement: str) -> None:
    server = create_engine(url, isolation_level="AUTOCOMMIT")
    with server.connect() as connection:
        connection.execute(text(statement))
    server.dispose()
