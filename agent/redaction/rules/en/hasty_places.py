"""Places made of ordinary words, as typed in haste: after a label, before a word for a landscape, or with a house name.

Each function judges a place of the text at which a rulebook has read a word.
"""

import regex

from agent.redaction.entities import Entity
from agent.redaction.rules.en.small_letter_places import is_landscape, is_of_a_place
from agent.redaction.rules.rulebook import Judge, Place
from agent.redaction.rules.word_lists import compile_pattern, read_entries, read_words

_WORD = r"(?!(?:an?|at|by|from|her|his|in|off|on|or|the|their|to|with)\b)\p{Ll}[\p{Ll}'’-]{1,19}"
_LABELLED = compile_pattern(
    r"\L<labels_of_places>(?: is)?[ \t]?[:=][ \t]{0,2}"
    rf"(?P<words>{_WORD}(?: (?:& |and )?{_WORD}){{0,3}})(?![\p{{L}}'])",
    "en",
)
_AFTER_GP = regex.compile(
    rf"gps? (?P<words>{_WORD}(?: {_WORD}){{0,2}}) (?:surgery|practice|clinic|medical)(?!\p{{L}})"
)
_LANDFORM = compile_pattern(r"\L<landforms>(?![\p{L}'’-])", "en")
_BEFORE_LANDFORM = regex.compile(
    rf"(?<![\p{{L}}'-])(?:at|from|in|near|nr|outside|to|via|@)[ ](?P<words>{_WORD}(?: {_WORD})?) $"
)
_HOUSE = regex.compile(r"(?:Suite|Unit|Wing|House|Lodge|Annexe|Ward)(?![\p{L}'-])")
_BEFORE_HOUSE = regex.compile(r"(?<!\p{Lu}\p{L}{0,20} |[\p{L}'’-])(?P<name>\p{Lu}\p{Ll}{2,20}) $")
_BEFORE = 48  # characters before the last word of a name that are read
_LEAST_WORDS = 2  # of a name that only words of landscapes make one


def judge_labelled(text: str, place: int) -> Place | None:
    """Return the place after a label that begins at `place`: "nursery = little acorns", "gp mill lane surgery"."""
    surgery = _AFTER_GP.match(text, place)
    if surgery is not None and any(map(is_of_a_place, surgery["words"].split())):
        return Place(surgery.start("words"), surgery.end())
    match = _LABELLED.match(text, place)
    if match is None:
        return None
    words = [word for word in regex.findall(r"[\p{L}'’]+", match["words"]) if word != "and"]
    if not _is_name(words):
        return None
    return Place(*match.span("words"))


def judge_landform(text: str, place: int) -> Place | None:
    """Return the town whose last word begins at `place`: "from eagle butte"."""
    landform = _LANDFORM.match(text, place)
    before = landform and _BEFORE_LANDFORM.search(text, max(0, place - _BEFORE), place)
    if not landform or not before or not _is_name(before["words"].split(), least=1):
        return None
    return Place(before.start("words"), landform.end())


def judge_house(text: str, place: int) -> Place | None:
    """Return the ward or suite with a capital that is named after a thing of a landscape: "Hibiscus Suite"."""
    house = _HOUSE.match(text, place)
    before = house and _BEFORE_HOUSE.search(text, max(0, place - _BEFORE), place)
    if not house or not before or not is_landscape(before["name"].lower()):
        return None
    return Place(before.start("name"), house.end())


def _is_name(words: list[str], least: int = _LEAST_WORDS) -> bool:
    """Return whether words name a place: one of them is in no list, or several of which one is of a landscape."""
    is_state = not read_words("en", "states_after_labels").isdisjoint(words)
    if is_state or words[0] in read_words("en", "function_words"):
        return False
    if any(is_of_a_place(word) and not is_landscape(word) for word in words):
        return True
    return len(words) >= least and any(map(is_landscape, words))


def _list_first_words(name: str) -> frozenset[str]:
    return frozenset(entry.split()[0].lower() for entry in read_entries("en", name))


JUDGED: tuple[tuple[Entity, frozenset[str], Judge], ...] = (
    ("ORGANIZATION", _list_first_words("labels_of_places") | {"gps"}, judge_labelled),
    ("LOCATION", _list_first_words("landforms"), judge_landform),
    (
        "FACILITY",
        frozenset({"suite", "unit", "wing", "house", "lodge", "annexe", "ward"}),
        judge_house,
    ),
)
