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

from agent.redaction.training.lists import values

Piece = tuple[str, str | None]  # text, and the entity it is of

_LOCALES = (
    "en_US", "en_GB", "en_IE", "en_AU", "en_NZ", "en_CA", "en_IN", "en_PK", "en_NG", "en_KE", "en_PH", "en_TH", "de_DE", "de_AT",
    "de_CH", "nl_NL", "nl_BE", "fr_FR", "fr_CH", "fr_CA", "fr_BE", "fr_DZ", "es_ES", "es_MX", "es_CO", "es_CL", "es_AR", "es_CA",
    "it_IT", "pt_PT", "pt_BR", "pl_PL", "cs_CZ", "sk_SK", "hu_HU", "ro_RO", "hr_HR", "sl_SI", "bs_BA", "lt_LT", "lv_LV", "et_EE",
    "fi_FI", "sv_SE", "no_NO", "da_DK", "is_IS", "ga_IE", "tr_TR", "az_AZ", "uz_UZ", "id_ID", "vi_VN", "fil_PH", "yo_NG", "ha_NG",
    "ig_NG", "zu_ZA", "tw_GH", "sw", "mt_MT", "lb_LU", "sq_AL", "ng_NG",
)  # fmt: skip
_MOST_LOCALES = ("en_US", "en_US", "en_US", "en_GB", "en_GB", "en_US")  # drawn as often as all the others together

