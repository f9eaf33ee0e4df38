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


# How they begin, in lower case.
_BEGINNINGS = (
    *(
        "médic",
        "medic",
        "antecedentes",
        "historia",
        "familiar",
        "planificaci",
        "poliposis",
        "soluci",
        "célula",
        "celula",
    ),
    *(
        "lengua",
        "roca",
        "vida",
        "vesícula",
        "silla",
        "tinta",
        "rojo",
        "bast",
        "muletas",
        "sarna",
        "fiebre",
        "criterios",
    ),
    *(
        "baño",
        "bano",
        "tendón",
        "tendon",
        "nuez",
        "gripe",
        "encefalitis",
        "sociedad",
        "asociaci",
        "federaci",
        "academia",
    ),
    *(
        "agencia",
        "guía",
        "guia",
        "organizaci",
        "fenotipo",
        "cariotipo",
        "genitales",
        "hábito",
        "habito",
        "rol",
        "condón",
    ),
    *("preservativo", "aparato", "patr", "nombre", "marca", "preparado", "producto", "contacto", "cierre", "parto"),
    *("latido", "hospital", "edad", "clasificaci", "esofagitis", "hormona", "virus"),
)


def without_harmless(text: str, deadline: Deadline) -> str:
    """Return `text` with fixed expressions blanked out; same length, same offsets.

    Raises:
        TimeoutError: the deadline passed.
    """
    lower = text.lower()
    if len(lower) != len(text):  # a few capitals have two characters when small
        whole: str = _EXPRESSIONS.sub(lambda found: " " * len(found.group()), text, timeout=deadline.left())
        return whole
    places = []
    for beginning in _BEGINNINGS:
        place = lower.find(beginning)
        while place >= 0:
            if found := _EXPRESSIONS.match(text, place):
                places.append(found.span())
            place = lower.find(beginning, place + len(beginning))
    deadline.left()
    pieces, at = [], 0
    for start, end in sorted(places):
        if end > at:
            pieces += [text[at : max(at, start)], " " * (end - max(at, start))]
            at = end
    return "".join([*pieces, text[at:]])
