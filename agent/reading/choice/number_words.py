"""Compare the numbers of answers and options: "Four" is 4, "eighteen hundred" is 1800, "class II" is class 2."""

import re

_ONES = (
    *("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"),
    *("thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty"),
)  # fmt: skip
_VALUES = {
    **{word: value for value, word in enumerate(_ONES)},
    **{"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90},
}  # fmt: skip
_SCALES = {"hundred": 100, "thousand": 1_000, "million": 1_000_000}
_WORD = "|".join((*_VALUES, *_SCALES))
# "One" of "the one", "this one" and "one of them" is no number. "Three thousand six hundred" is one.
_IN_WORDS = re.compile(
    r"\b(?<!the )(?<!this )(?<!that )(?<!each )(?<!first )(?<!which )"
    rf"(?:{_WORD})(?:(?:[ -]|[ ]and[ ])(?:{_WORD}))*\b(?! of (?:the|these|them)\b)",
    re.IGNORECASE,
)
_PARTS = re.compile(r"[a-z]+")
_ORDINALS = {
    **{"first": "1st", "second": "2nd", "third": "3rd", "fourth": "4th", "fifth": "5th", "sixth": "6th"},
    **{"seventh": "7th", "eighth": "8th", "ninth": "9th", "tenth": "10th"},
}  # fmt: skip
_ORDINAL = re.compile(rf"\b(?:{'|'.join(_ORDINALS)})\b", re.IGNORECASE)
_PERCENT = re.compile(r"(?<=\d)\s?(?:percent|per cent|%)", re.IGNORECASE)
_DECIMAL_COMMA = re.compile(r"(?<=\d),(?=\d)")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_ROMAN = {
    **{"I": 1, "II": 2, "III": 3, "IV": 4, "V": 5, "VI": 6},
    **{"VII": 7, "VIII": 8, "IX": 9, "X": 10, "XI": 11, "XII": 12},
}
_NUMBERED = re.compile(
    r"\b(class|type|stage|grade|phase|factor|category|group|degree|nerve)s? (I{1,3}|IV|VI{0,3}|IX|XI{0,2})\b",
    re.IGNORECASE,
)
_NUMERAL = re.compile(r"(?<![\w'-])(?:I{1,3}|IV|VI{0,3}|IX|XI{0,2})(?![\w'-])")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?%?(?![\dA-Z])")
_BRACKET = re.compile(r"\([^()]{0,200}\)")
_FOLLOWING_WORD = re.compile(r"\s?-?([^\W\d_]+)")
_NUMBER_AND_WORD = re.compile(
    r"(?<![\w.])(?P<number>\d+(?:\.\d+)?%?)(?!\w)\s?-?(?P<word>[^\W\d_]+)"
)


_SYMBOLS = {
    **{"microgram": "mcg", "µg": "mcg", "μg": "mcg", "ug": "mcg", "milligram": "mg", "gram": "g", "kilogram": "kg"},
    **{"milliliter": "ml", "millilitre": "ml", "liter": "l", "litre": "l", "minute": "min", "hour": "h", "hr": "h"},
}  # fmt: skip
"""The symbols of units that are written out or otherwise, in lower case."""


class NumberWords:
    """The numbers of a question's options."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        written = [_write_digits(text) for text in texts]
        self._has_ordinals = any(re.search(r"\d(?:st|nd|rd|th)\b", text) for text in texts)
        self._has_numbers = any(_NUMBER.search(text) for text in written)
        values = [number for text in written for number in _NUMBER.findall(text)]
        # "50%" is 0.50 if the options are probabilities.
        self._are_probabilities = bool(values) and all(
            not value.endswith("%") and float(value) <= 1 for value in values
        )
        self._units = _list_units(written)

    def write_digits(self, text: str) -> str:
        """Return the text with its numbers in digits, all written in the same way, if the options have numbers."""
        if self._has_ordinals:
            text = _ORDINAL.sub(lambda match: _ORDINALS[match[0].lower()], text)
        if not self._has_numbers:
            return text
        text = _write_digits(text)
        return _NUMBER.sub(lambda match: self._unify(match[0]), text)

    def find(self, text: str) -> frozenset[str]:
        """Return the numbers of a text."""
        return frozenset(_NUMBER.findall(self.write_digits(text)))

    def agree(self, text: str, of_option: frozenset[str]) -> bool:
        """Return whether the numbers of a text can be those of an option: one number, with the option's unit."""
        if not self._has_numbers:
            return True
        outside = self.write_digits(_BRACKET.sub(" ", text))
        numbers = list(_NUMBER.finditer(outside))
        if not of_option or not numbers:
            return not of_option and not numbers
        if len({number[0] for number in numbers}) > len(of_option):
            return False
        return {number[0] for number in numbers} <= of_option and all(
            self._has_same_unit(outside, number) for number in numbers
        )

    def _has_same_unit(self, text: str, number: re.Match[str]) -> bool:
        units = self._units.get(number[0], set())
        following = _FOLLOWING_WORD.match(text, number.end())
        return not units or following is None or _name_unit(following[1]) in units

    def _unify(self, number: str) -> str:
        if number.endswith("%") and self._are_probabilities:
            return f"{float(number[:-1]) / 100:g}"
        is_percent = number.endswith("%")
        return f"{float(number.rstrip('%')):g}" + ("%" if is_percent else "")


def find_numeral(letter: str, options: tuple[str, ...]) -> int | None:
    """Return the only option with a Roman numeral that is one letter: the V of "Type V collagen"."""
    if letter not in ("I", "V", "X") or not all(map(_NUMERAL.search, options)):
        return None
    found = [index for index, text in enumerate(options) if letter in _NUMERAL.findall(text)]
    return found[0] if len(found) == 1 else None


def _write_digits(text: str) -> str:
    text = _IN_WORDS.sub(lambda match: _write_in_digits(match[0]), text)
    text = _NUMBERED.sub(lambda match: f"{match[1]} {_ROMAN[match[2].upper()]}", text)
    text = _DECIMAL_COMMA.sub(".", _THOUSANDS.sub("", text))
    return _PERCENT.sub("%", text)


def _write_in_digits(words: str) -> str:
    """Return a number in words as digits; words that make no single number, such as "two three", stay apart."""
    parts = [part for part in _PARTS.findall(words.lower()) if part != "and"]
    total = 0
    group = 0  # what the next "thousand" or "million" counts
    largest_allowed = 0  # the units that may still be added to the group: below 10 after "twenty"
    for position, part in enumerate(parts):
        if part == "hundred":
            group = max(1, group) * 100
            largest_allowed = 100
        elif part in _SCALES:
            total += max(1, group) * _SCALES[part]
            group = 0
            largest_allowed = 1_000
        elif position == 0 or _VALUES[part] < largest_allowed:
            group += _VALUES[part]
            largest_allowed = 10 if _VALUES[part] >= 20 else 0
        else:
            return _PARTS.sub(_write_part_in_digits, words.lower())
    return str(total + group)


def _write_part_in_digits(part: re.Match[str]) -> str:
    value = _VALUES.get(part[0], _SCALES.get(part[0]))
    return part[0] if value is None else str(value)


def _list_units(texts: list[str]) -> dict[str, set[str]]:
    """Return the words that follow each number of the texts."""
    units: dict[str, set[str]] = {}
    for text in texts:
        for match in _NUMBER_AND_WORD.finditer(text):
            units.setdefault(match["number"], set()).add(_name_unit(match["word"]))
    return units


def _name_unit(word: str) -> str:
    """Return a unit in lower case, by its symbol: "mg" for "milligrams"."""
    unit = word.lower()
    return _SYMBOLS.get(unit.removesuffix("s"), unit)
