"""The meaning of a value according to its column, key or element, and to the labels around it."""

import re
import unicodedata
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from pathlib import Path

from agent.redaction.formats.cells import FREE, KEEP, REFERENCE
from agent.redaction.rules.en.names import everyday
from agent.redaction.rules.en.names import words as listed
from agent.redaction.rules.en.small_letters import is_known

Owner = dict[str, str]
"""The scalar values of an object, by key."""

_MEANINGS = Path(__file__).parent / "meanings"
_NEIGHBOURHOODS = ("PERSON", "INSTITUTION", "THING")
_GROUPS = frozenset({*_NEIGHBOURHOODS, "DEMOGRAPHIC", "CODE", "STATUS", "SENTENCE"})
_NEIGHBOURS = "NEIGHBOURS"
_WORDS = re.compile(r"[^\W\d_]?[^\W\d_A-ZÄÖÜÉ]+\d*|[^\W\d_]+(?![a-zäöüßéíóáñ])\d*|\d+")
QUASI_IDENTIFIERS = frozenset({"AGE_BELOW_90", "SEX", "FAMILY", "PROFESSION", "NATIONALITY"})
"""Entities that few policies list. Nothing else is searched for in cells of these meanings."""
_AGE = "AGE"
_OLD = 90  # years
_YEAR = re.compile(r"(?:1[89]|20)\d\d")
_MAX_WORDS = 6  # words of a label
_MOST_OF_LABEL = 200  # characters of a label that are read
_LONGEST_LABEL = 60  # characters
_LONGEST = 200  # characters of a value whose whole is an identifier
_LONGEST_DATE = 40
_MAX_WORDS_OF_NAME = 9
_SHORTEST_LONE_NAME = 4  # letters
_SHORT = 8  # words of a value that may be a code, a drug or a result; longer ones are prose

_NUMBERS = frozenset({
    "MRN", "SSN", "PLAN", "ACCOUNT", "ENCOUNTER", "LICENSE", "VEHICLE", "DEVICE", "PHONE", "ZIP", "IP", "ID",
})  # fmt: skip
_IN_WORDS = frozenset({"LOCATION", "FACILITY", "ORGANIZATION", "ADDRESS"})
_PART_OF_NAME = re.compile(r"[^\d<>@{}=:;|\[\]()/\\]{1,80}")
_END_OF_NAME = re.compile(
    r"(?i)(?:[\s,;-]+(?:tel|phone|ph|cell|mrn|dob|id|on|at|from|seen|born|is|was|has)\b.*|[\s,.;:-]+)\Z"
)
# A figure with its unit, reference range and flag: "9.7 % [4.0-5.6]", "12.8 10*3/uL (high)".
_FIGURE = re.compile(
    r"[<>≤≥~+-]?=?\s?\d{1,4}(?:[.,]\d{1,4})?(?:\s?(?:10[*^]\d{1,2}|[A-Za-z%°µμ{\[*^]|/[A-Za-zµμ])[^\s,;:@()-]{0,14})?"
    r"(?:\s?[\[(][^\])@]{1,20}[\])])?(?:\s(?:high|low|normal|abnormal|critical|h|l|n))?",
    re.IGNORECASE,
)
_HINT_OF_PERSON = re.compile(
    r"(?i)\b(?:dr|mr|mrs|ms|prof|sra?|by|per|patient|pt|herr|frau|dra)\b\.?\s+\w|@|\d{3}[-. ]\d{3,4}[-. ]\d{4}"
    r"|https?://(?!(?:[\w-]+\.){0,3}(?:loinc\.org|snomed\.info|unitsofmeasure\.org|hl7\.org|nih\.gov|w3\.org|who\.int))"
)
_LONG_NUMBER = re.compile(r"(?<!\d)\d{7,}(?!\d)")
_REFERENCE = re.compile(r"(?:.*/)?[A-Za-z]+/(?=[^/]+\Z)")
_KINDS_OF_PLACES = ("Organization", "Location", "HealthcareService", "InsurancePlan")
_CODES = ("code", "codes")
_KINDS_OF_PERSONS = ("Patient", "Practitioner", "RelatedPerson", "Person")


@cache
def _read_labels() -> tuple[Mapping[str, str], Mapping[str, frozenset[str]]]:
    """Return the meaning of each label, and the labels of each group."""
    meanings: dict[str, str] = {}
    groups: dict[str, set[str]] = {}
    for line in (_MEANINGS / "labels.txt").read_text("utf-8").splitlines():
        if not line or line.startswith("#"):
            continue
        meaning, *labels = line.split()
        if meaning in _GROUPS:
            groups.setdefault(meaning, set()).update(labels)
            continue
        for label in labels:
            meanings.setdefault(label, FREE if meaning == "FREE" else meaning)
    return meanings, {group: frozenset(labels) for group, labels in groups.items()}


