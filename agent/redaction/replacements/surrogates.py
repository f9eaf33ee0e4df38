"""Surrogates: invented values that look like real ones ("hiding in plain sight"), equal for equal values.

The surrogate of a value is determined by HMAC-SHA256 under the site's key. With a plain hash, anyone could try all
possible names or numbers. A surrogate never equals a word or number of its record, and no two words of a record share a
surrogate. If no such surrogate can be found, a tag is written instead.

Method: Carrell et al., "Hiding in plain sight", J Am Med Inform Assoc 2013;20:342-348. An identifier that was missed
cannot be distinguished from a surrogate. This protects missed identifiers, but also conceals them from anyone who
checks the redaction.
"""

import hmac
import itertools
import string
from collections.abc import Callable, Iterator, Sequence, Set

import regex

from agent.redaction.identity.known_names import differs_by_one_error
from agent.redaction.replacements.people import TITLES, Gender
from agent.redaction.replacements.surrogate_names import surrogate_words

_TRIES = 200  # maximum number of surrogates tried for one value
_MAX_LENGTH = 200  # characters; longer values are encoded data
_WORD = regex.compile(
    r"(?!(?<=[\p{L}\p{M}]['’])[sS]\b)[\p{L}\p{M}]+(?:['’](?![sS]\b)[\p{L}\p{M}]+)*"
)
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


class _NoFreeNameError(Exception):
    """A record contains every name that could be chosen for a surrogate."""


class KeyedChoice:
    """Choices determined by the key, which cannot be predicted or reversed without it.

    Args:
        key: 32 random bytes.
        scope: the scope within which equal values get equal surrogates: a patient, or "" for everything under this key.
    """

    def __init__(self, key: bytes, scope: str = "") -> None:
        self._key = key
        self._scope = scope

    def digest(self, *subject: str) -> bytes:
        """Return 32 bytes for `subject`."""
        parts = [part.encode() for part in (self._scope, *subject)]
        # The length prefixes ensure that different subjects give different messages.
        message = b"".join(len(part).to_bytes(4, "big") + part for part in parts)
        return hmac.digest(self._key, b"surrogate/" + message, "sha256")

    def choose_number(self, below: int, *subject: str) -> int:
        """Return a number from 0 to `below` - 1."""
        return int.from_bytes(self.digest(*subject), "big") % below

    def choose_bytes(self, *subject: str) -> Iterator[int]:
        """Yield an endless sequence of bytes for `subject`."""
        for block in itertools.count():
            yield from self.digest(*subject, str(block))


