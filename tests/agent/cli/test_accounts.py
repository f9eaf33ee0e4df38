"""`intramural accounts` as administrators use it: nothing secret on the screen, in the arguments or in the log."""

import json
import os
import pty
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agent.access.passwords import verify_password
from agent.access.sessions import open_session
from agent.site.directory import Site, create_site
from agent.store import Account, Role
from tests.agent.terminal import Done, intramural

PASSWORD = "seven lamps above the quay"


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return create_site(tmp_path / "site", "St. Elsewhere")


def accounts(site: Site, *words: str | Path) -> Done:
    return intramural("--site", site.directory, "accounts", *words, cwd=site.directory)


def add(site: Site, name: str, *roles: Role) -> str:
    """Add a local account on the command line and return its id."""
    file = site.directory / "password.txt"
    file.write_text(f"{PASSWORD}\n")
    chosen = [word for role in roles for word in ("--role", role.value)]
    done = accounts(site, "add", name, *chosen, "--password-file", file)
    assert done.returncode == 0, done.stderr
    return done.stdout.split()[-1]


def listed(site: Site, *words: str) -> list[dict[str, object]]:
    done = accounts(site, *words, "--format", "json")
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, object]] = json.loads(done.stdout)
    return rows


def find(site: Site, name: str) -> Account:
    with site.store() as store:
        account = store.accounts.find(name)
    assert account is not None
    return account


def test_the_first_administrator_is_added_by_whoever_owns_the_site(site: Site):
    assert "accounts add NAME --role administrator" in accounts(site, "list").stdout
    account_id = add(site, "clara", Role.ADMINISTRATOR)
    (row,) = listed(site, "list")
    assert (row["name"], row["roles"], row["state"], row["id"]) == (
        "clara",
        "administrator",
        "first password",
        account_id,
    )
    log = intramural("--site", site.directory, "audit", cwd=site.directory).stdout
    assert f"account={account_id} roles=administrator origin=local by=command line" in log
    assert "clara" not in log


def test_the_command_says_that_a_given_password_must_be_changed(site: Site):
    file = site.directory / "password.txt"
    file.write_text(f"{PASSWORD}\n")
    options = ("--role", "viewer", "--password-file", file)
    given = accounts(site, "add", "anna", *options)
    assert "note: anna has to choose another password at the first sign-in" in given.stderr
    own = accounts(site, "add", "boris", *options, "--own-password")
    assert own.stderr == ""
    assert find(site, "anna").must_change_password
    assert not find(site, "boris").must_change_password
    again = accounts(site, "password", "boris", "--password-file", file)
    assert "boris has to choose another password at the next sign-in" in again.stderr
    assert find(site, "boris").must_change_password
    refused = accounts(site, "add", "new user!", *options)
    assert refused.returncode == 2
    assert "letters, digits and the signs . _ - @ only" in refused.stderr


def type_password(site: Site, *typed: str) -> tuple[int, str]:
    """Add an account in a terminal and type each answer. Return the exit code and everything on the screen."""
    words = ["--site", str(site.directory), "accounts", "add", "clara", "--role", "viewer"]
    child, screen = pty.fork()
    if child == 0:
        os.execv(sys.executable, [sys.executable, "-m", "agent", *words])
    shown = b""
    waiting = list(typed)
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            shown += os.read(screen, 4096)
        except OSError:  # the command has ended
            break
        if waiting and shown.endswith(b": "):
            os.write(screen, waiting.pop(0).encode() + b"\n")
            shown += b"|"
    _, status = os.waitpid(child, 0)
    os.close(screen)
    return os.waitstatus_to_exitcode(status), shown.decode()


def test_a_password_typed_in_a_terminal_is_not_shown(site: Site):
    code, shown = type_password(site, PASSWORD, "a slip of the fingers", PASSWORD, PASSWORD)
    assert code == 0, shown
    assert PASSWORD not in shown
    assert "added clara" in shown
    with site.store() as store:
        password_hash = store.accounts.read_password_hash(find(site, "clara").account_id)
    assert verify_password(password_hash, PASSWORD)


def test_a_password_that_is_too_easy_to_guess_is_asked_for_again(site: Site):
    code, shown = type_password(site, "short", "short", "clara", "clara", PASSWORD, PASSWORD)
    assert code == 0, shown
    assert shown.count("the password has fewer than 12 characters") == 2
    assert "added clara" in shown


def test_who_types_too_easy_passwords_three_times_gets_no_account(site: Site):
    code, shown = type_password(site, *["password1234"] * 6)
    assert code == 2, shown
    assert shown.count("the password is among the most common ones") == 3
    with site.store() as store:
        assert store.accounts.find("clara") is None


