# ruff: noqa: E501 - lists
"""Pools of names, places, streets and companies of many countries, and how they are written.

From the locales of faker (MIT), from lists here for languages that faker writes in other scripts, and from chains of letters
that make up names that no list has: a network that has seen only listed names would learn the list.
"""

import random
import unicodedata
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from faker import Faker

from benchmarks.redaction_training.lists import read_entries

Piece = tuple[str, str | None]  # text, and the entity it is of

_LOCALES = (
    "en_US", "en_GB", "en_IE", "en_AU", "en_NZ", "en_CA", "en_IN", "en_PK", "en_NG", "en_KE", "en_PH", "en_TH", "de_DE", "de_AT",
    "de_CH", "nl_NL", "nl_BE", "fr_FR", "fr_CH", "fr_CA", "fr_BE", "fr_DZ", "es_ES", "es_MX", "es_CO", "es_CL", "es_AR", "es_CA",
    "it_IT", "pt_PT", "pt_BR", "pl_PL", "cs_CZ", "sk_SK", "hu_HU", "ro_RO", "hr_HR", "sl_SI", "bs_BA", "lt_LT", "lv_LV", "et_EE",
    "fi_FI", "sv_SE", "no_NO", "da_DK", "is_IS", "ga_IE", "tr_TR", "az_AZ", "uz_UZ", "id_ID", "vi_VN", "fil_PH", "yo_NG", "ha_NG",
    "ig_NG", "zu_ZA", "tw_GH", "sw", "mt_MT", "lb_LU", "sq_AL", "ng_NG",
)  # fmt: skip
_MAX_LOCALES = (
    "en_US",
    "en_US",
    "en_US",
    "en_GB",
    "en_GB",
    "en_US",
)  # drawn as often as all the others together

# Given names; family names. Written in Latin letters as in English records.
_OTHER_NAMES = {
    language: (given, family)
    for language, given, family in (
        line.split("\t") for line in read_entries("words/english/names_of_other_scripts")
    )
}

# Vietnamese names several times, since no other language has so many names of three parts.
_LANDS_OF_THREE_PARTS = (
    "vi_VN", "vi_VN", "vi_VN", "chinese", "chinese", "korean", "arabic", "es_MX", "es_ES", "pt_BR", "pt_PT", "fil_PH", "id_ID",
    "indian", "yo_NG", "hebrew_armenian_persian_thai",
)  # fmt: skip

_NICKNAMES = read_entries("words/english/nicknames")
_PARTICLES = read_entries("words/english/particles")
_TITLES = read_entries("words/english/titles")
_SUFFIXES = read_entries("words/english/suffixes")
_CREDENTIALS = read_entries("words/english/credentials")


def latin(text: str) -> bool:
    """Tell whether all letters of `text` are Latin."""
    return all("LATIN" in unicodedata.name(c, "") for c in text if c.isalpha())


class Chain:
    """Makes up words letter by letter, each from the three before it, as in the words it was given."""

    def __init__(self, words: Sequence[str]) -> None:
        self._next: dict[str, list[str]] = defaultdict(list)
        for word in words:
            padded = "^^^" + word + "$"
            for place in range(3, len(padded)):
                self._next[padded[place - 3 : place]].append(padded[place])

    def word(self, chance: random.Random, shortest: int = 3, longest: int = 14) -> str:
        """Return a made-up word of a length between the two."""
        while True:
            letters = "^^^"
            while (letter := chance.choice(self._next[letters[-3:]])) != "$" and len(
                letters
            ) < longest + 4:
                letters += letter
            if shortest <= len(letters) - 3 <= longest:
                return letters[3:]


@dataclass
class _Land:
    given: list[str] = field(default_factory=list)
    family: list[str] = field(default_factory=list)
    cities: list[str] = field(default_factory=list)
    streets: list[str] = field(default_factory=list)  # with a number, in the order of the country
    addresses: list[str] = field(default_factory=list)  # over several lines
    regions: list[str] = field(default_factory=list)
    postcodes: list[str] = field(default_factory=list)
    countries: list[str] = field(default_factory=list)
    companies: list[str] = field(default_factory=list)
    phones: list[str] = field(default_factory=list)