class Surrogates:
    """The surrogates of one record.

    Args:
        choice: determines the surrogates.
        taken: words and values of the record, in lower case without punctuation, that must not be used as surrogates.
        given_names: given names in lower case, which distinguish the first part of a name from the last.
    """

    def __init__(
        self, choice: KeyedChoice, taken: Set[str], given_names: Set[str] = GIVEN_NAMES
    ) -> None:
        self._choice = choice
        self._taken = taken
        self._given_names = given_names
        self._surrogates: dict[tuple[str, ...], str] = {}
        self._used: set[str] = set()

    def replace_name(
        self, name: str, person: Sequence[str], gender: Gender | None = None
    ) -> str | None:
        """Replace each word of a name, keeping order, case, titles and initials. Return None if a tag is needed.

        Args:
            name: the name as written.
            person: the words, in lower case, of the person's fullest name. An initial is replaced with the initial of
                its word's surrogate, and a misspelt word with the surrogate of the correct word.
            gender: the gender implied by a title in the record; None to use that of the given name.
        """
        matches = list(_WORD.finditer(name))
        has_word = any(len(match.group()) > 1 for match in matches)
        if any(map(str.isdecimal, name)) or not has_word or len(name) > _MAX_LENGTH:
            return None
        gender = gender or _guess_gender(person)
        pieces: list[str] = []
        end = 0
        for match in matches:
            surrogate = self._replace_word(match.group(), person, gender)
            if surrogate is None:
                return None
            pieces += [name[end : match.start()], surrogate]
            end = match.end()
        return "".join([*pieces, name[end:]])

    def replace_value(self, entity: str, value: str) -> str | None:
        """Return a surrogate for a value that is not a name, date or age, or None if a tag is needed."""
        make = _MAKERS.get(entity)
        if make is None or len(value) > _MAX_LENGTH:
            return None
        return self._make_once(
            (entity, _strip_punctuation(value)), lambda attempt: make(self, value, attempt)
        )

    def _replace_word(self, word: str, person: Sequence[str], gender: Gender) -> str | None:
        """Return the surrogate of one word of a name, which may also be written as an initial, initials or a login."""
        small = word.casefold()
        if small in TITLES or small in _PARTICLES:
            return word
        if len(word) == 1:
            return self._replace_initial(small, person, gender)
        surrogates: list[str | None] = []
        if _is_login(small, person):
            for part in person:
                surrogates.append(self._replace_whole_word(part, person, gender))
        elif _are_initials(small, person):
            for index, letter in enumerate(small):
                surrogates.append(self._replace_word(letter, person[index:], gender))
        else:
            meant = _find_meant(small, person)
            surrogates.append(self._replace_whole_word(meant, person, gender))
        joined = _join_all(surrogates)
        return None if joined is None else _match_case(word, joined)

    def _replace_initial(self, letter: str, person: Sequence[str], gender: Gender) -> str:
        """Return the initial of the surrogate of a letter's word, or a keyed letter if the word is unknown."""
        word = next((part for part in person if part[0] == letter and len(part) > 1), None)
        surrogate = self._replace_whole_word(word, person, gender) if word else None
        if surrogate:
            return surrogate[0].upper()
        return string.ascii_uppercase[self._choice.choose_number(26, "initial", letter)]

    def _replace_whole_word(self, word: str, person: Sequence[str], gender: Gender) -> str | None:
        names = _FAMILY
        if self._is_given_name(word, person):
            names = _GIVEN_FEMALE if gender == "female" else _GIVEN_MALE

        def choose(attempt: int) -> str:
            return names[self._choice.choose_number(len(names), "NAME", word, str(attempt))]

        return self._make_once(("NAME", word), choose)

    def _is_given_name(self, word: str, person: Sequence[str]) -> bool:
        """Return whether a word is a given name, according to the list or, if that does not decide, its position."""
        listed = sum(part in self._given_names for part in person)
        if 0 < listed < len(person) or len(person) < 2:
            return word in self._given_names
        return word in person[:-1]

    def _make_once(self, key: tuple[str, ...], make: Callable[[int], str | None]) -> str | None:
        """Return the surrogate for `key`, computed once: the first attempt that is not yet used in this record."""
        if key in self._surrogates:
            return self._surrogates[key]
        for attempt in range(_TRIES):
            try:
                surrogate = make(attempt)
            except _NoFreeNameError:
                return None
            if surrogate is None:
                return None
            plain = _strip_punctuation(surrogate)
            if plain not in self._used and plain not in self._taken:
                self._surrogates[key] = surrogate
                self._used.add(plain)
                return surrogate
        return None

    def _pick(self, names: Sequence[str], *subject: str) -> str:
        """Choose one of `names` that is not a word of the record.

        Raises:
            _NoFreeNameError: the record contains all names that were tried, so a tag is needed.
        """
        for attempt in range(_TRIES):
            name = names[self._choice.choose_number(len(names), *subject, str(attempt))]
            if name.casefold() not in self._taken:
                return name
        raise _NoFreeNameError

    def replace_characters(self, entity: str, value: str, attempt: int) -> str | None:
        """Return `value` with each digit replaced by a different digit, and each letter by a different letter."""
        if not any(map(str.isdecimal, value)):
            return None
        chosen = self._choice.choose_bytes(entity, _strip_punctuation(value), str(attempt))
        characters: list[str] = []
        for character in value:
            characters.append(
                _pick_other(character, next(chosen)) if _ALNUM.match(character) else character
            )
        return "".join(characters)

    def make_phone(self, value: str, attempt: int) -> str | None:
        """Replace the digits; ten-digit North American numbers become 555-01xx, which are assigned to no one."""
        surrogate = self.replace_characters("PHONE", value, attempt)
        digits = sum(map(str.isdecimal, value))
        if surrogate is None or digits not in (10, 11) or not value.isascii():
            return surrogate
        has_country_code = digits == 11
        if has_country_code and not value.lstrip("+( ").startswith("1"):
            return surrogate
        area = 1 if has_country_code else 0  # index of the first digit of the area code
        positions = [
            position for position, character in enumerate(surrogate) if character.isdecimal()
        ]
        characters = list(surrogate)
        if has_country_code:
            characters[positions[0]] = "1"
        for position, digit in zip(positions[area + 3 : area + 8], "55501", strict=True):
            characters[position] = digit
        if characters[positions[area]] in "01":  # no area code begins with these digits
            characters[positions[area]] = "2"
        return "".join(characters)

    def make_ssn(self, value: str, attempt: int) -> str | None:
        """Replace the digits; nine-digit numbers begin with 666, like no real social security number."""
        surrogate = self.replace_characters("SSN", value, attempt)
        if surrogate is None or sum(map(str.isdecimal, value)) != 9:
            return surrogate
        first_digits = iter("666")
        characters: list[str] = []
        for character in surrogate:
            characters.append(next(first_digits, character) if character.isdecimal() else character)
        return "".join(characters)

    def make_email(self, value: str, attempt: int) -> str:
        """Return an address in a domain that is reserved for examples."""
        subject = "EMAIL", _strip_punctuation(value), str(attempt)
        given_name = self._pick(_GIVEN, "given", *subject)
        family_name = self._pick(_FAMILY, *subject)
        return f"{given_name}.{family_name}@mail.example".lower()

    def make_url(self, value: str, attempt: int) -> str:
        """Return an address in a domain that is reserved for examples."""
        chosen = self._choice.choose_bytes("URL", _strip_punctuation(value), str(attempt))
        letters = [string.ascii_lowercase[byte % 26] for byte in itertools.islice(chosen, 8)]
        return "https://www.example/" + "".join(letters)

    def make_ip(self, value: str, attempt: int) -> str:
        """Return an address from the ranges reserved for documentation (RFC 5737, RFC 3849)."""
        number = self._choice.choose_number(65_536, "IP", value.casefold(), str(attempt))
        is_version_6 = ":" in value and "." not in value
        return f"2001:db8::{number:x}" if is_version_6 else f"192.0.2.{number % 254 + 1}"

    def make_address(self, value: str, attempt: int) -> str:
        """Return a street with a number."""
        subject = "ADDRESS", _strip_punctuation(value), str(attempt)
        house_number = self._choice.choose_number(998, *subject) + 1
        return f"{house_number} {self._pick(_FAMILY, *subject)} Street"

    def make_location(self, value: str, attempt: int) -> str:
        """Return a town with a very common name."""
        town = self._pick(_PLACES, "LOCATION", _strip_punctuation(value), str(attempt))
        return _match_case(value, town)

    def make_facility(self, value: str, attempt: int) -> str | None:
        """Return a hospital, or a ward or room with another number."""
        words = [match.group() for match in _WORD.finditer(value)]
        kind = _find_last_in(words, _FACILITY_WORDS)
        if kind is not None and words == [kind]:
            numbered = self.replace_characters("FACILITY", value, attempt)
            if numbered:  # a ward or room keeps its kind and gets another number
                start = value.index(kind)
                return numbered[:start] + kind + numbered[start + len(kind) :]
        family = self._pick(_FAMILY, "FACILITY", _strip_punctuation(value), str(attempt))
        return f"{family} {kind or 'Hospital'}"

    def make_organization(self, value: str, attempt: int) -> str:
        """Return a company."""
        words = [match.group() for match in _WORD.finditer(value)]
        kind = _find_last_in(words, _ORGANIZATION_WORDS)
        family = self._pick(_FAMILY, "ORGANIZATION", _strip_punctuation(value), str(attempt))
        return f"{family} {kind or 'Company'}"


