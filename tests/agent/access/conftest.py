"""A store with three people, and the limits of a site that changed no setting."""

from pathlib import Path

import pytest

from agent.access.accounts import add_account
from agent.access.sessions import SessionLimits, read_session_limits
from agent.access.sign_in import SignInLimits, read_sign_in_limits
from agent.site.settings import Settings
from agent.store import Account, Role, Store, Vault
from tests.agent.access.people import PASSWORD
from tests.agent.access.quick_passwords import hash_quickly
from tests.agent.store.begun_runs import AUDIT_KEY, KEY


@pytest.fixture(autouse=True)
def quick_passwords(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords take no time to hash, except where a test asks for `real_passwords`."""
    if "real_passwords" not in request.fixturenames:
        hash_quickly(monkeypatch)


@pytest.fixture
def real_passwords() -> None:
    """Passwords are hashed as at a site, for tests of the parameters, of time and of threads."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store" / "site.sqlite3"


@pytest.fixture
def store(path: Path):
    store = Store(path, Vault(KEY), AUDIT_KEY)
    yield store
    store.close()


@pytest.fixture
def settings() -> Settings:
    return Settings(site_name="St. Elsewhere")


@pytest.fixture
def session_limits(settings: Settings) -> SessionLimits:
    return read_session_limits(settings)


@pytest.fixture
def sign_in_limits(settings: Settings) -> SignInLimits:
    return read_sign_in_limits(settings)


@pytest.fixture
def anna(store: Store) -> Account:
    return add_account(store, "anna", [Role.DATA_SCIENTIST], 0, password=PASSWORD)


@pytest.fixture
def boris(store: Store) -> Account:
    return add_account(store, "boris", [Role.STEWARD], 0, password=PASSWORD)


@pytest.fixture
def clara(store: Store) -> Account:
    return add_account(store, "clara", [Role.ADMINISTRATOR], 0, password=PASSWORD)