def test_a_password_from_standard_input_is_the_first_line(site: Site):
    words = ["accounts", "add", "clara", "--role", "viewer", "--password-file", "-"]
    done = subprocess.run(
        [sys.executable, "-m", "agent", "--site", site.directory, *words],
        input=f"{PASSWORD}\r\nanother line\n",
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    with site.store() as store:
        password_hash = store.accounts.read_password_hash(find(site, "clara").account_id)
    assert verify_password(password_hash, PASSWORD)


def test_a_password_is_no_argument(site: Site):
    done = accounts(site, "add", "clara", "--role", "viewer", "--password", PASSWORD)
    assert done.returncode == 2
    assert "No such option" in done.stderr
    assert PASSWORD not in done.stderr.replace("--password", "")


@pytest.mark.parametrize(
    ("content", "finding"),
    [
        (b"short\n", "fewer than 12 characters"),
        (b"", "fewer than 12 characters"),
        (b"password1234", "most common"),
        (b"clara0123456789", "a name that everyone knows"),
        (b"\xff\xfe\xff", "is not UTF-8"),
    ],
)
def test_a_weak_password_adds_no_account_and_is_not_quoted(
    site: Site, content: bytes, finding: str
):
    file = site.directory / "password.txt"
    file.write_bytes(content)
    done = accounts(site, "add", "clara", "--role", "viewer", "--password-file", file)
    assert done.returncode == 2
    assert finding in done.stderr
    assert not content or content.decode("latin-1") not in done.stderr
    assert listed(site, "list") == []


@pytest.mark.parametrize(
    ("words", "finding"),
    [
        (["add", "clara"], "Missing option '--role'"),
        (["add", "clara", "--role", "emperor"], "'emperor' is not one of"),
        (["add", "", "--role", "viewer"], "1 to 100 visible characters"),
        (["add", "clara", "--role", "viewer", "--origin", "oidc", "--subject", "1"], "oidc_issuer"),
        (["add", "clara", "--role", "viewer", "--subject", "1"], "only for --origin oidc"),
        (["lock", "nobody"], "no account named nobody"),
        (["password", "nobody"], "no account named nobody"),
        (["sessions", "nobody"], "no account named nobody"),
    ],
)
def test_what_cannot_be_done_is_said_with_what_to_do(site: Site, words: list[str], finding: str):
    done = accounts(site, *words)
    assert done.returncode == 2
    assert finding in done.stderr


def test_roles_and_reveal_are_changed_and_listed(site: Site):
    add(site, "clara", Role.ADMINISTRATOR)
    add(site, "anna", Role.VIEWER)
    done = accounts(site, "roles", "anna", "--role", "steward", "--role", "data_scientist")
    assert done.stdout == "anna is now data_scientist, steward\n"
    assert accounts(site, "reveal", "ANNA").stdout == "anna may see original texts\n"
    assert listed(site, "list")[0]["reveal"] is True
    withdrawn = accounts(site, "reveal", "anna", "--withdraw")
    assert withdrawn.stdout == "anna sees redacted texts only\n"
    assert not find(site, "anna").may_reveal


def test_locking_ends_sessions_and_the_last_administrator_is_missed(site: Site):
    add(site, "clara", Role.ADMINISTRATOR)
    with site.store() as store:
        open_session(store, find(site, "clara"), time.time())
    assert [row["name"] for row in listed(site, "sessions")] == ["clara"]
    done = accounts(site, "lock", "clara")
    assert done.stdout == "clara is locked; its sessions and API tokens have ended\n"
    assert "No administrator is left" in done.stderr
    assert listed(site, "sessions") == []
    assert listed(site, "list")[0]["state"] == "locked"
    assert accounts(site, "unlock", "clara").returncode == 0
    assert not find(site, "clara").locked


def test_sessions_are_listed_and_ended_by_name(site: Site):
    for name in ("anna", "boris"):
        add(site, name, Role.VIEWER)
        with site.store() as store:
            open_session(store, find(site, name), time.time())
    assert [row["name"] for row in listed(site, "sessions", "anna")] == ["anna"]
    assert accounts(site, "end-sessions", "anna").stdout == "1 sessions ended\n"
    assert [row["name"] for row in listed(site, "sessions")] == ["boris"]
    assert "Nobody is signed in" in accounts(site, "sessions", "anna").stdout


def test_a_new_password_ends_the_sessions_and_replaces_the_old_one(site: Site):
    add(site, "anna", Role.VIEWER)
    with site.store() as store:
        open_session(store, find(site, "anna"), time.time())
    file = site.directory / "password.txt"
    file.write_text("another four words here")
    done = accounts(site, "password", "anna", "--password-file", file)
    assert done.returncode == 0, done.stderr
    assert listed(site, "sessions") == []
    with site.store() as store:
        password_hash = store.accounts.read_password_hash(find(site, "anna").account_id)
    assert not verify_password(password_hash, PASSWORD)
    assert verify_password(password_hash, "another four words here")


def test_people_of_a_provider_are_added_by_their_identifier_and_have_no_password(site: Site):
    with (site.directory / "site.yaml").open("a") as file:
        file.write("oidc_issuer: https://sso.example.org\noidc_roles: {wards: viewer}\n")
    site = Site(site.directory)
    missing = accounts(site, "add", "dora", "--role", "viewer", "--origin", "oidc")
    assert "--subject is missing" in missing.stderr
    words = ["add", "dora", "--role", "viewer", "--origin", "oidc", "--subject", "1"]
    assert accounts(site, *words).returncode == 0
    with site.store() as store:
        assert store.accounts.find_subject(find(site, "dora").origin, "https://sso.example.org 1")
    assert (
        "signs in elsewhere"
        in accounts(site, "password", "dora", "--password-file", "/dev/null").stderr
    )
    again = accounts(site, "roles", "dora", "--role", "steward")
    assert "give the roles anew at the next sign-in" in again.stderr


def test_a_name_with_control_characters_never_reaches_the_terminal(site: Site):
    done = accounts(site, "add", "\x1b[31mclara", "--role", "viewer")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    missing = accounts(site, "lock", "\x1b[31mclara")
    assert "\x1b[31mclara" not in missing.stderr