# Given names; family names. Written in Latin letters as in English records.
_OTHER_NAMES = {
    "chinese": (
        "Wei Jing Xiao Li Min Hui Yan Ying Hong Ming Jun Lei Na Fang Xin Yu Chen Zhen Mei Ling Xiaoming Xiuying Guoqiang Jianhua "
        "Haoran Yichen Zihan Yuxuan Siu Kai Wing Ka-Yan Chi-Wai Tsz Shu-Fen",
        "Wang Li Zhang Liu Chen Yang Huang Zhao Wu Zhou Xu Sun Ma Zhu Hu Guo He Lin Gao Luo Zheng Liang Xie Tang Xue Feng Deng Cao "
        "Peng Zeng Xiao Tian Dong Pan Yuan Cai Jiang Yu Du Ye Cheng Wei Su Lu Ding Ren Yao Shen Chan Cheung Leung Wong Kwok Ng Ho "
        "Tsai Hsu Hsieh Chiang Ouyang",
    ),
    "korean": (
        "Min-jun Seo-yeon Ji-hoon Ha-eun Jin Hyun Soo-jin Young-ho Eun-ji Dong-hyun Ji-woo Yuna Jisoo Minho Sang-woo Hye-jin Kyung "
        "Joon Sung Mi-sook Byung-hun",
        "Kim Lee Park Choi Jung Kang Cho Yoon Jang Lim Han Oh Seo Shin Kwon Hwang Ahn Song Yoo Hong Jeon Ko Moon Bae Paik Noh",
    ),
    "japanese": (
        "Haruto Yui Sakura Hiroshi Kenji Yuki Akira Takashi Naoko Keiko Emi Daiki Ren Aoi Hina Kaito Mei Sota Riku Haruka Ayumi "
        "Tomoko Masaru Noboru Shinji Michiko Yoko Rin",
        "Sato Suzuki Takahashi Tanaka Watanabe Ito Yamamoto Nakamura Kobayashi Kato Yoshida Yamada Sasaki Yamaguchi Matsumoto Inoue "
        "Kimura Hayashi Shimizu Saito Mori Abe Ikeda Hashimoto Yamashita Ishikawa Nakajima Ogawa Fujita Okada Hasegawa Murakami",
    ),
    "arabic": (
        "Mohammed Ahmed Ali Omar Hassan Hussein Youssef Ibrahim Khalid Abdullah Mustafa Karim Tariq Bilal Fatima Aisha Maryam Layla "
        "Zainab Noor Amina Hana Salma Yasmin Rania Huda Samira Nadia Mahmoud Abdul Rahman Jamal Faisal Ziad Hamza Walid Iman Dalal",
        "Al-Masri Haddad Khoury Al-Rashid Mansour Nasser Saleh Hamdan Aziz Farouk Khalil Qureshi Siddiqui Al-Sayed El-Amin Darwish "
        "Abboud Shaheen Nazari Rahimi Hosseini Karimi Ahmadi Bakr Barakat Najjar Sabbagh Awad Ghanem Halabi Zaman Abdi Warsame "
        "Mohamud Osman Farah",
    ),
    "slavic": (
        "Ivan Dmitri Sergei Alexei Nikolai Vladimir Oleg Igor Boris Yuri Andrei Mikhail Olga Natalia Svetlana Irina Tatiana Elena "
        "Ekaterina Anastasia Oksana Ludmila Galina Bohdan Taras Yaroslav Kateryna Halyna Stoyan Dimitar Radka Milena Zoran Goran "
        "Dragan Jelena Snezana Nevena Aleksandar Blagoja",
        "Ivanov Petrov Sidorova Smirnov Kuznetsova Popov Volkov Sokolova Lebedev Kozlov Novikov Morozova Pavlenko Shevchenko Kovalenko "
        "Bondarenko Tkachuk Melnyk Kravchuk Dimitrov Georgieva Todorov Nikolova Jovanovic Petrovic Nikolic Markovic Stojanovska "
        "Trajkovski Romanenko Zaitseva Fedorov Orlova Baranov Gusev",
    ),
    "greek": (
        "Giorgos Dimitris Yannis Nikos Maria Eleni Katerina Sofia Kostas Vasilis Panagiotis Anastasios Despina Ioanna Stavros Thanos",
        "Papadopoulos Nikolaidis Georgiou Papadakis Vlachos Makris Angelopoulou Karagiannis Ioannou Christodoulou Economou "
        "Stathopoulos Oikonomou Antoniou Pappas Kostas Zafeiriou",
    ),
    "indian": (
        "Aarav Priya Ravi Sunita Anil Lakshmi Rajesh Deepa Vikram Anjali Sanjay Kavita Arjun Meera Suresh Padma Ganesh Shreya Harpreet "
        "Gurpreet Manpreet Venkat Ananya Ishaan Rohan Nisha Thanh Chandrika Balakrishnan Sivakumar Nirmala Farhan Ayesha Zara",
        "Patel Sharma Singh Kumar Gupta Reddy Iyer Nair Rao Mehta Shah Desai Joshi Kaur Gill Dhillon Chatterjee Mukherjee Banerjee Das "
        "Bose Krishnan Subramanian Venkataraman Pillai Menon Choudhury Agarwal Kapoor Malhotra Bhatt Khan Begum Hossain Rahman "
        "Perera Fernando Silva Jayawardena Shrestha Gurung Thapa",
    ),
    "hebrew_armenian_persian_thai": (
        "Moshe Yosef Avraham Rivka Chana Shlomo Noa Tamar Eitan Ari Levon Aram Ani Hakob Narine Reza Parisa Shirin Farid Dariush Niloufar "
        "Somchai Siriporn Nattapong Kanya Malee Tupaia Sione Mele Leilani Keoni Tevita Kwame Ama Kofi Chinedu Ngozi Oluwaseun "
        "Thandiwe Sipho Tendai Abebe Selam Tigist Dawit Nguyet",
        "Cohen Levy Mizrahi Peretz Friedman Goldstein Rosenberg Katz Shapiro Petrosyan Sargsyan Hakobyan Grigoryan Tehrani Shirazi "
        "Farahani Jafari Srisai Chaiyasit Wongsakul Taufa Fonoti Tuilagi Kealoha Mahelona Mensah Boateng Okafor Adeyemi Okonkwo Nwosu "
        "Dlamini Nkosi Moyo Tesfaye Bekele Haile Nguyen Tran Pham Le Hoang Vu Dang Bui Do",
    ),
}  # fmt: skip

