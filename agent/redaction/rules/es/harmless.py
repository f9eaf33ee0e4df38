"""Clinical Spanish that does not identify a person: fixed expressions, germs, drugs and eponyms."""

import re

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.rules.beginnings import read_first_words
from agent.redaction.rules.es.unknown import safe_words
from agent.redaction.rules.es.word_lists import words
from agent.redaction.rules.word_lists import compile_pattern, read_words

_WORD = re.compile(r"[^\W\d_]+")
_EXPRESSIONS = compile_pattern(
    r"(?i)\b(?:m[ée]dic[oa]s? de familia|medicina (?:de familia|familiar)"
    r"|antecedentes(?: (?:personales|m[ée]dicos|psiqui[áa]tricos|oftalmol[óo]gicos|patol[óo]gicos|quir[úu]rgicos)){0,2}"
    r"(?:,? (?:y|ni|o|u))? ?familiares|historia familiar|familiares? (?:ni|o|y) personales|planificaci[óo]n familiar"
    r"|poliposis (?:adenomatosa )?familiar|(?:soluci[óo]n|c[ée]lulas?|lengua|roca|vida|vesículas?) (?:madres?|hijas?)"
    r"|silla turca|tinta china|rojo congo|bast(?:ón|on|ones) ingles(?:es)?|muletas inglesas|sarna noruega|fiebre"
    r" del nilo"
    r"|criterios (?:revisados )?de el escorial|ba[ñn]o mar[íi]a|tend[óo]n de aquiles|nuez de ad[áa]n"
    r"|gripe espa[ñn]ola|encefalitis japonesa"
    r"|(?:sociedad|asociaci[óo]n|federaci[óo]n|academia|agencia|gu[íi]as?) "
    r"(?:espa[ñn]ola?|europea|americano?a?|norteamericana|brit[áa]nica|internacional|mundial|nacional|francesa"
    r"|latinoamericana|real)"
    r"(?: (?:de|del|para|contra) (?:la |el |los |las )?[\p{L}]{4,24}(?: (?:de|y) [\p{L}]{4,24})?)?"
    r"|organizaci[óo]n mundial de la salud|organizaci[óo]n nacional de trasplantes"
    r"|(?:fenotipo|cariotipo|genitales(?: externos)?|h[áa]bito|rol|condón|preservativo|aparato genital|patr[óo]n) "
    r"(?:de tipo )?(?:masculin|femenin)[oa]s?"
    r"|(?:nombre|marca|preparado|producto) comercial|contacto prematuro|cierre prematuro|parto prematuro|latidos?"
    r" prematuros?"
    r"|hospital de d[íi]a|edad [óo]sea(?: aproximada)?(?: de \d+ años)?"
    r"|(?:escala|preparaci[óo]n|criterios?|consenso|clasificaci[óo]n|conferencia|protocolo|declaraci[óo]n|sistema|grados?"
    r"(?: \w{1,3})?)(?: de| del| seg[úu]n)? \L<cities_of_criteria>(?: (?:[ivx]{1,4}|\d)\b)?"
    r"|(?:clasificaci[óo]n|esofagitis) de los [áa]ngeles|hormonas? (?:femenin|masculin)as?|virus del nilo)\b",
    "es",
)

_BEGINNINGS = read_first_words(_EXPRESSIONS.pattern)


def without_harmless(text: str, deadline: Deadline) -> str:
    """Return `text` with fixed expressions blanked out, keeping its length and offsets.

    Raises:
        TimeoutError: the deadline passed.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few capitals have lower-case forms of two characters
        whole: str = _EXPRESSIONS.sub(
            lambda found: " " * len(found.group()), text, timeout=deadline.left()
        )
        return whole
    pieces, end = [], 0
    for word in _WORD.finditer(lower):
        if word.group() not in _BEGINNINGS or word.start() < end:
            continue
        if expression := _EXPRESSIONS.match(text, word.start()):
            pieces += [text[end : expression.start()], " " * len(expression.group())]
            end = expression.end()
    deadline.left()
    return "".join([*pieces, text[end:]])


_LINKS = frozenset(["de", "del", "la", "las", "el", "los", "y", "en", "por", "para", "con"])
# Germs: text after a genus, or a well-known species.
_GENUS_BEFORE = compile_pattern(r"(?i)\b(?:\L<genera>|trich\w{3,12}) $", "es")
_SPECIES = read_words("es", "species")
_DRUG = compile_pattern(r"\p{L}{2,20}(?:\L<drug_endings>|cef\p{L}{2,12})", "es")
# Eponyms: a family name directly after these does not refer to a person in the record.
_NAMED_AFTER = compile_pattern(
    r"(?i)\b(?:\L<eponyms>|pinzas|quistes?|pr[óo]tesis|hematoxilina|medio|cultivo|cuestionario|inventario|entrevista)"
    r"(?-i: \p{Ll}{3,20}){0,2}(?: (?:de|del|de la|seg[úu]n))? (?-i:\p{Lu}\. ?)?$",
    "es",
)
_ACRONYM_AFTER = regex.compile(r"(?i)\b(?:el|la|los|las|del|al|una?|por|con) $")
_MAX_ACRONYM_LENGTH = 5  # maximum letters of an acronym
_NAMELIKE = frozenset({"NAME", "FACILITY", "ORGANIZATION", "LOCATION"})


def is_harmless(text: str, start: int, end: int, entity: str) -> bool:
    """Return whether a detection of a network is a medical word, a germ, a drug or an eponym.

    Words listed as names of people or places are never considered harmless here, whatever their context.
    """
    if entity not in _NAMELIKE:
        return False
    found = _WORD.findall(text[start:end])
    lower = [word.lower() for word in found]
    names = words("given_names") | words("surnames")
    if not lower or any(word in names and word not in _LINKS for word in lower):
        return False
    if all(
        word in _LINKS or word in safe_words() or word in _SPECIES or _DRUG.fullmatch(word)
        for word in lower
    ):
        return True
    around = _EXPRESSIONS.finditer(text, max(0, start - 80), min(len(text), end + 80))
    if any(fixed.start() <= start and end <= fixed.end() for fixed in around):
        return True
    before = text[max(0, start - 60) : start]
    if _GENUS_BEFORE.search(before):
        return True
    if entity == "NAME" and len(found) == 1:
        acronym = (
            found[0].isupper()
            and 1 < len(found[0]) <= _MAX_ACRONYM_LENGTH
            and not text[start:end].endswith(".")
        )
        return (
            bool(acronym and _ACRONYM_AFTER.search(before))
            or _NAMED_AFTER.search(before) is not None
        )
    return False
