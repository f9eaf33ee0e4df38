"""A site with something of everything, and a copy of it."""

from pathlib import Path

import pytest

from agent.backup import sealing
from agent.backup.restore import open_copy_keys, read_header, restore_copy
from agent.backup.write import write_copy
from agent.site.directory import Site, create_site
from tests.agent.store.begun_runs import CANARY, begin, response

PASSPHRASE = "four words nobody joined"


def fill_site(directory: Path) -> Site:
    """Make a site with four answers, data, a benchmark of its own, a secret and things that are made again."""
    site = create_site(directory, "St. Example")
    with site.store() as store:
        run_id, keys = begin(store)
        store.answers.settle(
            run_id, [(key, response()) for key in keys], [(i, "exact_match", 1.0) for i in range(4)]
        )
        store.runs.end(run_id)
    for name in ("data/ward", "data/.frozen/ward", "benchmarks/ward", "jobs", "servers", "models"):
        (directory / name).mkdir(mode=0o700, parents=True)
    (directory / "data/ward/notes.jsonl").write_text(f'{{"text": "{CANARY}"}}\n')
    (directory / "data/.frozen/ward/1.jsonl").write_text(f"{CANARY}\n")
    (directory / "benchmarks/ward/benchmark.yaml").write_text("name: ward\n")
    (directory / "smtp.secret").write_text("secret-of-the-mail-server\n")
    (directory / "smtp.secret").chmod(0o600)
    (directory / "jobs/1234.log").write_text("a log\n")
    (directory / "servers/token").write_text("a token\n")
    (directory / "models/weights").write_bytes(b"w" * 3_000_000)
    return site


@pytest.fixture(autouse=True)
def quick_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a second of most tests would go into scrypt; test_sealing.py and test_kills.py have its real parameters."""
    monkeypatch.setitem(sealing._SCRYPT, "n", 2**10)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return fill_site(tmp_path / "site")


@pytest.fixture
def copy(site: Site, tmp_path: Path) -> Path:
    path = tmp_path / "copy"
    write_copy(site, path, passphrase=PASSPHRASE)
    return path


def restore_with_passphrase(copy: Path, directory: Path) -> Site:
    keys = open_copy_keys(read_header(copy), PASSPHRASE)
    return restore_copy(copy, directory, keys).site