_NICKNAMES = values(
    "Bob|Bobby|Bill|Billy|Jim|Jimmy|Tom|Tommy|Mike|Mikey|Dave|Davy|Steve|Stevie|Rob|Robbie|Dick|Rick|Ricky|Chuck|"
    "Hank|Jack|Jackie|Joe|Joey|Johnny|Ted|Teddy|Ned|Al|Alfie|Andy|Tony|Ben|Benny|Dan|Danny|Ed|Eddie|Fred|Freddy|Gus|"
    "Harry|Ken|Kenny|Larry|Len|Lenny|Lou|Matt|Max|Nate|Nick|Pat|Pete|Phil|Ray|Ron|Ronnie|Sam|Sammy|Sid|Stan|Tim|"
    "Timmy|Vic|Walt|Will|Willie|Zach|Abby|Aggie|Allie|Angie|Annie|Barb|Becky|Bess|Beth|Betsy|Betty|Bonnie|Carrie|"
    "Cathy|Cindy|Connie|Deb|Debbie|Dee|Dolly|Dot|Dottie|Ellie|Evie|Fran|Frankie|Ginny|Gracie|Gwen|Hattie|Izzy|Jen|"
    "Jenny|Jess|Jill|Jo|Josie|Judy|Kat|Kate|Katie|Kathy|Kim|Kitty|Liz|Lizzie|Lottie|Lucy|Maggie|Mandy|Margie|Meg|"
    "Millie|Minnie|Molly|Nan|Nancy|Nell|Nellie|Patty|Peg|Peggy|Polly|Rosie|Sadie|Sally|Sandy|Sue|Susie|Tess|Tina|"
    "Trish|Trudy|Val|Vicky|Winnie"
)
_PARTICLES = values(
    "van|van der|van den|von|de|de la|del|di|da|dos|dos Santos|bin|al|El|Le|La|Mc|O'|Mac|Fitz|St.|ter|ten|du|D'|Abu|"
    "Ben|Ap"
)
_TITLES = values(
    "Dr.|Dr.|Dr.|Dr|Mr.|Mr.|Mr|Mrs.|Mrs|Ms.|Ms.|Ms|Miss|Prof.|Professor|Doctor|Nurse|Sister|Rev.|Father|Sgt.|Capt.|"
    "Judge|Sir|Dame|Mx.|Fr.|Hon.|Señor|Sra.|Herr|Madame|Officer|Coach|Rabbi|Imam|Pastor"
)
_SUFFIXES = ["Jr.", "Sr.", "II", "III", "IV", "Jr", "Sr"]
_CREDENTIALS = values(
    "MD|M.D.|DO|RN|NP|PA-C|PhD|MBBS|LCSW|PharmD|FACS|DPM|FRCP|CRNA|BSN, RN|MD, PhD|DDS|PT, DPT|OTR/L|RD|MSW|CNM|ARNP"
)


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
            while (letter := chance.choice(self._next[letters[-3:]])) != "$" and len(letters) < longest + 4:
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


class People:
    """Draws names, places and companies."""

    def __init__(self, chance: random.Random, words: Sequence[str], size: float = 1.0) -> None:
        self.chance = chance
        self._words = words
        self._lands: dict[str, _Land] = {}
        for number, locale in enumerate(_LOCALES):
            fake = Faker(locale)
            fake.seed_instance(chance.getrandbits(32) + number)
            often = int(size * (4 if locale in _MOST_LOCALES else 1))
            self._lands[locale] = _Land(
                _drawn(fake, "first_name", 300 * often),
                _drawn(fake, "last_name", 300 * often),
                _drawn(fake, "city", 150 * often) if locale != "it_IT" else [],  # faker's order there changes
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
            return self.chance.choice(_MOST_LOCALES)
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
        name = self.family_chain.word(self.chance).capitalize() if draw < 0.22 else self._draw("family", land)
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
        return [(f"{self.given(land)} {self.family(land)}", "NAME"), (", " + self.chance.choice(_CREDENTIALS), None)]

    def city(self, land: str | None = None) -> str:
        """Return a city or town."""
        draw = self.chance.random()
        city = self.city_chain.word(self.chance, 4).capitalize() if draw < 0.2 else self._draw("cities", land)
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
                parts.append(self.chance.choice(_STATES) if self.chance.random() < 0.5 else self.region())
            tail = self.postcode() if self.chance.random() < 0.5 else str(self.chance.randint(1000, 99999))
            if self.chance.random() < 0.4:
                parts.append(
                    self.country() if self.chance.random() < 0.85 else self.city_chain.word(self.chance, 5).capitalize()
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
            ("Apt.", "Apt", "Suite", "Unit", "Flat", "#", "Floor", "Ste", "Room", "Apartment", "Box", "c/o")
        )
        return f"{word} {self.chance.randint(1, 999)}{self.chance.choice(('', '', '', 'A', 'B', 'C'))}"

    def company(self) -> str:
        """Return a company, charity, school or shop."""
        draw = self.chance.random()
        invented = self.city_chain.word(self.chance, 4, 10).capitalize()
        blend = self.chance.choice(_COMPANY_PARTS) + self.chance.choice(_COMPANY_ENDS)
        word, other = (self.chance.choice(_COMPANY_WORDS) for _ in range(2))
        if draw < 0.12:
            return self._draw("companies")
        if draw < 0.17:
            return " ".join(self.chance.choice(self._words).capitalize() for _ in range(self.chance.randint(1, 3)))
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
                self.chance.choice("ABCDEFGHIJKLMNOPRSTUVW") for _ in range(self.chance.randint(2, 4))
            ) + self.chance.choice((" Group", " Inc.", " Bank", " Holdings"))
        return f"{word}.{self.chance.choice(('com', 'io', 'org', 'ly', 'gov'))}"

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
            return f"{self.chance.choice(_FACILITY_WORDS)}{self.chance.choice(_FACILITY_ENDS)} {kind}"
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


