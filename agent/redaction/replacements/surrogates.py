"""Surrogates: invented values that read like the real ones ("hiding in plain sight"), the same for the same value.

Which surrogate a value gets is decided by HMAC-SHA256 under the site's key, never by a plain hash, which anyone could
repeat over every possible name or number. No surrogate is a word or a number of the record that it stands in, and no
two words of a record share one; where that fails, there is no surrogate, and a tag is written.

Method: Carrell et al., "Hiding in plain sight", J Am Med Inform Assoc 2013;20:342-348. What a redactor missed cannot be
told from what it replaced. That protects what was missed, and hides it from whoever checks the redactor, too.
"""

import hmac
import itertools
import string
from collections.abc import Callable, Iterator, Sequence, Set

import regex

from agent.redaction.identity.known_names import differs_by_one_error
from agent.redaction.replacements.people import TITLES, Gender
from agent.redaction.replacements.surrogate_names import surrogate_words

_TRIES = 200  # surrogates of one value tried until one is free
_LONGEST = 200  # characters; longer values are encoded data
_WORD = regex.compile(r"(?!(?<=[\p{L}\p{M}]['’])[sS]\b)[\p{L}\p{M}]+(?:['’](?![sS]\b)[\p{L}\p{M}]+)*")
_ALNUM = regex.compile(r"[\p{L}\p{M}\d]")
_GIVEN_FEMALE, _GIVEN_MALE = surrogate_words("given_female"), surrogate_words("given_male")
_FAMILY, _PLACES = surrogate_words("family"), surrogate_words("places")
_GIVEN = (*_GIVEN_FEMALE, *_GIVEN_MALE)
_FEMALE = frozenset(name.casefold() for name in _GIVEN_FEMALE)
_MALE = frozenset(name.casefold() for name in _GIVEN_MALE)
GIVEN_NAMES = _FEMALE | _MALE
_PARTICLES = frozenset(surrogate_words("particles"))
_FACILITY_WORDS = frozenset(surrogate_words("facilities"))
_ORGANIZATION_WORDS = frozenset(surrogate_words("organizations"))


class Keyed:
    """Choices that the key decides: nobody without it can foresee them or trace them back.

    Args:
        key: 32 random bytes.
        scope: within which the same value gets the same surrogate: a patient, or "" for all that have this key.
    """

    def __init__(self, key: bytes, scope: str = "") -> None:
        self._key = key
        self._scope = scope

    def digest(self, *what: str) -> bytes:
        """Return 32 bytes for `what`."""
        parts = [part.encode() for part in (self._scope, *what)]
        message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return hmac.digest(self._key, b"surrogate/" + message, "sha256")

    def number(self, below: int, *what: str) -> int:
        """Return a number from 0 to `below` - 1."""
        return int.from_bytes(self.digest(*what), "big") % below

    def bytes(self, *what: str) -> Iterator[int]:
        """Yield bytes without end."""
        for block in itertools.count():
            yield from self.digest(*what, str(block))