def _list_group(group: str) -> frozenset[str]:
    return _read_labels()[1][group]


@cache
def _read_elements() -> Mapping[str, str]:
    """Return the meaning of the ends of paths in FHIR and CDA."""
    elements: dict[str, str] = {}
    for line in (_MEANINGS / "fhir.txt").read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            path, meaning = line.split()
            elements[path] = FREE if meaning == "FREE" else meaning
    return elements


@lru_cache(maxsize=4096)
def split_label(label: str) -> tuple[str, ...]:
    """Return the words of a label in lower case and without accents: "patientName", "PATIENT_NAME", "**Name**:"."""
    plain = unicodedata.normalize("NFKD", label[:_MOST_OF_LABEL].strip().replace("ß", "ss"))
    plain = "".join(character for character in plain if not unicodedata.combining(character))
    return tuple(word.lower() for word in _WORDS.findall(plain))


@lru_cache(maxsize=4096)
def look_up(label: str) -> str | None:
    """Return the meaning of a label by itself, "NEIGHBOURS", or None if the label is not known."""
    words = split_label(label)
    if not words or len(label) > _LONGEST_LABEL or len(words) > _MAX_WORDS:
        return None
    meanings, _ = _read_labels()
    whole = meanings.get("".join(words))
    if whole is not None:
        return whole
    beginning = _look_up_beginning(words)
    if beginning is not None and _says_little(words[-1]):
        return beginning
    for first in range(1, len(words)):
        meaning = meanings.get("".join(words[first:]))
        if meaning is not None:
            return meaning
    return beginning


def _look_up_beginning(words: Sequence[str]) -> str | None:
    """Return the meaning of the longest beginning of a label that denotes an identifier: "medicare" number."""
    meanings, _ = _read_labels()
    for last in range(len(words) - 1, 0, -1):
        meaning = meanings.get("".join(words[:last]))
        if meaning is not None and meaning not in (FREE, KEEP, _NEIGHBOURS):
            return meaning
    return None


def _says_little(word: str) -> bool:
    """Return whether the last word of a label leaves open what the value is: "number", "code"."""
    meanings, _ = _read_labels()
    return meanings.get(word) == _NEIGHBOURS or word in _CODES


def is_known_label(label: str) -> bool:
    """Return whether a label is in the list of meanings."""
    return look_up(label) is not None


def is_identifying_label(label: str) -> bool:
    """Return whether a label denotes an identifier by itself."""
    return look_up(label) not in (None, FREE, KEEP, _NEIGHBOURS)


def find_meaning(path: Sequence[str], owners: Sequence[Mapping[str, str]], value: str) -> str:
    """Return the meaning of a value.

    Args:
        path: the labels above the value, the nearest last.
        owners: the objects around the value, the innermost last.
        value: the value itself, which must fit its label: "No." is no name.
    """
    meaning = _find_by_labels(path, owners)
    if (
        meaning == KEEP
        and _LONG_NUMBER.search(value)
        and _list_group("CODE").isdisjoint(split_label(path[-1]))
    ):
        meaning = FREE  # a telephone or record number in the wrong column
    return judge_value(meaning, value)


def _find_by_labels(path: Sequence[str], owners: Sequence[Mapping[str, str]]) -> str:
    if not path:
        return FREE
    meaning = _find_by_path(path, owners)
    if meaning is not None:
        return meaning
    label = path[-1]
    meaning = look_up(label)
    if meaning == KEEP and label.lower() in ("value", "result") and owners:
        return _find_by_name_of_pair(owners[-1]) or KEEP
    if meaning != _NEIGHBOURS:
        return FREE if meaning is None else meaning
    return _find_by_neighbours(path, owners)


def _find_by_path(path: Sequence[str], owners: Sequence[Mapping[str, str]]) -> str | None:
    """Return the meaning of an element of FHIR or CDA, or None if its path is not listed."""
    resources = [owner for owner in owners if "resourceType" in owner]
    if not resources:
        return None
    kind = resources[-1]["resourceType"]
    labels = ["".join(split_label(label)) for label in path[-3:]]
    if labels[-1] == "name" and owners[-1] is resources[-1] and kind in _KINDS_OF_PLACES:
        return "FACILITY"
    if labels[-1] == "id" and (len(owners) == 0 or owners[-1] is resources[-1]):
        return "MRN" if kind in _KINDS_OF_PERSONS else "ENCOUNTER"
    if labels[-2:] == ["identifier", "value"] and kind == "Practitioner":
        return "LICENSE"
    elements = _read_elements()
    for first in range(len(labels)):
        meaning = elements.get(".".join(labels[first:]))
        if meaning is not None:
            return meaning
    if labels[-1] == "display" and owners:
        return _find_of_display(owners[-1])
    return None