_COUNTRIES = values(
    "Afghanistan|Albania|Algeria|Andorra|Angola|Argentina|Armenia|Australia|Austria|Azerbaijan|Bahamas|Bahrain|"
    "Bangladesh|Barbados|Belarus|Belgium|Belize|Benin|Bhutan|Bolivia|Bosnia and Herzegovina|Botswana|Brazil|Brunei|"
    "Bulgaria|Burkina Faso|Burundi|Cambodia|Cameroon|Canada|Cape Verde|Chad|Chile|China|Colombia|Comoros|Congo|"
    "Costa Rica|Croatia|Cuba|Cyprus|Czech Republic|Czechia|Denmark|Djibouti|Dominica|Dominican Republic|Ecuador|"
    "Egypt|El Salvador|England|Eritrea|Estonia|Eswatini|Ethiopia|Fiji|Finland|France|Gabon|Gambia|Georgia|Germany|"
    "Ghana|Greece|Greenland|Grenada|Guatemala|Guinea|Guyana|Haiti|Honduras|Hong Kong|Hungary|Iceland|India|Indonesia|"
    "Iran|Iraq|Ireland|Israel|Italy|Ivory Coast|Jamaica|Japan|Jordan|Kazakhstan|Kenya|Kosovo|Kuwait|Kyrgyzstan|Laos|"
    "Latvia|Lebanon|Lesotho|Liberia|Libya|Liechtenstein|Lithuania|Luxembourg|Madagascar|Malawi|Malaysia|Maldives|"
    "Mali|Malta|Mauritania|Mauritius|Mexico|Moldova|Monaco|Mongolia|Montenegro|Morocco|Mozambique|Myanmar|Namibia|"
    "Nauru|Nepal|Netherlands|the Netherlands|New Zealand|Nicaragua|Niger|Nigeria|North Macedonia|Northern Ireland|"
    "Norway|Oman|Pakistan|Palau|Palestine|Panama|Papua New Guinea|Paraguay|Peru|Philippines|the Philippines|Poland|"
    "Portugal|Puerto Rico|Qatar|Romania|Russia|Rwanda|Samoa|San Marino|Saudi Arabia|Scotland|Senegal|Serbia|"
    "Seychelles|Sierra Leone|Singapore|Slovakia|Slovenia|Somalia|South Africa|South Korea|South Sudan|Spain|"
    "Sri Lanka|Sudan|Suriname|Sweden|Switzerland|Syria|Taiwan|Tajikistan|Tanzania|Thailand|Togo|Tonga|"
    "Trinidad and Tobago|Tunisia|Turkey|Turkmenistan|Uganda|Ukraine|United Arab Emirates|United Kingdom|"
    "the United Kingdom|United States|the United States|United States of America|USA|UK|Uruguay|Uzbekistan|Vanuatu|"
    "Venezuela|Vietnam|Wales|Yemen|Zambia|Zimbabwe"
)
_STATES = values(
    "AL|AK|AZ|AR|CA|CO|CT|DE|FL|GA|HI|ID|IL|IN|IA|KS|KY|LA|ME|MD|MA|MI|MN|MS|MO|MT|NE|NV|NH|NJ|NM|NY|NC|ND|OH|OK|OR|"
    "PA|RI|SC|SD|TN|TX|UT|VT|VA|WA|WV|WI|WY|ON|BC|QC|AB|NSW|VIC|QLD|MB|NS|NO"
)
_STATE_NAMES = values(
    "Alabama|Alaska|Arizona|Arkansas|California|Colorado|Connecticut|Delaware|Florida|Georgia|Hawaii|Idaho|Illinois|"
    "Indiana|Iowa|Kansas|Kentucky|Louisiana|Maine|Maryland|Massachusetts|Michigan|Minnesota|Mississippi|Missouri|"
    "Montana|Nebraska|Nevada|New Hampshire|New Jersey|New Mexico|New York|North Carolina|North Dakota|Ohio|Oklahoma|"
    "Oregon|Pennsylvania|Rhode Island|South Carolina|South Dakota|Tennessee|Texas|Tex.|Utah|Vermont|Virginia|"
    "Washington|West Virginia|Wisconsin|Wyoming|Calif.|Fla.|Mass.|Penn.|Ore.|Wash.|Minn.|Ontario|Quebec|Alberta"
)
_STREET_WORDS = values(
    "Street|St|St.|Avenue|Ave|Ave.|Road|Rd|Rd.|Lane|Drive|Boulevard|Blvd|Way|Court|Close|Gardens|Terrace|Place|"
    "Crescent|Square|Hill|Grove|straße|strasse|weg|gasse|laan|straat|gatan|vägen|gade|vej|veien|katu|tie|utca|út|"
    "ulica|ulice|Platz|allee|plein|kade|Parkway|Highway|Trail|Circle|Loop"
)
_STREET_BEFORE = values(
    "Rua|Avenida|Calle|Via|Viale|Piazza|Rue|Avenue|Boulevard|Strada|ul.|Ulica|al.|Travessa|Rua da|Calle de|Rue de la|"
    "Paseo|Corso|Chemin|Largo|Praça|Carrer|Rúa|C/|Str.|Jalan|Jl.|Place|Allée|Impasse|Quai|Av."
)
_COMPANY_PARTS = values(
    "data|net|info|bio|med|soft|tech|nova|opti|sol|agro|micro|meta|geo|open|path|quant|terra|vita|volt|zen|air|alta|"
    "arc|blue|brand|cloud|core|cyber|digi|eco|energi|farm|fin|flex|fleet|fuel|grid|health|home|hyper|inno|intel|"
    "inter|key|land|lex|link|loco|logi|lumi|mark|mind|mobi|nano|neo|omni|onc|orb|parcel|pay|pix|plan|poly|pro|pulse|"
    "red|safe|sense|sky|smart|social|spark|star|stat|stream|sun|syn|tele|trade|trans|true|uni|urban|vector|verb|vid|"
    "vis|wave|web|work|xen|yield|zoom"
)
_COMPANY_ENDS = values(
    "ix|ity|ora|ly|io|ium|eon|ara|on|is|ex|ia|al|um|ance|point|works|base|hub|lab|labs|metrics|logic|systems|scape|"
    "stack|ware|wise|force|gen|genics|dyne|tron|star|line|forge|flow|path|sphere|view|cast|bridge|nest|data|soft|"
    "bank|trust|pharm|fit|care|gov|deck|board|bit|loop|shift|mint"
)
_COMPANY_WORDS = values(
    "Global|United|National|First|Allied|Pacific|Atlantic|Northern|Southern|Western|Eastern|Central|Royal|Liberty|"
    "Summit|Pioneer|Heritage|Horizon|Evergreen|Golden|Silver|Blue|Red|Green|Iron|Stone|River|Lake|Ocean|Harbor|"
    "Bridge|Oak|Maple|Cedar|Eagle|Falcon|Lion|Wolf|Phoenix|Apex|Vertex|Quantum|Stellar|Lunar|Solar|Fusion|Dynamic|"
    "Integrated|Applied|Advanced|Modern|Digital|Cloud|Data|Open|Smart|Bright|Clear|True|Trust|Safe|Secure|Capital|"
    "Equity|Savings|Credit|Insurance|Energy|Power|Electric|Gas|Oil|Steel|Motor|Auto|Air|Freight|Van|Express|"
    "Logistics|Shipping|Foods|Bakery|Coffee|Brewing|Farms|Dairy|Textile|Fashion|Home|Garden|Builders|Construction|"
    "Design|Studio|Media|News|Press|Books|Music|Film|Sports|Travel|Hotel|Resort|Bank|Research|Analytics|Consulting|"
    "Partners|Networks|Wireless|Telecom|Mobile|Software|Robotics|Aerospace|Defense|Pharma|Therapeutics|Genomics|"
    "Bioscience|Diagnostics|Wellness|Care|Education|Learning|Compass|Mountain|Valley|Sunrise|Crown|Castle|Arrow|"
    "Anchor|Beacon|Lantern|Metro|City|Urban|People|Community|Family|Transit|Water|Waste|Policy|Health|Climate|Risk|"
    "Compliance|Trade|Market|Markets|Property|Estate"
)
_COMPANY_FORMS = values(
    "Inc.|Inc|LLC|Ltd.|Ltd|Limited|GmbH|AG|Corp.|Corporation|Group|Holdings|Partners|Associates|Company|Co.|"
    "Industries|Systems|Technologies|Solutions|Services|Foundation|Trust|Bank|Insurance|PLC|S.A.|AB|Oy|Labs|Networks|"
    "International|Ventures|Enterprises|Society|Institute|Union"
)
_SCHOOLS = values(
    "High School|Elementary School|Community College|State University|Academy|Middle School|Library|"
    "Police Department|Fire Department|City Council|Museum|Zoo|Airport|Church|Post|Times|Herald|Gazette|United|"
    "Rovers|Correctional Facility|School District|County Court"
)
_FACILITIES = values(
    "Hospital|Hospital|Hospital|General Hospital|Medical Center|Medical Center|Clinic|Clinic|Health Center|"
    "Community Hospital|Regional Medical Center|Memorial Hospital|Health System|Healthcare|Children's Hospital|"
    "Cancer Center|Cancer Institute|Infirmary|Family Practice|Family Medicine|Surgery|Surgical Center|"
    "Rehabilitation Center|Rehab|Nursing Home|Care Home|Hospice|Urgent Care|Health Clinic|Heart Institute|"
    "Eye Hospital|VA Medical Center|Dental Practice|Medical Group|Physicians|Internal Medicine Associates|Imaging|"
    "Dialysis Center|Behavioral Health|Psychiatric Hospital|University Hospital|Pediatrics|Orthopedics|"
    "Assisted Living|Diagnostic Center|Women's Hospital|Pharmacy|Med Ctr|Hosp"
)
_FACILITY_WORDS = values(
    "Sunrise|Sunnyside|Lakeside|Riverside|Oak|Oakwood|Pine|Pinecrest|Cedar|Maple|Elm|Willow|Birch|Green|Greenfield|"
    "Meadow|Valley|Mountain|Hill|Hillside|Summit|Ridge|Grand|Bay|Harbor|Ocean|Coastal|Pacific|Atlantic|Northern|"
    "Southern|Eastern|Western|Northside|Southside|Westside|Eastside|Downtown|Uptown|Midtown|Central|County|Metro|"
    "City|Capital|Mercy|Grace|Hope|Providence|Trinity|Unity|Liberty|Heritage|Pioneer|Golden|Silver|Crystal|Clear|"
    "Fair|Bright|Good|Samaritan|Sacred|Heart|Holy|Cross|Redwood|Evergreen|Blue|Water|Spring|Springfield|Brook|"
    "Brookside|Stone|Rock|Cliff|Forest|Park|Garden|Rose|Magnolia|Bayview|Fairview|Grandview|Seaside|Shady|Desert|"
    "Prairie|Baptist|Methodist|Presbyterian|Lutheran|Adventist|Jewish|Catholic|Veterans|Royal|Queen|King|Prince|"
    "Victoria|Elizabeth|University"
)
_FACILITY_ENDS = values("wood|field|brook|dale|view|ridge|side|crest|haven|mont|ton|ville|land|gate|hurst|port")
_KNOWN_FACILITIES = values(
    "Mayo Clinic|Cleveland Clinic|Johns Hopkins|Johns Hopkins Hospital|Mass General|Massachusetts General Hospital|"
    "MGH|Stanford Hospital|UCLA Medical Center|UCSF|Mount Sinai|Cedars-Sinai|NYU Langone|Kaiser Permanente|"
    "Brigham and Women's|MD Anderson|Memorial Sloan Kettering|Duke University Hospital|Charité|Guy's Hospital|"
    "King's College Hospital|Royal Free|Addenbrooke's|Great Ormond Street|Karolinska|Toronto General|Geisinger|"
    "Intermountain|Sutter Health|Northwestern Memorial|Rush|Emory|Vanderbilt|Bellevue|Baylor|Scripps|Dana-Farber|"
    "St. Jude"
)
