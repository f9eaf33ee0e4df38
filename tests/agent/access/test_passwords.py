"""Passwords: long ones are enough, common ones are not, and none is stored or quoted."""

import pytest

from agent.access.passwords import (
    LONGEST,
    check_password_strength,
    hash_password,
    is_outdated,
    verify_password,
)
from agent.errors import ConfigError

pytestmark = pytest.mark.usefixtures("real_passwords")


@pytest.mark.parametrize(
    "password",
    [
        "seven lamps above the quay",
        "jugo de naranja frío",
        "zwölf Boxkämpfer jagen",
        "tr0ub4dor&3 again",
        "x" * 8 + "abcdefgh",
        "病院の四つの言葉です今日は晴れ",
        "password of my grandmother's cat",
    ],
)
def test_a_long_password_is_accepted_whatever_it_is_made_of(password: str):
    check_password_strength(password, "anna", "St. Elsewhere")


@pytest.mark.parametrize(
    ("password", "finding"),
    [
        ("", "fewer than 12"),
        ("short", "fewer than 12"),
        ("elevenchars", "fewer than 12"),
        ("x" * (LONGEST + 1), "more than 256"),
        ("aaaaaaaaaaaaaaa", "repeats one to three characters"),
        ("121212121212", "repeats one to three characters"),
        ("Password1234", "most common"),
        ("Password12345678", "digits or signs around it do not make it harder"),
        ("PASSWORD!!!!!", "most common"),
        ("123Passwort123", "most common"),
        ("Summer2026!!!", "most common"),
        ("123456789012", "most common"),
        ("1q2w3e4r5t6y", "most common"),
        ("qwertyuiop12", "most common"),
        ("Administrator1", "most common"),
        ("correct horse battery staple", "most common"),
        ("\uff30\uff21\uff33\uff33\uff37\uff2f\uff32\uff24\uff11\uff12\uff13\uff14", "most common"),
        ("St. Elsewhere", "a name that everyone knows"),
        ("anna12345678", "a name that everyone knows"),
    ],
)
def test_a_password_that_attackers_try_first_is_refused_without_being_quoted(
    password: str, finding: str
):
    with pytest.raises(ConfigError, match=finding) as refused:
        check_password_strength(password, "anna", "St. Elsewhere")
    assert len(password) < 5 or password not in str(refused.value) + refused.value.advice


def test_only_the_password_itself_verifies():
    password_hash = hash_password("seven lamps above the quay")
    assert password_hash.startswith("$argon2id$v=19$m=65536,t=3,p=4$")
    assert hash_password("seven lamps above the quay") != password_hash
    assert verify_password(password_hash, "seven lamps above the quay")
    for wrong in ("", "seven lamps above the quai", "Seven lamps above the quay"):
        assert not verify_password(password_hash, wrong)


def test_another_keyboard_may_compose_the_same_characters_differently():
    assert verify_password(hash_password("zwo\u0308lf Boxkämpfer"), "zwölf Boxka\u0308mpfer")


def test_without_a_hash_nothing_verifies():
    assert not verify_password(None, "no account has this password")


def test_a_megabyte_is_refused_without_being_hashed_whole_and_a_damaged_hash_verifies_nothing():
    start = "x" * LONGEST
    assert not verify_password(hash_password(start), start + "y" * 1_000_000)
    assert not verify_password("$argon2id$damaged", start)
    assert not verify_password(hash_password("lone \ud800 surrogate"), "x")


def test_a_hash_with_earlier_parameters_is_outdated():
    from argon2 import PasswordHasher

    assert is_outdated(PasswordHasher(1, 8192, 1).hash("seven lamps above the quay"))
    assert not is_outdated(hash_password("seven lamps above the quay"))
