"""Passwords: hashed with Argon2id, long, and not among the most common ones (NIST SP 800-63B, 5.1.1.2).

There are no rules of composition: they make passwords harder to remember and no harder to guess.
"""

import re
import threading
import unicodedata
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from agent.errors import ConfigError

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST: Final = 12  # characters
LONGEST: Final = 256  # characters; hashing a megabyte would be an attack
_FEWEST_DISTINCT: Final = 4  # characters; "aaaaaaaaaaaa" and "121212121212" have fewer
_ADVICE: Final = (
    f"Use at least {SHORTEST} characters, such as four words that nobody else would put together."
)

_DECORATED: Final = (
    ": a common word or row of keys, and digits or signs around it do not make it harder to guess"
)

# RFC 9106, section 4, second recommended option: for machines that also serve models.
_TIME_COST: Final = 3
_MEMORY_KIB: Final = 64 * 1024
_PARALLELISM: Final = 4

_TURNS: Final = threading.BoundedSemaphore(2)
"""Verifications at the same time. More would let a hundred strangers at the sign-in page fill the machine's memory."""


def check_password_strength(password: str, *names: str) -> None:
    """Check a new password.

    Args:
        password: the password.
        names: words that an attacker tries first: the account's name, the site's name.

    Raises:
        ConfigError: it is too short or too long, among the most common ones, or made of one of the names. The message
            never quotes it.
    """
    if len(password) < SHORTEST:
        raise ConfigError(f"the password has fewer than {SHORTEST} characters", _ADVICE)
    if len(password) > LONGEST:
        raise ConfigError(
            f"the password has more than {LONGEST} characters", "Choose a shorter one."
        )
    core = _find_core(password)
    if len(set(password)) < _FEWEST_DISTINCT:
        raise ConfigError(
            "the password is too easy to guess: it repeats one to three characters", _ADVICE
        )
    if core in _read_common():
        how = "" if core == _normalise(password).casefold() else _DECORATED
        raise ConfigError(f"the password is among the most common ones{how}", _ADVICE)
    if any(core == _find_core(name) for name in names):
        raise ConfigError("the password consists of a name that everyone knows", _ADVICE)


def hash_password(password: str) -> str:
    """Return the Argon2id hash of a password, with its salt and parameters."""
    return _load_hasher().hash(_normalise(password))


def verify_password(password_hash: str | None, password: str) -> bool:
    """Return whether a password is the one that was hashed.

    Without a hash the same work is done, so that the time does not tell whether an account or a password exists.
    """
    from argon2.exceptions import InvalidHashError, VerificationError

    verified = password_hash or _hash_nothing()
    try:
        with _TURNS:
            _load_hasher().verify(verified, _normalise(password[:LONGEST]))
    except (VerificationError, InvalidHashError):
        return False
    return password_hash is not None and len(password) <= LONGEST


def is_outdated(password_hash: str) -> bool:
    """Return whether a hash was made with other parameters than today's, and should be made again."""
    return _load_hasher().check_needs_rehash(password_hash)


@cache
def _load_hasher() -> "PasswordHasher":
    from argon2 import PasswordHasher

    return PasswordHasher(_TIME_COST, _MEMORY_KIB, _PARALLELISM)


@cache
def _hash_nothing() -> str:
    """Return the hash that is verified in place of a missing one."""
    return hash_password("no account has this password")


def prepare_verification() -> None:
    """Do what the first verification would do in addition, so that it takes no longer than the others."""
    _hash_nothing()


def _normalise(password: str) -> str:
    """Return the form that is hashed: keyboards and systems compose the same characters differently."""
    normal = unicodedata.normalize("NFKC", password)
    return normal.encode("utf-8", "replace").decode()


def _find_core(password: str) -> str:
    """Return the part of a password that people vary: without case, and without digits and signs at its ends."""
    core = re.sub(r"^[\W\d_]+|[\W\d_]+$", "", _normalise(password).casefold())
    return core or _normalise(password)


@cache
def _read_common() -> frozenset[str]:
    text = (Path(__file__).parent / "common_passwords.txt").read_text("utf-8")
    lines = (line.strip() for line in text.splitlines())
    return frozenset(_find_core(line) for line in lines if line and not line.startswith("#"))