class Surrogates:
    """The surrogates of one record.

    Args:
        keyed: decides which.
        taken: words and values of the record, in small letters and without what joins them: none may come back.
        given_names: given names, in small letters, that tell a name's first part from its last.
    """

    def __init__(self, keyed: Keyed, taken: Set[str], given_names: Set[str] = GIVEN_NAMES) -> None:
        self._keyed = keyed
        self._taken = taken
        self._given = given_names
        self._made: dict[tuple[str, ...], str] = {}
        self._used: set[str] = set()

    def name(self, name: str, person: Sequence[str], gender: Gender | None = None) -> str | None:
        """Return `name` with every word of it that is a name replaced: same order, case, titles and initials.

        Args:
            person: words, in small letters, of the fullest name of whoever is meant. An initial becomes that of what
                stands for its word, and a misspelt word gets the surrogate of the right one.
            gender: as a title somewhere in the record says; None: as the given name says.
        """
        words = [word.group() for word in _WORD.finditer(name)]
        if any(map(str.isdecimal, name)) or not any(len(word) > 1 for word in words) or len(name) > _LONGEST:
            return None
        gender = gender or _gender(person)
        pieces, end = [], 0
        for word in _WORD.finditer(name):
            made = self._name_word(word.group(), person, gender)
            if made is None:
                return None
            pieces += [name[end : word.start()], made]
            end = word.end()
        return "".join([*pieces, name[end:]])

    def value(self, entity: str, value: str) -> str | None:
        """Return a surrogate of a value that is no name, date or age; None where only a tag will do."""
        make = _MAKERS.get(entity)
        if make is None or len(value) > _LONGEST:
            return None
        return self._once((entity, _joined(value)), lambda attempt: make(self, value, attempt))

    def _name_word(self, word: str, person: Sequence[str], gender: Gender) -> str | None:
        small = word.casefold()
        if small in TITLES or small in _PARTICLES:
            return word
        if len(word) == 1:
            whole = next((one for one in person if one[0] == small and len(one) > 1), None)
            made = self._whole_word(whole, person, gender) if whole else None
            return made[0].upper() if made else string.ascii_uppercase[self._keyed.number(26, "initial", small)]
        if len(person) > 1 and small in ("".join(person), "".join(reversed(person))):
            parts = [self._whole_word(one, person, gender) for one in person]
            return None if None in parts else _cased(word, "".join(part or "" for part in parts))
        if len(person) > 1 and small == "".join(one[0] for one in person):
            initials = [self._name_word(letter, person[nth:], gender) for nth, letter in enumerate(small)]
            return None if None in initials else _cased(word, "".join(one or "" for one in initials))
        meant = next((one for one in person if one == small), None)
        meant = meant or next((one for one in person if differs_by_one_error(one, small)), small)
        made = self._whole_word(meant, person, gender)
        return None if made is None else _cased(word, made)

    def _whole_word(self, word: str, person: Sequence[str], gender: Gender) -> str | None:
        given = self._is_given(word, person)
        names = _FAMILY if not given else _GIVEN_FEMALE if gender == "female" else _GIVEN_MALE
        return self._once(
            ("NAME", word), lambda attempt: names[self._keyed.number(len(names), "NAME", word, str(attempt))]
        )

    def _is_given(self, word: str, person: Sequence[str]) -> bool:
        known = [one in self._given for one in person]
        if any(known) and not all(known):
            return word in self._given
        return word in self._given if len(person) < 2 else word in person[:-1]

    def _once(self, key: tuple[str, ...], make: Callable[[int], str | None]) -> str | None:
        """Return what was made for `key`, or make it: the first try that is free in this record."""
        if key not in self._made:
            for attempt in range(_TRIES):
                made = make(attempt)
                if made is None:
                    return None
                if _joined(made) not in self._used and not self._is_taken(made):
                    self._made[key] = made
                    self._used.add(_joined(made))
                    break
            else:
                return None
        return self._made[key]

    def _is_taken(self, made: str) -> bool:
        return _joined(made) in self._taken

    def _pick(self, names: Sequence[str], *what: str) -> str:
        """Return one of `names` that is no word of the record."""
        tries = (names[self._keyed.number(len(names), *what, str(attempt))] for attempt in range(_TRIES))
        return next((name for name in tries if name.casefold() not in self._taken), names[0])

    def like(self, entity: str, value: str, attempt: int) -> str | None:
        """Return `value` with another digit for each digit, and another letter for each letter."""
        if not any(map(str.isdecimal, value)):
            return None
        chosen = self._keyed.bytes(entity, _joined(value), str(attempt))
        return "".join(_other(character, next(chosen)) if _ALNUM.match(character) else character for character in value)

    def phone(self, value: str, attempt: int) -> str | None:
        """As `like`; ten digits of North America are 555-01xx, which belong to nobody."""
        made = self.like("PHONE", value, attempt)
        digits = sum(map(str.isdecimal, value))
        if made is None or digits not in (10, 11) or not value.isascii():
            return made
        skip = digits - 10
        if skip and not value.lstrip("+( ").startswith("1"):
            return made
        fixed = dict(zip(range(skip + 3, skip + 8), "55501", strict=True)) | ({0: "1"} if skip else {})
        places = [place for place, character in enumerate(made) if character.isdecimal()]
        letters = list(made)
        for nth, digit in fixed.items():
            letters[places[nth]] = digit
        if letters[places[skip]] in "01":
            letters[places[skip]] = "2"
        return "".join(letters)

    def ssn(self, value: str, attempt: int) -> str | None:
        """As `like`; nine digits begin with 666, which no social security number does."""
        made = self.like("SSN", value, attempt)
        if made is None or sum(map(str.isdecimal, value)) != 9:
            return made
        six = iter("666")
        return "".join(next(six, character) if character.isdecimal() else character for character in made)

    def email(self, value: str, attempt: int) -> str:
        """Return an address at a domain that is kept for examples."""
        what = "EMAIL", _joined(value), str(attempt)
        return f"{self._pick(_GIVEN, 'given', *what)}.{self._pick(_FAMILY, *what)}@mail.example".lower()

    def url(self, value: str, attempt: int) -> str:
        """Return an address at a domain that is kept for examples."""
        chosen = self._keyed.bytes("URL", _joined(value), str(attempt))
        return "https://www.example/" + "".join(string.ascii_lowercase[next(chosen) % 26] for _ in range(8))

    def ip(self, value: str, attempt: int) -> str:
        """Return an address of the ranges kept for documents (RFC 5737, RFC 3849)."""
        number = self._keyed.number(65_536, "IP", value.casefold(), str(attempt))
        return f"2001:db8::{number:x}" if ":" in value and "." not in value else f"192.0.2.{number % 254 + 1}"

    def address(self, value: str, attempt: int) -> str:
        """Return a street with a number."""
        what = "ADDRESS", _joined(value), str(attempt)
        return f"{self._keyed.number(998, *what) + 1} {self._pick(_FAMILY, *what)} Street"

    def place(self, value: str, attempt: int) -> str:
        """Return a town that is everywhere and nowhere."""
        return _cased(value, self._pick(_PLACES, "LOCATION", _joined(value), str(attempt)))

    def facility(self, value: str, attempt: int) -> str | None:
        """Return a hospital, or a ward or room of another number."""
        words = list(map(str, _WORD.findall(value)))
        kind = next((word for word in reversed(words) if word.casefold() in _FACILITY_WORDS), None)
        if kind is not None and words == [kind] and (made := self.like("FACILITY", value, attempt)):
            return made[: value.index(kind)] + kind + made[value.index(kind) + len(kind) :]
        return f"{self._pick(_FAMILY, 'FACILITY', _joined(value), str(attempt))} {kind or 'Hospital'}"

    def organization(self, value: str, attempt: int) -> str:
        """Return a company."""
        words = [word.group() for word in _WORD.finditer(value)]
        kind = next((word for word in reversed(words) if word.casefold() in _ORGANIZATION_WORDS), "Company")
        return f"{self._pick(_FAMILY, 'ORGANIZATION', _joined(value), str(attempt))} {kind}"


