"""Fixed expressions of clinical Spanish in which a word that identifies elsewhere identifies nobody."""

import regex

from agent.redaction.deadline import Deadline

_EXPRESSIONS = regex.compile(
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
    r"|(?:clasificaci[óo]n|esofagitis) de los [áa]ngeles|hormonas? (?:femenin|masculin)as?|virus del nilo)\b"
)


def without_harmless(text: str, deadline: Deadline) -> str:
    """Return `text` with fixed expressions blanked out; same length, same offsets.

    Raises:
        TimeoutError: the deadline passed.
    """
    blanked: str = _EXPRESSIONS.sub(lambda found: " " * len(found.group()), text, timeout=deadline.left())
    return blanked