def _drawn(fake: Faker, kind: str, count: int) -> list[str]:
    make: Callable[[], object] | None = getattr(fake, kind, None)
    if make is None:
        return []
    found: list[str] = []
    for _ in range(count):
        try:
            text = str(make())
        except Exception:  # noqa: BLE001 - a few kinds of a few locales do not work in faker
            return found
        if latin(text):
            found.append(text)
    return found


class InventedPeople:
    """Draws names, places and companies."""

    def __init__(self, chance: random.Random, words: Sequence[str], size: float = 1.0) -> None:
        self.chance = chance
        self._words = words
        self._lands: dict[str, _Land] = {}
        for number, locale in enumerate(_LOCALES):
            fake = Faker(locale)
            fake.seed_instance(chance.getrandbits(32) + number)
            often = int(size * (4 if locale in _MAX_LOCALES else 1))
            self._lands[locale] = _Land(
                _drawn(fake, "first_name", 300 * often),
                _drawn(fake, "last_name", 300 * often),
                _drawn(fake, "city", 150 * often)
                if locale != "it_IT"
                else [],  # faker's order there changes
                _drawn(fake, "street_address", 200 * often),
                _drawn(fake, "address", 100 * often),
                _drawn(fake, "administrative_unit", 30),
                _drawn(fake, "postcode", 100),
                _drawn(fake, "country", 100) if locale.startswith("en") else [],
                _drawn(fake, "company", 60 * often),
                _drawn(fake, "phone_number", 60),
            )
        for name, (given, family) in _OTHER_NAMES.items():
            self._lands[name] = _Land(given.split() * 3, family.split() * 3)
        lands = list(self._lands.values())
        self.given_chain = Chain(sorted({n for land in lands for n in land.given if n.isalpha()}))
        self.family_chain = Chain(sorted({n for land in lands for n in land.family if n.isalpha()}))
        self.city_chain = Chain(sorted({n for land in lands for n in land.cities if n.isalpha()}))
        self._foreign = [
            name
            for name, land in self._lands.items()
            if land.given
            and not name.startswith(("en_US", "en_GB", "en_A", "en_IE", "en_NZ", "en_CA"))
        ]
        self._with = {
            kind: [name for name, land in self._lands.items() if getattr(land, kind)]
            for kind in (
                "given",
                "family",
                "cities",
                "streets",
                "addresses",
                "regions",
                "postcodes",
                "companies",
                "phones",
            )
        }

    def _draw(self, kind: str, land: str | None = None) -> str:
        if land is None or not getattr(self._lands[land], kind):
            land = self.land(kind)
        return str(self.chance.choice(getattr(self._lands[land], kind)))

    def land(self, kind: str = "given") -> str:
        """Return a country that has something of `kind`."""
        if self.chance.random() < 0.4:
            return self.chance.choice(_MAX_LOCALES)
        return self.chance.choice(self._with[kind])

    def given(self, land: str | None = None) -> str:
        """Return a given name."""
        draw = self.chance.random()
        if draw < 0.18:
            return self.given_chain.word(self.chance).capitalize()
        if draw < 0.24:
            return self.chance.choice(_NICKNAMES)
        name = self._draw("given", land)
        if draw > 0.98:
            return f"{name}-{self._draw('given', land)}"
        return name

    def family(self, land: str | None = None) -> str:
        """Return a family name, sometimes of several words."""
        draw = self.chance.random()
        name = (
            self.family_chain.word(self.chance).capitalize()
            if draw < 0.22
            else self._draw("family", land)
        )
        if draw > 0.985:
            return f"{name}-{self._draw('family')}"
        if draw > 0.96:
            particle = self.chance.choice(_PARTICLES)
            return particle + ("" if particle in ("Mc", "O'", "Mac", "Fitz", "D'") else " ") + name
        if draw > 0.945:
            return f"{name} {self._draw('family', land)}"
        return name

    def full(self) -> str:
        """Return a person's name as records and letters write it."""
        land = self.land()
        given, family = self.given(land), self.family(land)
        middle = self.given(land)
        draw = self.chance.random()
        if draw < 0.58:
            return f"{given} {family}"
        if draw < 0.68:
            return f"{given} {middle[0]}. {family}"
        if draw < 0.72:
            return f"{given} {middle[0]} {family}"
        if draw < 0.78:
            return f"{given} {middle} {family}"
        if draw < 0.82:
            return f"{family}, {given}"
        if draw < 0.84:
            return f"{family}, {given} {middle[0]}."
        if draw < 0.87:
            return f"{given[0]}. {family}"
        if draw < 0.88:
            return f"{given[0]}. {middle[0]}. {family}"
        if draw < 0.91:
            return f"{given} {family[0]}."
        if draw < 0.93:
            return f"{given} {family} {self.chance.choice(_SUFFIXES)}"
        if draw < 0.94:
            return f'{given} "{self.chance.choice(_NICKNAMES)}" {family}'
        if draw < 0.96:
            return f"{family} {given}"
        return self.titled()

    def foreign_given(self) -> str:
        """Return a given name of a country where English is not the first language, sometimes without its accents."""
        land = self.chance.choice(self._foreign)
        return self._sometimes_plain(self._draw("given", land))

    def three_part(self) -> str:
        """Return a name of three or four parts, as in Vietnam, China, Spain, Portugal, Arabia or Ethiopia."""
        chance = self.chance
        land = chance.choice(_LANDS_OF_THREE_PARTS)
        given, other = self._draw("given", land), self._draw("given", land)
        family, mothers = self._draw("family", land), self._draw("family", land)
        middle = chance.choice(("Thi", "Van", "Thị", "Văn", "Minh", "Ngoc", "Duc", "Kim", other))
        name = chance.choice(
            (
                f"{family} {middle} {given}",
                f"{family.upper()}, {middle} {given}",
                f"{family} {other} {given}",
                f"{given} {other} {family}",
                f"{given} {family} {mothers}",
                f"{family} {mothers}, {given}",
                f"{given} {other} {family} {mothers}",
                f"{given} {chance.choice(('bin', 'binti', 'ibn', 'al-', 'El', 'Abdul', 'Ould', 'de la', 'dos', 'van der'))} {family}".replace("- ", "-"),
                f"{given} {other} {mothers} {family}",
            )
        )  # fmt: skip
        return self._sometimes_plain(name)

    def _sometimes_plain(self, name: str) -> str:
        """Return a name as it is, or without the accents of its letters as most records have it."""
        if self.chance.random() < 0.4:
            return name
        letters = unicodedata.normalize("NFKD", name.replace("đ", "d").replace("Đ", "D"))
        return "".join(letter for letter in letters if not unicodedata.combining(letter))

    def titled(self) -> str:
        """Return a name with its title."""
        draw = self.chance.random()
        title = self.chance.choice(_TITLES)
        if draw < 0.55:
            return f"{title} {self.family()}"
        if draw < 0.9:
            return f"{title} {self.given()} {self.family()}"
        return f"{title} {self.given()[0]}. {self.family()}"

    def signed(self) -> list[Piece]:
        """Return a name with what its bearer may call himself."""
        land = self.land()
        return [
            (f"{self.given(land)} {self.family(land)}", "NAME"),
            (", " + self.chance.choice(_CREDENTIALS), None),
        ]

    def city(self, land: str | None = None) -> str:
        """Return a city or town."""
        draw = self.chance.random()
        city = (
            self.city_chain.word(self.chance, 4).capitalize()
            if draw < 0.2
            else self._draw("cities", land)
        )
        return city.upper() if draw > 0.93 else city

    def region(self) -> str:
        """Return a state, province or the like."""
        return self._draw("regions")

    def state(self) -> str:
        """Return a state or province in two or three letters."""
        return str(self.chance.choice(_STATES))

    def state_name(self) -> str:
        """Return a state of the United States."""
        return str(self.chance.choice(_STATE_NAMES))

    def country(self) -> str:
        """Return a country."""
        return str(self.chance.choice(_COUNTRIES))

    def phone(self) -> str:
        """Return a telephone number."""
        return self._draw("phones")

    def postcode(self) -> str:
        """Return a postcode."""
        return self._draw("postcodes")

    def street(self) -> str:
        """Return a street with its number."""
        draw = self.chance.random()
        street = self._draw("streets").replace("\n", " ")
        number = str(self.chance.randint(1, 9999))
        if draw < 0.12:
            return f"{number} {street}"
        if draw < 0.2:
            return f"{self.city_chain.word(self.chance, 4).capitalize()} {self.chance.choice(_STREET_WORDS)} {number}"
        if draw < 0.36:
            return f"{number} {self.city_chain.word(self.chance, 4).capitalize()} {self.chance.choice(_STREET_WORDS)}"
        if draw < 0.42:
            return f"{self.chance.choice(_STREET_BEFORE)} {self.family()} {number}"
        return street

    def foreign_street(self) -> str:
        """Return a street as other countries write it, with the flat, stair or floor behind the number."""
        chance = self.chance
        name, other = self.family(), self.city_chain.word(chance, 4).capitalize()
        n, m, flat = chance.randint(1, 220), chance.randint(1, 40), chance.randint(1, 600)
        letter = chance.choice("ABCDE")
        return chance.choice(
            (
                f"{chance.choice(('Via', 'Via dei', 'Via della', 'Viale', 'Piazza', 'Corso', 'Largo', 'Vicolo del'))} {name} {n}, {chance.choice(('int.', 'interno', 'scala'))} {chance.choice((str(m), letter))}",
                f"{chance.choice(('Rua', 'Rua das', 'Rua do', 'Avenida', 'Travessa', 'Alameda dos', 'Praça'))} {name}, {n} - {chance.choice(('apto', 'apt.', 'ap.', 'bloco', 'sala'))} {flat}",
                f"{chance.choice(('Calle', 'C/', 'C/ de', 'Avenida', 'Av.', 'Paseo de', 'Plaza', 'Carrer de', 'Ronda'))} {name}, {n}, {m}º {chance.choice(('izq.', 'dcha.', 'A', 'B', 'D'))}",
                f"{n}{chance.choice(('', ' bis', ' ter'))}{chance.choice(('', ','))} {chance.choice(('rue', 'rue de la', 'rue du', 'avenue', 'boulevard', 'impasse', 'quai', 'place', 'chemin des'))} {name}, {chance.choice(('bât.', 'apt.', 'esc.', 'étage'))} {chance.choice((letter, str(m)))}",
                f"{other}{chance.choice(('straße', 'strasse', 'str.', 'weg', 'gasse', 'allee', 'platz'))} {n}{chance.choice(('', letter.lower()))}, {chance.choice(('Hinterhaus', 'Stiege 2', '3. OG', 'Whg. 12', 'EG links'))}",
                f"{chance.choice(('ul.', 'ulica', 'al.', 'os.', 'pl.'))} {name} {n}{chance.choice(('/' + str(m), ' m. ' + str(m), letter))}",
                f"{other}{chance.choice(('gatan', 'vägen', 'gade', 'vej', 'veien', 'gata', 'katu', 'tie'))} {n} {chance.choice(('lgh 1101', 'st. tv.', '2. th', letter + ' ' + str(m)))}",
                f"{other} {chance.choice(('utca', 'út', 'tér', 'körút', 'ulice', 'náměstí', 'sokak', 'caddesi'))} {n}{chance.choice(('.', '', '/' + str(m)))} {chance.choice(('fsz. 2', 'II. em. 4', 'kat 3', 'No: 5', ''))}".strip(),
                f"{chance.choice(('No.', 'No', 'Lot', 'Plot', 'House', 'Block'))} {n}, {chance.choice(('Jalan', 'Lorong', 'Jl.', 'Soi', 'Taman'))} {name} {m}{chance.choice(('', '/' + str(m + 2)))}",
                f"{chance.choice(('Flat', 'Unit', 'Rm'))} {m}{letter}, {m}/F, {name} {chance.choice(('House', 'Building', 'Tower', 'Court', 'Mansions'))}, {n} {other} Road",
                f"{m}-{m + 2}-{n} {other}-cho, {name}-ku", f"{n}, {m}th {chance.choice(('Cross', 'Main', 'Block'))}, {name} {chance.choice(('Nagar', 'Layout', 'Colony', 'Road', 'Marg'))}",
                f"Plot {n}, {name} {chance.choice(('Road', 'Close', 'Crescent', 'Estate', 'Street'))}, {chance.choice(('Phase 2', 'Sector 4', 'Block C', 'Off ' + other + ' Road'))}",
                f"{name}{chance.choice(('straat', 'laan', 'kade', 'plein', 'weg', 'dreef'))} {n}{chance.choice(('-' + str(m), ' bus ' + str(m), letter, '-III'))}",
            )
        )  # fmt: skip

    def address(self) -> str:
        """Return a whole address on one line or several."""
        draw = self.chance.random()
        land = self.land("addresses")
        if draw < 0.25:
            whole = self._draw("addresses", land)
        elif draw < 0.31:
            joint = self.chance.choice((" and ", " & ", " at ", " / "))
            whole = (
                self.chance.choice(("", "the corner of ", "corner of ", "the intersection of "))
                + self.street()
                + joint
                + self.street()
            )
        else:
            parts = [self.street()]
            if self.chance.random() < 0.08:
                parts = [
                    f"{self.chance.choice(('P.O. Box', 'PO Box', 'POB', 'Box', 'Postfach', 'Apartado'))} {self.chance.randint(1, 9999)}"
                ]
            if self.chance.random() < 0.4:
                parts.append(self.unit())
            parts.append(self.city(land))
            if self.chance.random() < 0.35:
                parts.append(
                    self.chance.choice(_STATES) if self.chance.random() < 0.5 else self.region()
                )
            tail = (
                self.postcode()
                if self.chance.random() < 0.5
                else str(self.chance.randint(1000, 99999))
            )
            if self.chance.random() < 0.4:
                parts.append(
                    self.country()
                    if self.chance.random() < 0.85
                    else self.city_chain.word(self.chance, 5).capitalize()
                )
            parts[-1] += " " + tail if self.chance.random() < 0.7 else ""
            if self.chance.random() < 0.1:
                parts.insert(len(parts) - 1, tail)
            whole = "\n".join(parts)
        joint = self.chance.choice((", ", ", ", "\n", "\n", "\n ", " ", ",\n", "\n, ", " , "))
        return joint.join(line.strip() for line in whole.split("\n"))

    def unit(self) -> str:
        """Return a flat, suite or the like."""
        word = self.chance.choice(
            (
                "Apt.",
                "Apt",
                "Suite",
                "Unit",
                "Flat",
                "#",
                "Floor",
                "Ste",
                "Room",
                "Apartment",
                "Box",
                "c/o",
            )
        )
        return (
            f"{word} {self.chance.randint(1, 999)}{self.chance.choice(('', '', '', 'A', 'B', 'C'))}"
        )

    def company(self) -> str:
        """Return a company, charity, school or shop."""
        draw = self.chance.random()
        invented = self.city_chain.word(self.chance, 4, 10).capitalize()
        blend = self.chance.choice(_COMPANY_PARTS) + self.chance.choice(_COMPANY_ENDS)
        word, other = (self.chance.choice(_COMPANY_WORDS) for _ in range(2))
        if draw < 0.12:
            return self._draw("companies")
        if draw < 0.17:
            return " ".join(
                self.chance.choice(self._words).capitalize()
                for _ in range(self.chance.randint(1, 3))
            )
        if draw < 0.2:
            return f"{self.chance.choice(self._words).capitalize()} {word} {self.chance.choice(_COMPANY_FORMS)}"
        if draw < 0.25:
            return invented
        if draw < 0.37:
            return (
                blend.capitalize()
                if self.chance.random() < 0.8
                else blend.capitalize() + self.chance.choice(_COMPANY_ENDS).capitalize()
            )
        if draw < 0.45:
            return f"{invented} {self.chance.choice(_COMPANY_FORMS)}"
        if draw < 0.52:
            return f"{self.family()} {self.chance.choice(_COMPANY_FORMS)}"
        if draw < 0.58:
            return f"{self.family()} {self.chance.choice(('&', 'and'))} {self.family()}"
        if draw < 0.62:
            return f"{self.family()}, {self.family()} & {self.family()}"
        if draw < 0.74:
            return f"{word} {other}"
        if draw < 0.82:
            return f"{word} {other} {self.chance.choice(_COMPANY_FORMS)}"
        if draw < 0.86:
            return f"{word} {self.chance.choice(('and', '&', 'of', 'for', 'on'))} {other}"
        if draw < 0.9:
            return f"{self.city()} {self.chance.choice(_COMPANY_WORDS)} {self.chance.choice(_COMPANY_FORMS)}"
        if draw < 0.94:
            return f"{self.city()} {self.chance.choice(_SCHOOLS)}"
        if draw < 0.96:
            return f"University of {self.city()}"
        if draw < 0.98:
            return "".join(
                self.chance.choice("ABCDEFGHIJKLMNOPRSTUVW")
                for _ in range(self.chance.randint(2, 4))
            ) + self.chance.choice((" Group", " Inc.", " Bank", " Holdings"))
        return f"{word}.{self.chance.choice(('com', 'io', 'org', 'ly', 'gov'))}"

    def plain_organisation(self) -> str:
        """Return an organisation whose name has no word that tells what it is: "Granite & Vine", "Molina"."""
        chance = self.chance
        word, other = (chance.choice(self._words).capitalize() for _ in range(2))
        invented = self.city_chain.word(chance, 4, 10).capitalize()
        return chance.choice(
            (
                invented,
                word,
                f"{word} {other}",
                f"{word} & {other}",
                f"{word} and {other}",
                f"{invented} {word}",
                f"{self.family()}'s",
                f"{self.family()} {word}",
                f"{self.family()} & {chance.choice(('Sons', 'Daughters', 'Co', self.family()))}",
                f"{self.city()} {word}",
                f"{self.city()} {word} {other}",
                f"{word} of {self.city()}",
                f"{word}{other.lower()}",
                f"{chance.choice(_COMPANY_PARTS)}{chance.choice(_COMPANY_ENDS)}".capitalize(),
                f"{chance.choice(_COMPANY_WORDS)} {word}",
            )
        )  # fmt: skip

    def plain_facility(self) -> str:
        """Return a practice, school or home that is called by a field or a word: "Elmtree Endodontics", "The Gable Rooms"."""
        chance = self.chance
        word, other = (chance.choice(self._words).capitalize() for _ in range(2))
        invented = self.city_chain.word(chance, 4, 10).capitalize()
        name = chance.choice(
            (
                word,
                f"{word} {other}",
                invented,
                invented,
                self.family(),
                self.city(),
                f"{invented} {word}",
            )
        )
        if chance.random() < 0.1:
            return f"Our Lady of {chance.choice(('', 'the '))}{word}"
        if chance.random() < 0.1:
            return f"The {word} {chance.choice(('Rooms', 'House', 'Lodge', 'Gables', 'Centre', 'Suite', 'Practice'))}"
        return f"{name} {chance.choice(_FIELDS_OF_FACILITIES)}"

    def jail(self) -> str:
        """Return a jail or prison."""
        chance = self.chance
        name = chance.choice(
            (self.city(), self.family(), f"{self.city()} County", f"{self.family()} County")
        )
        return f"{name} {chance.choice(('Jail', 'County Jail', 'Correctional', 'Detention Center', 'Prison', 'Juvenile Hall', 'State Penitentiary', 'lockup', 'Justice Center', 'CI', 'HMP', 'Regional Jail'))}"

    def named_ward(self) -> str:
        """Return a ward or unit that has a name or number of its own: "Osler 5", "2 South", "Pavilion C, 3rd floor"."""
        chance = self.chance
        name = chance.choice((self.family(), self.city_chain.word(chance, 4, 10).capitalize()))
        number, letter = chance.randint(1, 12), chance.choice("ABCDEFGH")
        side = chance.choice(("North", "South", "East", "West", "Tower"))
        return chance.choice(
            (
                f"{name} {number}",
                f"{name} {number} {side}",
                f"{name} Unit",
                f"{name} Wing",
                f"{name} {letter}-wing",
                f"{name} {letter}-wing, room {number}",
                f"{number} {side}",
                f"{side} {number}",
                f"{side} {number}{letter}",
                f"{number}{letter}",
                f"{number}{side[0]}-{number + 10}",
                f"Pavilion {letter}",
                f"Pavilion {letter}, {number}th floor",
                f"{name} Pavilion {number}",
                f"{chance.choice(('SICU', 'MICU', 'CCU', 'PICU', 'NICU', 'CVICU'))}-{number + 8}",
                f"{chance.choice(('Bed', 'bed', 'Rm', 'rm', 'Bay', 'Chair', 'Pod'))} {number}{chance.choice(('', letter))}",
                f"{name} House",
            )
        )  # fmt: skip

    def facility(self) -> str:
        """Return a hospital, clinic, practice, home or ward with a name of its own."""
        kind = self.chance.choice(_FACILITIES)
        draw = self.chance.random()
        if draw < 0.16:
            return f"{self.chance.choice(('St.', 'St', 'Saint', 'Santa', 'San', 'Mt.', 'Mount', 'Our Lady of'))} {self.given()}{self.chance.choice(('', chr(39) + 's', chr(39) + 's'))} {kind}"
        if draw < 0.34:
            return f"{self.city()} {kind}"
        if draw < 0.46:
            return f"{self.chance.choice(_FACILITY_WORDS)} {kind}"
        if draw < 0.56:
            return f"{self.chance.choice(_FACILITY_WORDS)} {self.chance.choice(_FACILITY_WORDS)} {kind}"
        if draw < 0.62:
            return (
                f"{self.chance.choice(_FACILITY_WORDS)}{self.chance.choice(_FACILITY_ENDS)} {kind}"
            )
        if draw < 0.7:
            return f"{self.family()} {kind}"
        if draw < 0.76:
            return f"{self.family()} Memorial {kind}"
        if draw < 0.82:
            return f"University of {self.city()} {kind}"
        if draw < 0.86:
            return f"{self.city()} University {kind}"
        if draw < 0.89:
            return f"{self.given()} {self.family()} {kind}"
        if draw < 0.93:
            return self.chance.choice(_KNOWN_FACILITIES)
        if draw < 0.96:
            return f"{self.chance.choice(('Ward', 'Unit', 'Bay', 'Room', 'Bed', 'Theatre', 'Pod', 'Tower'))} {self.chance.randint(1, 40)}{self.chance.choice(('', 'A', 'B', '-C', ' West', ' East'))}"
        return f"{self.chance.choice(_FACILITY_WORDS)} House"


_COUNTRIES = read_entries("words/english/countries")
_STATES = read_entries("words/english/states")
_STATE_NAMES = read_entries("words/english/state_names")
_STREET_WORDS = read_entries("words/english/street_words")
_STREET_BEFORE = read_entries("words/english/street_before")
_COMPANY_PARTS = read_entries("words/english/company_parts")
_COMPANY_ENDS = read_entries("words/english/company_ends")
_COMPANY_WORDS = read_entries("words/english/company_words")
_COMPANY_FORMS = read_entries("words/english/company_forms")
_SCHOOLS = read_entries("words/english/schools")
_FACILITIES = read_entries("words/english/facilities")
_FACILITY_WORDS = read_entries("words/english/facility_words")
_FACILITY_ENDS = read_entries("words/english/facility_ends")
_FIELDS_OF_FACILITIES = read_entries("words/english/fields_of_facilities")
_KNOWN_FACILITIES = read_entries("words/english/known_facilities")
