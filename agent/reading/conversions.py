"""Relate a value in a unit to the one that the question asks for: 0.446 s is 446 ms. Pure.

Only units that differ by a power of ten are converted, because then nothing is calculated that the answer does not say.
"""

import re

_FACTORS = {
    "ms": {"ms": 1.0, "s": 1_000.0},
    "mg": {"mg": 1.0, "g": 1_000.0, "mcg": 0.001},
}
"""For each unit that questions ask for, its multiples among the units that answers use."""
_NAMES = {
    **dict.fromkeys(("ms", "msec", "msecs", "millisecond", "milliseconds"), "ms"),
    **dict.fromkeys(("s", "sec", "secs", "second", "seconds"), "s"),
    **dict.fromkeys(("mg", "milligram", "milligrams"), "mg"),
    **dict.fromkeys(("g", "gram", "grams", "gramme", "grammes"), "g"),
    **dict.fromkeys(("mcg", "ug", "µg", "μg", "microgram", "micrograms"), "mcg"),
}
_UNIT = "|".join(sorted(_NAMES, key=len, reverse=True))
_ASKED = re.compile(r"\bin (?:terms of )?(msec|ms|mg)\b(?! ?/)", re.IGNORECASE)
_BEHIND = re.compile(rf"[ \n-]?({_UNIT})(?![\w/%])")
_NUMBER = r"\d{1,9}(?:\.\d{1,9})?"
_WORDS_BETWEEN = r"(?: ?(?:\(|=|≈|i\.e\.,?|,?\sthat is,?|,?\sin other words,?|,?\sor)\s?(?:about |≈ ?|i\.e\.,? )?)"
_REPEATED = re.compile(
    rf"(?<![\d.,-])(?P<value>{_NUMBER}) ?(?P<unit>{_UNIT})(?![\w/%])"
    rf"(?:\sof(?:\s[\w-]{{1,20}}){{1,3}}?|\s[\w-]{{1,20}})?{_WORDS_BETWEEN}"
    rf"(?P<other>{_NUMBER}) ?(?P<other_unit>{_UNIT})(?![\w/%])"
)
_MAX_REPEATED = 20
_TOLERANCE = 0.006  # of the larger value, for a rounded repetition


def find_asked_unit(question: str) -> str | None:
    """Return the unit that a question asks for, "ms" or "mg", or None."""
    asked = _ASKED.search(question)
    return _NAMES[asked[1].lower()] if asked else None


def convert(value: float, text: str, end: int, question: str) -> float:
    """Return a number that ends at a position of a text in the unit that the question asks for."""
    asked = find_asked_unit(question)
    unit = _BEHIND.match(text, end)
    if asked is None or unit is None:
        return value
    factor = _FACTORS[asked].get(_NAMES[unit[1]])
    return value if factor is None or factor == 1 else float(f"{value * factor:.12g}")


def blank_repetitions(text: str, question: str) -> str:
    """Return a text with spaces in place of a value that repeats the one beside it in another unit.

    Of "188.2 mg (0.1882 g)" and "0.1882 g = 188.2 mg", the value in the unit that the question asks for is kept.
    """
    asked = find_asked_unit(question)
    if asked is None or not _ASKED_SIGNS[asked].search(text):
        return text
    for _ in range(_MAX_REPEATED):
        match = next(filter(_is_repetition, _REPEATED.finditer(text)), None)
        if match is None:
            return text
        is_first = _NAMES[match["unit"]] != asked
        start = match.start("value" if is_first else "other")
        unit_end = match.end("unit" if is_first else "other_unit")
        text = text[:start] + " " * (unit_end - start) + text[unit_end:]
    return text


def _is_repetition(match: re.Match[str]) -> bool:
    unit, other_unit = _NAMES[match["unit"]], _NAMES[match["other_unit"]]
    for factors in _FACTORS.values():
        if unit != other_unit and unit in factors and other_unit in factors:
            value = float(match["value"]) * factors[unit]
            other = float(match["other"]) * factors[other_unit]
            return abs(value - other) <= _TOLERANCE * max(value, other)
    return False


_ASKED_SIGNS = {
    "ms": re.compile(r"\d ?s(?:ec\w*)?(?![\w/])"),
    "mg": re.compile(r"\d ?(?:g|grams?|mcg|[uµμ]g|micrograms?)(?![\w/])"),
}
"""Signs that a text has a value in another unit; looked for first, because that is faster."""