def _find_of_display(owner: Mapping[str, str]) -> str | None:
    """Return the meaning of the `display` of a reference or code."""
    kind = owner.get("reference", "").partition("/")[0]
    if kind in _KINDS_OF_PERSONS:
        return "NAME"
    if kind in ("Organization", "Location"):
        return "FACILITY"
    if kind or "code" in owner or "system" in owner:
        return KEEP
    return None


def _find_by_name_of_pair(owner: Mapping[str, str]) -> str | None:
    """Return the meaning of the value of a pair: {"name": "MRN", "value": "00451234"}."""
    for key in ("name", "key", "label", "field", "type", "question", "attribute"):
        named = owner.get(key, "")
        if named and is_identifying_label(named):
            return look_up(named)
    return None


def _find_by_neighbours(path: Sequence[str], owners: Sequence[Mapping[str, str]]) -> str:
    words = split_label(path[-1])
    head = words[-1]
    siblings = [label for key in (owners[-1] if owners else ()) for label in split_label(key)]
    parents = [label for part in reversed(path[:-1]) for label in _spell_out(part)]
    kind = _find_group([*words[:-1], *parents]) or _find_group_of_siblings(siblings)
    if head == "text":
        return KEEP if _find_group(siblings) == "THING" else FREE
    if head in ("value", "values", "key", "reference", "div"):
        if owners and (meaning := _find_by_name_of_pair(owners[-1])):
            return meaning
        parent = look_up(path[-2]) if len(path) > 1 else None
        return FREE if parent in (None, _NEIGHBOURS) else str(parent)
    if head in ("name", "names", "display", "n"):
        names = {"PERSON": "NAME", "INSTITUTION": "FACILITY", "THING": KEEP}
        return names.get(kind, FREE)
    numbers = {"PERSON": "MRN", "THING": FREE}
    return numbers.get(kind, "ID" if head in ("id", "identifier", "extension") else FREE)


def _spell_out(part: str) -> list[str]:
    words = split_label(part)
    return ["".join(words), *reversed(words)]


def _find_group(labels: Sequence[str]) -> str:
    """Return the group of the first label that has one, or ""."""
    for label in labels:
        for group in _NEIGHBOURHOODS:
            if label in _list_group(group):
                return group
    return ""


def _find_group_of_siblings(labels: Sequence[str]) -> str:
    """Return the group that the other columns of a row suggest, or "" if they suggest several."""
    if not _list_group("DEMOGRAPHIC").isdisjoint(labels):
        return "PERSON"
    suggested = [group for group in _NEIGHBOURHOODS if not _list_group(group).isdisjoint(labels)]
    return suggested[0] if len(suggested) == 1 else ""


def judge_value(meaning: str, value: str) -> str:
    """Return `meaning` if the value fits it, or `FREE` if it may be something else."""
    text = value.strip()
    if meaning == KEEP:
        return FREE if _may_state_person(text) else KEEP
    if meaning == FREE:
        is_figure = _FIGURE.fullmatch(text) and not _YEAR.fullmatch(text)
        return KEEP if is_figure or len(text) == 1 else FREE
    if meaning == _AGE:
        return _judge_age(text)
    if meaning in QUASI_IDENTIFIERS:
        return meaning if len(text.split()) <= _SHORT else FREE
    if meaning == REFERENCE:
        return REFERENCE if len(text) <= _LONGEST else FREE
    if meaning == "NAME" and _is_label(text):
        return KEEP
    return meaning if _fits(meaning, text) else judge_value(FREE, text)


def _may_state_person(text: str) -> bool:
    """Return whether a value in a column of codes, drugs or results may be about a person nevertheless."""
    words = text.split()
    if len(words) > _SHORT or _HINT_OF_PERSON.search(text):
        return True
    if len(words) == 1:
        return _is_like_a_name(text) and _is_lone_name(text.strip(",."))
    return sum(map(_is_like_a_name, words)) > 1