def _maker(entity: str) -> Callable[[Surrogates, str, int], str | None]:
    return lambda surrogates, value, attempt: surrogates.like(entity, value, attempt)


_MAKERS: dict[str, Callable[[Surrogates, str, int], str | None]] = {
    **{
        entity: _maker(entity)
        for entity in ("ZIP", "MRN", "ENCOUNTER", "PLAN", "ACCOUNT", "LICENSE", "VEHICLE", "DEVICE", "ID")
    },
    "PHONE": Surrogates.phone,
    "SSN": Surrogates.ssn,
    "EMAIL": Surrogates.email,
    "URL": Surrogates.url,
    "IP": Surrogates.ip,
    "ADDRESS": Surrogates.address,
    "LOCATION": Surrogates.place,
    "FACILITY": Surrogates.facility,
    "ORGANIZATION": Surrogates.organization,
}

# Entities that have surrogates of their own kind; names have, too, and dates and ages have other operators.
WITH_SURROGATES = frozenset(_MAKERS) | {"NAME"}


def _joined(value: str) -> str:
    return "".join(_ALNUM.findall(value)).casefold()


def _other(character: str, chosen: int) -> str:
    if character.isdecimal():
        return string.digits[chosen % 10]
    return (string.ascii_uppercase if character.isupper() else string.ascii_lowercase)[chosen % 26]


def _cased(written: str, name: str) -> str:
    if written.isupper():
        return name.upper()
    return name.lower() if written.islower() else name


def _gender(person: Sequence[str]) -> Gender:
    known = next((word for word in person if word in _FEMALE or word in _MALE), None)
    if known is not None:
        return "female" if known in _FEMALE else "male"
    return "female" if any(word.endswith("a") for word in person[:1]) else "male"