def _make_replacer(entity: str) -> Callable[[Surrogates, str, int], str | None]:
    return lambda surrogates, value, attempt: surrogates.replace_characters(entity, value, attempt)


_REPLACED_BY_CHARACTER = (
    "ZIP",
    "MRN",
    "ENCOUNTER",
    "PLAN",
    "ACCOUNT",
    "LICENSE",
    "VEHICLE",
    "DEVICE",
    "ID",
)
_MAKERS: dict[str, Callable[[Surrogates, str, int], str | None]] = {
    **{entity: _make_replacer(entity) for entity in _REPLACED_BY_CHARACTER},
    "PHONE": Surrogates.make_phone,
    "SSN": Surrogates.make_ssn,
    "EMAIL": Surrogates.make_email,
    "URL": Surrogates.make_url,
    "IP": Surrogates.make_ip,
    "ADDRESS": Surrogates.make_address,
    "LOCATION": Surrogates.make_location,
    "FACILITY": Surrogates.make_facility,
    "ORGANIZATION": Surrogates.make_organization,
}

# Entities that have surrogates of their own kind. Names are handled separately, dates and ages by other operators.
WITH_SURROGATES = frozenset(_MAKERS) | {"NAME"}


def _is_login(word: str, person: Sequence[str]) -> bool:
    """Return whether a word consists of all words of a name, joined in either order."""
    return len(person) > 1 and word in ("".join(person), "".join(reversed(person)))


def _are_initials(word: str, person: Sequence[str]) -> bool:
    return len(person) > 1 and word == "".join(part[0] for part in person)


def _join_all(parts: Sequence[str | None]) -> str | None:
    """Return the parts joined, or None if one of them is missing."""
    present = [part for part in parts if part is not None]
    return "".join(present) if len(present) == len(parts) else None


def _strip_punctuation(value: str) -> str:
    return "".join(_ALNUM.findall(value)).casefold()


def _pick_other(character: str, chosen: int) -> str:
    if character.isdecimal():
        return string.digits[chosen % 10]
    return (string.ascii_uppercase if character.isupper() else string.ascii_lowercase)[chosen % 26]


def _match_case(written: str, name: str) -> str:
    if written.isupper():
        return name.upper()
    return name.lower() if written.islower() else name


def _find_meant(word: str, person: Sequence[str]) -> str:
    """Return the word of a person's name that `word` denotes, allowing one typing error, or `word` itself."""
    if word in person:
        return word
    return next((part for part in person if differs_by_one_error(part, word)), word)


def _find_last_in(words: Sequence[str], kinds: Set[str]) -> str | None:
    """Return the last of `words` that is in `kinds`."""
    return next((word for word in reversed(words) if word.casefold() in kinds), None)


def _guess_gender(person: Sequence[str]) -> Gender:
    """Return the gender of the first known given name; if there is none, guess "female" for a first word in "-a"."""
    given_name = next((word for word in person if word in GIVEN_NAMES), None)
    if given_name is not None:
        return "female" if given_name in _FEMALE else "male"
    return "female" if person and person[0].endswith("a") else "male"