def _is_lone_name(word: str) -> bool:
    """Return whether a word in a column of codes or results is a listed name, or in no list of words."""
    lower = word.lower()
    if lower in everyday() or word[1:] != lower[1:] or len(word) < _SHORTEST_LONE_NAME:
        return False
    return lower in listed("surnames") or lower in listed("given_names") or not is_known(word)


def _is_like_a_name(word: str) -> bool:
    """Return whether a word is capitalised, and no abbreviation such as "LDL"."""
    letters = word.strip(",.").replace("-", "").replace("'", "").replace("’", "")
    is_capitalised = letters.isalpha() and letters[0].isupper() and len(letters) > 2
    return is_capitalised and not (letters.isupper() and len(letters) < 4)


def _judge_age(text: str) -> str:
    number = text.partition(".")[0]
    if not number.isdecimal():
        return FREE
    return _AGE if int(number) >= _OLD else "AGE_BELOW_90"


def _fits(meaning: str, text: str) -> bool:
    """Return whether a value looks like an identifier of the kind `meaning`."""
    if len(text) > _LONGEST or text.lower().strip(" .-/") in _list_group("STATUS"):
        return False
    has_digit = any(map(str.isdigit, text))
    if meaning in _NUMBERS:
        return has_digit and len(text.split()) <= _SHORT
    if meaning == "DATE":
        digits = sum(map(str.isdigit, text))
        return (5 <= digits <= 24 and len(text) <= _LONGEST_DATE) or (
            digits > 2 and has_month(text)
        )
    if meaning == "EMAIL":
        return "@" in text
    if meaning == "URL":
        return "." in text
    if meaning == "NAME":
        return _find_name(text) is not None
    return meaning in _IN_WORDS and any(map(str.isalpha, text))


def _is_label(text: str) -> bool:
    """Return whether a value is itself a label, as in the second of two rows of heads: "surname"."""
    words = split_label(text)
    is_status = text.lower().strip(" .-/") in _list_group("STATUS")
    return len(words) <= _MAX_WORDS and not is_status and "".join(words) in _read_labels()[0]


def has_month(text: str) -> bool:
    """Return whether a short text has the form of a day or month with a word: "3 May 21", "May 2021"."""
    words = text.split()
    return 2 <= len(words) <= 4 and any(word.strip(".,").isalpha() for word in words)


def _find_name(text: str) -> tuple[int, int] | None:
    """Return the part of a value in a column of names that is the name, or None if there is none."""
    part = _PART_OF_NAME.match(text)
    if part is None:
        return None
    end = part.end()
    ending = _END_OF_NAME.search(text, 0, end)
    if ending is not None:
        end = ending.start()
    name = text[:end]
    if "@" in text[end : end + 1] or not any(map(str.isalpha, name)):
        return None
    words = name.split()
    if "?" in name or "!" in name or not _list_group("SENTENCE").isdisjoint(words):
        return None
    is_status = all(word.lower().strip(".,-") in _list_group("STATUS") for word in words)
    return None if is_status or len(words) > _MAX_WORDS_OF_NAME else (0, end)


def find_certain_part(meaning: str, value: str) -> tuple[int, int] | None:
    """Return the part of a value that is certainly an identifier, or None."""
    start = len(value) - len(value.lstrip())
    text = value.strip()
    if not text or meaning in (KEEP, FREE):
        return None
    if meaning == REFERENCE:
        kind = _REFERENCE.match(text)
        is_id = any(map(str.isdigit, text[kind.end() if kind else 0 :]))
        is_person = kind is not None and kind.group().rstrip("/").endswith(_KINDS_OF_PERSONS)
        if not (is_id or is_person):
            return None
        return start + (kind.end() if kind else 0), start + len(text)
    if meaning == "NAME":
        name = _find_name(text)
        return None if name is None else (start + name[0], start + name[1])
    return start, start + len(text)


def read_cue(path: Sequence[str]) -> str:
    """Return the label of a value in words, for the search."""
    if not path:
        return ""
    cue = " ".join(split_label(path[-1]))[:_LONGEST_LABEL]
    if look_up(path[-1]) == _NEIGHBOURS and len(path) > 1:
        cue = " ".join((*split_label(path[-2]), *cue.split()))[:_LONGEST_LABEL]
    return cue[:1].upper() + cue[1:]


def is_telling_key(key: str) -> bool:
    """Return whether a key may itself be an identifier: a number, an address, or a name."""
    if sum(map(str.isdigit, key)) > 4 or "@" in key:
        return True
    capitalised = [word for word in key.split() if word[:1].isupper() and len(word) > 2]
    return bool(capitalised) and look_up(key) is None
