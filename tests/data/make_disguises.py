"""Write tests/data/disguises.jsonl: identifiers in clinical sentences, written so that they are not found.

Run it as `python tests/data/make_disguises.py`. All people and numbers are made up. Rows with an even number are for
tuning; rows with an odd number are looked at as a figure only.
"""

import base64
import codecs
import html
import json
import random
import re
import unicodedata
import urllib.parse
from collections.abc import Callable
from pathlib import Path

NAMES = (
    "Margaret Holloway", "John Smith", "Anna Kowalski", "Desmond Taylor", "Maria Garcia", "Quentin Ashworth",
    "Emily Johnson", "Rajesh Patel", "Fiona Gallagher", "Robert Chen", "Susan Whitfield", "Thomas Mueller",
    "Olivia Brown", "Hannah Lindqvist", "Carlos Mendoza", "Patricia Nowak",
)  # fmt: skip
NUMBERS = (
    "00451234",
    "MRN4471882",
    "7730912",
    "88-412-907",
    "A1093377",
    "5512-8841",
    "30991275",
    "672210984",
)
PHONES = ("617-555-0143", "(415) 555-0198", "+1 312 555 0177", "202.555.0126", "503-555-0111")
SOCIAL = ("123-45-6789", "412-88-1930", "530-21-7746", "219-09-9999")
MAILS = (
    "m.holloway@ward7.example.com",
    "john.smith@gmail.com",
    "akowalski@stmarys.org",
    "r_patel@clinic.net",
)
DAYS = ("03/14/2022", "2021-11-02", "12/05/1978", "April 12, 2023", "14 Mar 2022")

SENTENCES = {
    "NAME": (
        "Patient {} was admitted with chest pain and started on aspirin.",
        "Seen in clinic today: {}. Blood pressure 128/76, no oedema.",
        "Name: {}\nDiagnosis: community-acquired pneumonia",
        "Please summarise the discharge letter of {} for the GP.",
        "Dr. {} reviewed the CT and agrees with the plan.",
    ),
    "MRN": (
        "MRN: {} was admitted with sepsis, lactate 3.1.",
        "Results for medical record number {} show a creatinine of 1.8 mg/dL.",
        "Please look up patient ID {} before the next dose of vancomycin.",
    ),
    "PHONE": (
        "Call the family at {} about the biopsy.",
        "Phone: {}\nAllergies: penicillin",
        "She can be reached at {} after discharge on apixaban 5 mg.",
    ),
    "SSN": (
        "SSN {} on the admission form, NKDA.",
        "Social security number: {}. History of asthma.",
    ),
    "EMAIL": ("Send the results to {} by Friday, please.", "Contact: {} for the insulin chart."),
    "DATE": ("Admitted on {} with heart failure, EF 35%.", "DOB: {}; on metoprolol 50 mg daily."),
}
KINDS = {
    "NAME": NAMES,
    "MRN": NUMBERS,
    "PHONE": PHONES,
    "SSN": SOCIAL,
    "EMAIL": MAILS,
    "DATE": DAYS,
}
WORDY = ("NAME",)
NUMERIC = ("MRN", "PHONE", "SSN")
ALL = ("NAME", "MRN", "PHONE", "SSN", "EMAIL", "DATE")

_CYRILLIC = str.maketrans("aceopxyABCEHKMOPTX", "асеорхуАВСЕНКМОРТХ")
_GREEK = str.maketrans("AoBEHIKMNOPTXYZv", "ΑοΒΕΗΙΚΜΝΟΡΤΧΥΖν")
_ARMENIAN = str.maketrans("ohnuS", "օհոսՏ")
_CHEROKEE = str.maketrans("ABCDEGHJKLMPRSTVWZ", "ᎪᏴᏟᎠᎬᏀᎻᎫᏦᏞᎷᏢᎡᏚᎢᏙᎳᏃ")
_SMALL = str.maketrans("abcdefghijklmnoprstuvwyz", "ᴀʙᴄᴅᴇꜰɢʜɪᴊᴋʟᴍɴᴏᴘʀꜱᴛᴜᴠᴡʏᴢ")
_WORDS = dict(zip("0123456789", [
    "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine",
], strict=True))  # fmt: skip
_CODES = [
    ".-", "-...", "-.-.", "-..", ".", "..-.", "--.", "....", "..", ".---", "-.-", ".-..", "--", "-.", "---",
    ".--.", "--.-", ".-.", "...", "-", "..-", "...-", ".--", "-..-", "-.--", "--..",
]  # fmt: skip
_MORSE = dict(zip("abcdefghijklmnopqrstuvwxyz", _CODES, strict=True))
_ALPHABET = [
    "Alpha", "Bravo", "Charlie", "Delta", "Echo", "Foxtrot", "Golf", "Hotel", "India", "Juliet", "Kilo", "Lima",
    "Mike", "November", "Oscar", "Papa", "Quebec", "Romeo", "Sierra", "Tango", "Uniform", "Victor", "Whiskey",
    "X-ray", "Yankee", "Zulu",
]  # fmt: skip


