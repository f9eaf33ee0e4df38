"""Failed sign-ins are counted across restarts, and what waits for the provider is used once."""

from pathlib import Path

from agent.store import Store, Vault
from agent.store.sign_ins import AttemptCounts
from tests.agent.store.begun_runs import AUDIT_KEY, KEY
from tests.agent.store.test_accounts import file_bytes


def test_a_restart_forgets_no_failed_attempt(store: Store, path: Path):
    anna, boris = store.accounts.key_name("anna"), store.accounts.key_name("boris")
    for at in (10, 20, 30):
        store.sign_ins.add_attempt(anna, at)
    store.sign_ins.add_attempt(boris, 30)
    store.close()
    again = Store(path, Vault(KEY), AUDIT_KEY)
    assert again.sign_ins.count_attempts(anna, since=10) == AttemptCounts(2, 3)
    again.sign_ins.delete_older(20)
    assert again.sign_ins.count_attempts(anna, since=0) == AttemptCounts(1, 2)
    again.sign_ins.forget_attempts(anna)
    assert again.sign_ins.count_attempts(anna, since=0) == AttemptCounts(0, 1)
    again.close()


def test_attempts_of_the_future_count_from_now_once_the_clock_is_set_back(store: Store):
    anna = store.accounts.key_name("anna")
    store.sign_ins.add_attempt(anna, 1_000_000)
    store.sign_ins.move_back(50)
    assert store.sign_ins.count_attempts(anna, since=49) == AttemptCounts(1, 1)
    assert store.sign_ins.count_attempts(anna, since=50) == AttemptCounts(0, 0)


def test_what_waits_for_the_provider_is_taken_once_in_time_and_sealed(store: Store, path: Path):
    store.sign_ins.add_pending("cookie-secret", {"state": "state-secret"}, expires_at=100)
    store.sign_ins.add_pending("late", {"state": "s"}, expires_at=100)
    assert store.sign_ins.count_pending() == 2
    assert store.sign_ins.take_pending("other", 99) is None
    assert b"-secret" not in file_bytes(path)
    assert store.sign_ins.take_pending("cookie-secret", 99) == {"state": "state-secret"}
    assert store.sign_ins.take_pending("cookie-secret", 99) is None
    assert store.sign_ins.take_pending("late", 100) is None
    assert store.sign_ins.count_pending() == 0
