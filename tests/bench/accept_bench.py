"""How many submissions a second the centre takes over HTTP, each durable before its receipt: by database and log size.

    python tests/bench/accept_bench.py [--sizes 1000,20000] [--seconds 10] [--federation DIR ...]

The submissions are signed before the clock starts. A process of its own posts them over kept-alive connections, each of
another client, and counts receipts. CPU is read from the system's own accounting, so that a machine that is busy with
something else still gives the cost of an accept.
"""

import argparse
import multiprocessing
import os
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import yaml
from sqlalchemy import create_engine, insert, select

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from aggregator.home import Home
from aggregator.store.schema import metadata
from tests.aggregator.postgres_cluster import create_database, start_cluster
from tests.bench.make_federation import (
    make_federation,
    make_result,
    pad_log,
    read_units,
    reopen_sites,
)

CONNECTIONS = 12
TICKS = os.sysconf("SC_CLK_TCK")
GOALS = {"sqlite": 150, "postgresql": 300}


@dataclass(frozen=True)
class Measured:
    """One run: wall time, and seconds of CPU by part."""

    accepted: int
    wall_s: float
    server_s: float
    database_s: float
    loader_s: float

    @property
    def per_second(self) -> float:
        """Accepted submissions a second of wall time."""
        return self.accepted / self.wall_s

    def describe(self) -> str:
        """Return the run in one line."""
        server, database, loader = (
            1000 * seconds / self.accepted
            for seconds in (self.server_s, self.database_s, self.loader_s)
        )
        share = self.loader_s / (self.server_s + self.database_s + self.loader_s)
        return (
            f"{self.per_second:6.0f}/s; CPU an accept: server {server:.2f} ms, database {database:.2f} ms, "
            f"load generator {loader:.2f} ms ({share:.0%})"
        )