def shifted(lower: int | None, upper: int | None, digit: int | None) -> Callable[[str], str]:
    """Return what draws letters and digits from other blocks of Unicode."""

    def draw(text: str) -> str:
        return "".join(
            chr(lower + ord(c) - 97) if lower and c.islower()
            else chr(upper + ord(c) - 65) if upper and c.isupper()
            else chr(digit + ord(c) - 48) if digit and c.isdigit()
            else c
            for c in text
        )  # fmt: skip

    return draw


def between(sign: str, every: int = 1) -> Callable[[str], str]:
    """Return what puts a sign between letters of a word."""

    def put(text: str) -> str:
        written = ""
        for place, character in enumerate(text):
            following = text[place + 1 : place + 2]
            joint = character.isalnum() and following.isalnum() and (place % every == every - 1)
            written += character + (sign if joint else "")
        return written

    return put


def after_each(mark: str) -> Callable[[str], str]:
    """Return what puts a mark on every letter."""
    return lambda text: "".join(c + mark if c.isalnum() else c for c in text)


def middle(sign: str, closing: str = "") -> Callable[[str], str]:
    """Return what puts something in the middle of each word of letters, or of the number."""

    def put(text: str) -> str:
        words = []
        for word in text.split(" "):
            place = max(2, len(word) // 2)
            words.append(word[:place] + sign + word[place:] + closing if len(word) > 3 else word)
        return " ".join(words)

    return put


def escaped(pattern: str, share: float = 1.0) -> Callable[[str], str]:
    """Return what writes letters and digits by their code."""
    every = round(1 / share)
    return lambda text: "".join(
        pattern.format(ord(c)) if c.isalnum() and place % every == 0 else c
        for place, c in enumerate(text)
    )


def quoted(text: str) -> str:
    return "".join(f"={ord(c):02X}" for c in text)


def b64(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def each_word(change: Callable[[str], str], joined: str = " ") -> Callable[[str], str]:
    return lambda text: joined.join(change(word) for word in text.split(" "))


def by_alphabet(word: str) -> str:
    """Return the word as it is spelled on the telephone."""
    return " ".join(_ALPHABET[ord(c) - 97] for c in word.lower())


DISGUISES: dict[str, tuple[tuple[str, ...], Callable[[str], str]]] = {
    "full width": (ALL, shifted(0xFF41, 0xFF21, 0xFF10)),
    "mathematical bold": (ALL, shifted(0x1D41A, 0x1D400, 0x1D7CE)),
    "mathematical sans italic": (("NAME", "EMAIL"), shifted(0x1D622, 0x1D608, None)),
    "mathematical double struck digits": (NUMERIC, shifted(None, None, 0x1D7D8)),
    "monospace": (ALL, shifted(0x1D68A, 0x1D670, 0x1D7F6)),
    "circled": (WORDY, shifted(0x24D0, 0x24B6, None)),
    "in black circles": (WORDY, lambda t: shifted(None, 0x1F150, None)(t.upper())),
    "in squares": (WORDY, lambda t: shifted(None, 0x1F130, None)(t.upper())),
    "flags": (WORDY, lambda t: "\u200c".join(shifted(None, 0x1F1E6, None)(t.upper()))),
    "parenthesised": (WORDY, lambda t: shifted(0x249C, None, None)(t.lower())),
    "small capitals": (WORDY, lambda t: t.lower().translate(_SMALL)),
    "capital and small capitals": (WORDY, lambda t: t.translate(_SMALL)),
    "Arabic digits": (NUMERIC, shifted(None, None, 0x0660)),
    "Devanagari digits": (NUMERIC, shifted(None, None, 0x0966)),
    "Thai digits": (("MRN", "SSN", "PHONE", "DATE"), shifted(None, None, 0x0E50)),
    "key caps": (("MRN", "PHONE"), lambda t: "".join(c + "\ufe0f\u20e3" if c.isdigit() else c for c in t)),
    "superscript digits": (("MRN", "SSN"), lambda t: t.translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))),
    "subscript digits": (("MRN", "SSN"), shifted(None, None, 0x2080)),
    "typographic dashes": (("SSN", "PHONE", "DATE"), lambda t: t.replace("-", "\u2013").replace("/", "\u2044")),
    "minus signs": (("SSN", "PHONE"), lambda t: t.replace("-", "\u2212")),
    "no-break spaces": (("NAME", "PHONE", "DATE"), lambda t: t.replace(" ", "\u00a0").replace("-", "\u2011")),
    "thin spaces": (("NAME", "DATE"), lambda t: t.replace(" ", "\u2009")),
    "zero-width space": (ALL, between("\u200b")),
    "zero-width joiner": (ALL, between("\u200d", 2)),
    "word joiner": (ALL, between("\u2060", 2)),
    "soft hyphen": (("NAME", "MRN", "SSN"), between("\u00ad", 2)),
    "byte order mark": (("NAME", "PHONE"), between("\ufeff", 3)),
    "invisible tags": (("NAME", "MRN"), between("\U000e0041", 2)),
    "variation selectors": (("NAME", "SSN"), between("\ufe0e", 2)),
    "direction marks": (("NAME", "MRN", "PHONE"), between("\u200e", 2)),
    "right-to-left override": (("NAME", "MRN", "PHONE"), lambda t: f"\u202e{t[::-1]}\u202c"),
    "Cyrillic letters": ((*WORDY, "EMAIL"), lambda t: t.translate(_CYRILLIC)),
    "one Cyrillic letter": (WORDY, lambda t: t.translate(str.maketrans("ao", "ао"))),
    "Greek letters": (WORDY, lambda t: t.translate(_GREEK)),
    "Armenian letters": (WORDY, lambda t: t.translate(_ARMENIAN)),
    "Cherokee capitals": (WORDY, lambda t: t.translate(_CHEROKEE)),
    "struck through": (("NAME", "MRN", "SSN"), after_each("\u0336")),
    "underlined by marks": (("NAME", "PHONE"), after_each("\u0332")),
    "many marks": (WORDY, after_each("\u0301\u0323\u0336\u0489")),
    "decomposed accents": (WORDY, lambda t: unicodedata.normalize("NFD", t.replace("a", "á"))),
    "JSON escapes": (ALL, escaped("\\u{:04x}")),
    "some JSON escapes": (ALL, escaped("\\u{:04x}", 0.5)),
    "JSON escapes in a JSON string": (ALL, lambda t: json.dumps(escaped("\\u{:04x}", 0.5)(t))[1:-1]),
    "hexadecimal escapes": (("NAME", "MRN"), escaped("\\x{:02x}")),
    "octal escapes": (WORDY, escaped("\\{:03o}")),
    "braced escapes": (WORDY, escaped("\\u{{{:x}}}")),
    "code points": (WORDY, lambda t: " ".join(f"U+{ord(c):04X}" for c in t)),
    "URL encoding": (ALL, urllib.parse.quote),
    "URL encoding of all": (ALL, escaped("%{:02X}")),
    "URL encoding twice": (ALL, lambda t: urllib.parse.quote(urllib.parse.quote(t))),
    "URL plus signs": (WORDY, lambda t: "?patient=" + urllib.parse.quote_plus(t)),
    "HTML decimal": (ALL, escaped("&#{};")),
    "HTML hexadecimal": (ALL, escaped("&#x{:x};", 0.5)),
    "HTML twice": (("NAME", "MRN"), lambda t: html.escape(escaped("&#{};", 0.5)(t))),
    "HTML named": (
        ("NAME", "EMAIL"),
        lambda t: t.replace(" ", "&nbsp;").replace("@", "&commat;").replace(".", "&period;"),
    ),
    "quoted-printable": (("NAME", "MRN", "PHONE"), quoted),
    "quoted-printable line end": (("NAME", "MRN"), lambda t: t[:6] + "=\n" + t[6:]),
    "base64": (ALL, b64),
    "base64 without padding": (("NAME", "MRN"), lambda t: b64(t).rstrip("=")),
    "base64 twice": (("NAME", "MRN", "PHONE"), lambda t: b64(b64(t))),
    "base64 of UTF-16": (WORDY, lambda t: base64.b64encode(t.encode("utf-16-le")).decode()),
    "base64 in a URL": (("NAME", "MRN"), lambda t: urllib.parse.quote(b64(t + "?"))),
    "base32": (("NAME", "MRN"), lambda t: base64.b32encode(t.encode()).decode()),
    "hexadecimal": (ALL, lambda t: t.encode().hex()),
    "hexadecimal in pairs": (("NAME", "MRN"), lambda t: t.encode().hex(" ")),
    "hexadecimal of base64": (("NAME", "MRN"), lambda t: b64(t).encode().hex()),
    "0x bytes": (WORDY, lambda t: " ".join(f"0x{b:02x}" for b in t.encode())),
    "bits": (WORDY, lambda t: " ".join(f"{b:08b}" for b in t.encode())),
    "decimal codes": (WORDY, lambda t: " ".join(str(b) for b in t.encode())),
    "Morse": (WORDY, lambda t: " / ".join(" ".join(_MORSE[c] for c in w) for w in t.lower().split())),
    "spaced out": (ALL[:4], lambda t: "  ".join(" ".join(w) for w in t.split(" "))),
    "spaced out without word gaps": (WORDY, lambda t: " ".join(t.replace(" ", ""))),
    "dotted out": (WORDY, each_word(".".join)),
    "dashed out": (WORDY, each_word("-".join)),
    "starred out": (WORDY, each_word("*".join)),
    "underscored out": (WORDY, each_word("_".join)),
    "slashed out": (WORDY, each_word("/".join)),
    "letter a line": (WORDY, lambda t: "\n".join(t.replace(" ", ""))),
    "in small letters spaced out": (WORDY, lambda t: "  ".join(" ".join(w) for w in t.lower().split(" "))),
    "digits spaced out": (("MRN", "PHONE", "SSN"), " ".join),
    "digits in dots": (("MRN",), lambda t: ".".join(t.replace("-", ""))),
    "digits in words": (("MRN", "PHONE", "SSN"), lambda t: " ".join(_WORDS.get(c, c) for c in t if c.isalnum())),
    "digits in words with dashes": (("SSN",), lambda t: " ".join(_WORDS.get(c, "dash") for c in t)),
    "at and dot": (("EMAIL",), lambda t: t.replace("@", " at ").replace(".", " dot ")),
    "at and dot in brackets": (("EMAIL",), lambda t: t.replace("@", "[at]").replace(".", "[dot]")),
    "at and dot in parentheses": (("EMAIL",), lambda t: t.replace("@", " (at) ").replace(".", " (dot) ")),
    "only at": (("EMAIL",), lambda t: t.replace("@", " AT ")),
    "dots in brackets": (("EMAIL",), lambda t: t.replace(".", "[.]")),
    "bold inside a word": (("NAME", "MRN", "PHONE"), middle("<b>", "</b>")),
    "empty tag inside a word": (("NAME", "MRN", "SSN"), middle("<span></span>")),
    "comment inside a word": (("NAME", "SSN"), middle("<!-- -->")),
    "Markdown inside a word": (WORDY, middle("**", "**")),
    "Markdown around": (ALL, lambda t: f"**{t}**"),
    "underscores around": (WORDY, lambda t: f"_{t}_"),
    "code around": (ALL, lambda t: f"`{t}`"),
    "bar inside a word": (("NAME", "MRN"), middle("|")),
    "bullet inside a word": (WORDY, middle("·")),
    "caret inside a word": (WORDY, middle("^")),
    "hyphenated at a line end": (("NAME",), middle("-\n")),
    "broken at a line end": (WORDY, lambda t: t.replace(" ", "\n")),
    "number broken at its dash": (("SSN", "PHONE"), lambda t: t.replace("-", "-\n", 1)),
    "tab between": (WORDY, lambda t: t.replace(" ", "\t")),
    "wide gap": (WORDY, lambda t: t.replace(" ", "    ")),
    "run together": (WORDY, lambda t: t.replace(" ", "")),
    "snake": (WORDY, lambda t: t.replace(" ", "_")),
    "small snake": (WORDY, lambda t: t.lower().replace(" ", "_")),
    "small with dots": (WORDY, lambda t: t.lower().replace(" ", ".")),
    "uneven capitals": (WORDY, lambda t: "".join(c.upper() if p % 2 else c.lower() for p, c in enumerate(t))),
    "digits for letters": (WORDY, lambda t: t.translate(str.maketrans("aeo", "430"))),
    "signs for letters": (WORDY, lambda t: t.translate(str.maketrans("aisS", "@!$$"))),
    "one for l and i": (WORDY, lambda t: t.translate(str.maketrans("il", "11"))),
    "letters for digits": (("MRN", "PHONE", "SSN"), lambda t: t.translate(str.maketrans("01", "Ol"))),
    "backwards with a cue": (("NAME", "MRN"), lambda t: f"(reversed: {t[::-1]})"),
    "backwards, cue behind": (WORDY, lambda t: f"{t[::-1]} (written backwards)"),
    "rot13 with a cue": (WORDY, lambda t: f"(rot13: {codecs.encode(t, 'rot13')})"),
    "letters by their alphabet": (WORDY, each_word(by_alphabet, ", ")),
    "LaTeX": (WORDY, each_word(lambda w: f"\\textbf{{{w}}}")),
    "LaTeX inside a word": (WORDY, each_word(lambda w: w[:2] + "\\emph{" + w[2:] + "}")),
    "accents": (WORDY, lambda t: t.translate(str.maketrans("aeioun", "äëïöûň"))),
    "emoji inside": (WORDY, each_word(lambda w: w[:3] + "\U0001f600" + w[3:])),
    "upside down": (WORDY, lambda t: t.lower().translate(str.maketrans("acefghijkmrtvwy", "ɐɔǝɟɓɥıɾʞɯɹʇʌʍʎ"))),
}  # fmt: skip
ROWS_EACH = 6
INTRODUCES = re.compile(r"\?patient=|\((?:reversed|rot13): ")
ENDS = re.compile(r"(?<=\w)\)$| \(written backwards\)$|</b>$")
LATEX = re.compile(r"\\textbf\{([^{}]+)\}")


