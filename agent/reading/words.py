"""Reduce text to the words that decide whether two answers mean the same. Pure."""

import re
import string
import unicodedata

ASCII_MARKS = str.maketrans(
    {
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2015\u2212", "-"),
        **dict.fromkeys("‘’ʼ", "'"),
        **dict.fromkeys("“”", '"'),
    }
)
"""Maps every hyphen, dash, minus sign and curly quotation mark to its ASCII form."""

_SPLIT_NUMBER = re.compile(r"(?<=\d),(?=\d{3}(?!\d))|(?<=\d)\s(?=%)|(?<=[<>=])\s(?=\.?\d)")
_DECIDES = (
    r"(?<=\d).(?=\d)"  # 1.5, 5-10, 120/80, 10^9
    r"|(?<![^\s(<>=])[-+<>=](?=[<>=]?[-+]?\.?\d)"  # -5, <5, >=5
    r"|(?<=\w)[-+](?![^\s.,;:!?)])"  # O-, HER2+
    r"|(?<=\d)%"
    r"|(?<![\w.])\.(?=\d)"  # .5
)
_DROPPED = re.compile(rf"(?!{_DECIDES})[{re.escape(string.punctuation)}]")
# A capital A is an article at the start of a text, but not in "Hepatitis A virus"; nor is the a of "hepatitis a".
_ARTICLE = re.compile(r"(?:^[\W_]*A|\b(?:an?|the|An|The|AN|THE)) (?=\w)")


def plain_words(text: str) -> str:
    """Return the text in lower case, without punctuation, with single spaces.

    Characters that change a value are kept: the point, sign, bound, fraction or percent of a number ("1.5" is not "15")
    and a plus or minus at the end of a word ("O-" is not "O+").
    """
    words = text.split()
    if text.isascii() and "".join(words).isalnum():
        return " ".join(words).lower()  # the same, many times faster
    return drop_punctuation(_normalise_spaces(text)).lower()


def words_without_articles(text: str) -> str:
    """Return the plain words without English articles that precede another word."""
    return drop_punctuation(_ARTICLE.sub("", _normalise_spaces(text))).lower()


def _normalise_spaces(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).translate(ASCII_MARKS).split())


def drop_punctuation(text: str) -> str:
    """Return the text with single spaces and without the punctuation that `plain_words` drops."""
    return " ".join(_DROPPED.sub("", _SPLIT_NUMBER.sub("", text)).split())