def sign_submissions(home: Home, count: int) -> list[list[bytes]]:
    """Return for each connection the submissions to post one after the other, those of a site on one connection."""
    plan, sites = reopen_sites(home)
    sites = sites[: CONNECTIONS * 4]
    draw = random.Random()
    queues: list[list[bytes]] = [[] for _ in range(CONNECTIONS)]
    for round_number in range(-(-count // len(sites))):
        for number, site in enumerate(sites):
            model = plan.models[round_number % len(plan.models)]
            link = site.sign_link(
                make_result(plan, site, model, 0.6, read_units(plan, site), draw),
                plan.registry,
                plan.today,
            )
            queues[number % CONNECTIONS].append(link.envelope)
    return queues


def post_all(
    port: int, queue: Sequence[bytes], client: str, deadline: float, taken: list[int]
) -> None:
    """Post envelopes over one connection until the deadline, in `time.monotonic`; append how many got a receipt."""
    count = 0
    with socket.create_connection(("127.0.0.1", port)) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for envelope in queue:
            if time.monotonic() > deadline:
                break
            head = (
                f"POST /v1/submissions HTTP/1.1\r\nHost: bench\r\nX-Forwarded-For: {client}\r\n"
                f"Content-Length: {len(envelope)}\r\n\r\n"
            )
            connection.sendall(head.encode() + envelope)
            answer = read_answer(connection)
            if not answer.startswith(b"HTTP/1.1 200"):
                raise RuntimeError(answer[-300:].decode("latin-1"))
            count += 1
    taken.append(count)


def read_answer(connection: socket.socket) -> bytes:
    """Return one answer with a Content-Length. Raises ConnectionError if the server hangs up before its end."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += receive(connection)
    head, _, body = data.partition(b"\r\n\r\n")
    lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
    missing = int(lengths[0].partition(b":")[2]) - len(body)
    while missing > 0:
        more = receive(connection)
        data, missing = data + more, missing - len(more)
    return data


def receive(connection: socket.socket) -> bytes:
    """Return some bytes. Raises ConnectionError if there are no more."""
    data = connection.recv(65536)
    if not data:
        raise ConnectionError("the server hung up")
    return data


def run_loader(
    port: int,
    queues: Sequence[Sequence[bytes]],
    seconds: float,
    answer: "multiprocessing.Queue[float]",
) -> None:
    """Post from one thread a connection; report accepted, wall and CPU seconds."""
    taken: list[int] = []
    start, cpu = time.monotonic(), time.process_time()
    threads = []
    for number, queue in enumerate(queues):
        arguments = (port, queue, f"192.0.2.{number + 1}", start + seconds, taken)
        threads.append(threading.Thread(target=post_all, args=arguments))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(queues), "a connection failed"
    for figure in (float(sum(taken)), time.monotonic() - start, time.process_time() - cpu):
        answer.put(figure)


def cpu_seconds(pids: Sequence[int]) -> float:
    """Return the CPU seconds that processes have used, with those of their children that ended."""
    total = 0
    for pid in pids:
        try:
            fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        except OSError:
            continue
        total += sum(map(int, fields[11:15]))
    return total / TICKS


def descendants(pid: int) -> list[int]:
    """Return a process and all below it."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    found = [pid]
    for child in children:
        found += descendants(int(child))
    return found


@contextmanager
def serve(directory: Path, workers: int) -> Iterator[tuple[int, int]]:
    """Run the real command; give its port and process."""
    command = [sys.executable, "-m", "aggregator", "--dir", str(directory), "serve", "--port", "0"]
    command += ["--workers", str(workers), "--log-level", "warning"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        port = int(process.stdout.readline().rsplit(":", 1)[1])
        try:
            yield port, process.pid
        finally:
            process.terminate()


def measure(
    directory: Path, *, workers: int, seconds: float, count: int, postmaster: int | None = None
) -> Measured:
    """Post to a served directory for some seconds."""
    home = Home(directory)
    queues = sign_submissions(home, count)
    home.database.close()
    with serve(directory, workers) as (port, server):
        warm = [queue[:2] for queue in queues]
        for queue in queues:
            del queue[:2]
        answer: multiprocessing.Queue[float] = multiprocessing.get_context("fork").Queue()
        run_in_process(port, warm, 60.0, answer)
        servers = descendants(server)
        databases = descendants(postmaster) if postmaster is not None else []
        before = cpu_seconds(servers), cpu_seconds(databases)
        accepted, wall, loader = run_in_process(port, queues, seconds, answer)
        after = cpu_seconds(servers), cpu_seconds(databases)
    return Measured(int(accepted), wall, after[0] - before[0], after[1] - before[1], loader)


def run_in_process(
    port: int,
    queues: Sequence[Sequence[bytes]],
    seconds: float,
    answer: "multiprocessing.Queue[float]",
) -> list[float]:
    """Run the loader in a process of its own; return its three figures."""
    process = multiprocessing.get_context("fork").Process(
        target=run_loader, args=(port, queues, seconds, answer)
    )
    process.start()
    figures = [answer.get(timeout=seconds + 120) for _ in range(3)]
    process.join()
    return figures


def configure(directory: Path, database_url: str | None) -> None:
    """Let the loader's connections count as those of many clients behind one proxy."""
    settings = {
        "database_url": database_url,
        "trusted_proxies": ["127.0.0.1"],
        "requests_per_minute": 0,
    }
    kept = {name: value for name, value in settings.items() if value is not None}
    (directory / "aggregator.yaml").write_text(yaml.safe_dump(kept))


def copy_to_postgresql(directory: Path, url: str) -> None:
    """Fill an empty PostgreSQL database with what a directory's SQLite file holds."""
    configure(directory, url)
    home = Home(directory)
    home.database.migrate()
    source = create_engine(f"sqlite:///{directory / 'aggregator.sqlite3'}")
    with source.connect() as reading, home.database.engine.begin() as writing:
        for table in metadata.sorted_tables:
            for rows in reading.execute(select(table)).mappings().partitions(2000):
                writing.execute(insert(table), [dict(row) for row in rows])
    source.dispose()
    with home.database.engine.connect().execution_options(
        isolation_level="AUTOCOMMIT"
    ) as connection:
        connection.exec_driver_sql("VACUUM ANALYZE")
    home.database.close()


def find_postmaster(url: str) -> int:
    """Return the process id of the server behind a URL with a socket's folder."""
    folder = Path(url.rpartition("host=")[2])
    return int((folder / "data" / "postmaster.pid").read_text().split("\n")[0])


def main() -> None:
    """Measure every size on both databases and print the ratios."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument(
        "--sizes", default="1000,20000", help="entries in the log before the clock starts"
    )
    options.add_argument("--seconds", type=float, default=10.0)
    options.add_argument("--databases", default="sqlite,postgresql")
    given = options.parse_args()
    made: dict[str, Path] = {}
    with tempfile.TemporaryDirectory(prefix="accept-bench-") as temporary:
        for size in given.sizes.split(","):
            made[size] = Path(temporary) / f"made-{size}"
            home = make_federation(made[size], sites=48, models=8)
            pad_log(home, int(size))
            home.database.close()
        for database in given.databases.split(","):
            rates = []
            for size in given.sizes.split(","):
                directory = Path(
                    shutil.copytree(made[size], Path(temporary) / f"{database}-{size}")
                )
                count = int(given.seconds * GOALS[database] * 2) + 200
                configure(directory, None)
                if database == "sqlite":
                    measured = measure(directory, workers=1, seconds=given.seconds, count=count)
                else:
                    with start_cluster(is_durable=True) as cluster:
                        url = create_database(cluster)
                        copy_to_postgresql(directory, url)
                        postmaster = find_postmaster(cluster)
                        measured = measure(
                            directory,
                            workers=2,
                            seconds=given.seconds,
                            count=count,
                            postmaster=postmaster,
                        )
                shutil.rmtree(directory)
                rates.append(measured)
                print(
                    f"{database:10} {size:>7} entries: {measured.describe()} (goal {GOALS[database]}/s)",
                    flush=True,
                )
            costs = [(run.server_s + run.database_s) / run.accepted for run in rates]
            print(
                f"{database:10} CPU an accept, largest log to smallest: {costs[-1] / costs[0]:.2f} (goal 1.3)"
            )


if __name__ == "__main__":
    main()