def identifying(hidden: str) -> list[tuple[int, int]]:
    """Return the parts of what is written that are the identifier: not what introduces it, nor markup around it."""
    start = match.end() if (match := INTRODUCES.match(hidden)) else 0
    end = match.start() if (match := ENDS.search(hidden)) else len(hidden)
    if words := list(LATEX.finditer(hidden, start, end)):
        return [word.span(1) for word in words]
    return [(start, end)]


def rows(seed: int = 20261120) -> list[dict[str, object]]:
    """Return the rows of the file, in an order that tells nothing."""
    chance = random.Random(seed)
    made: list[tuple[str, str, str, list[list[object]]]] = []
    for disguise, (kinds, change) in DISGUISES.items():
        for number in range(ROWS_EACH):
            kind = kinds[number % len(kinds)]
            value = chance.choice(KINDS[kind])
            hidden = change(value)
            before, _, after = chance.choice(SENTENCES[kind]).partition("{}")
            spans = [
                [len(before) + start, len(before) + end, kind] for start, end in identifying(hidden)
            ]
            made.append((disguise, value, before + hidden + after, spans))
    chance.shuffle(made)
    return [
        {"id": f"{number:03d} {disguise}", "text": text, "spans": spans, "value": value}
        for number, (disguise, value, text, spans) in enumerate(made)
    ]


if __name__ == "__main__":
    target = Path(__file__).parent / "disguises.jsonl"
    target.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows()), encoding="utf-8"
    )
