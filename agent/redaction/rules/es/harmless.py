"""What identifies nobody in clinical Spanish: fixed expressions, germs, drugs, what is named after its discoverer."""

import re

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.rules.es.unknown import safe_words
from agent.redaction.rules.es.word_lists import words

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
    r"|(?:escala|preparaci[óo]n|criterios?|consenso|clasificaci[óo]n|conferencia|protocolo|declaraci[óo]n|sistema|grados?"
    r"(?: \w{1,3})?)(?: de| del| seg[úu]n)? (?:los [áa]ngeles|boston|roma|tokio|atlanta|[áa]msterdam|berl[íi]n|bethesda"
    r"|mil[áa]n|viena|par[íi]s|r[óo]terdam|baltimore|helsinki|barcelona clinic|ginebra|sydney|chicago|montreal|toronto"
    r"|cincinnati|california|leeds|londres|oxford)(?: (?:[ivx]{1,4}|\d)\b)?"
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
    *("latido", "hospital", "edad", "clasificaci", "esofagitis", "hormona", "virus", "escala", "preparaci", "criterio"),
    *("consenso", "conferencia", "protocolo", "declaraci", "sistema", "grado"),
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


_WORD = re.compile(r"[^\W\d_]+")
_LINKS = frozenset(["de", "del", "la", "las", "el", "los", "y", "en", "por", "para", "con"])
# Germs: what stands behind a genus, or is a species that everyone writes about.
_GENUS_BEFORE = regex.compile(
    r"(?i)\b(?:(?:staphylo|strepto|entero|pneumo|gono|meningo)cocc?[ou]s|pseudomonas?|neisseria|escherichia|klebsiella"
    r"|enterobacter|proteus|serratia|citrobacter|acinetobacter|haemophilus|helicobacter|campylobacter|salmonella|shigella"
    r"|listeria|legionella|bordetella|brucella|bartonella|borrelia|treponema|leptospira|rickettsia|coxiella|chlamydia"
    r"|mycoplasma|ureaplasma|mycobacterium|nocardia|actinomyces|clostridi(?:um|oides)|bacillus|corynebacterium|candida"
    r"|aspergillus|cryptococcus|pneumocystis|histoplasma|trich\w{3,12}|fusarium|mucor|giardia|entamoeba|leishmania"
    r"|plasmodium|toxoplasma|trypanosoma|taenia|echinococcus|schistosoma|fasciola|anisakis|strongyloides|ascaris|vibrio"
    r"|yersinia|pasteurella|moraxella|bacteroides|fusobacterium|prevotella|lactobacillus|gardnerella) $"
)
_SPECIES = frozenset(
    re.findall(
        r"\w+",
        "pylori coli aureus aeruginosa pneumoniae epidermidis pyogenes agalactiae faecalis "
        "faecium influenzae albicans fumigatus neoformans jirovecii tuberculosis monocytogenes "
        "cloacae mirabilis marcescens difficile jejuni burnetii conorii connori slovaca "
        "henselae burgdorferi pallidum trachomatis gondii falciparum vivax cruzi donovani",
    )
)
# How names of drugs end.
_DRUG = regex.compile(
    r"\p{L}{2,20}(?:triol|mab|nib|pril|sart[áa]n|statina|floxacino|micina|cilina|ci?clina|conazol|prazol|nidazol|dipino"
    r"|olol|parina|gliptina|gliflozina|navir|tegravir|ciclovir|setr[óo]n|lukast|oxetina|azepam|zolam|zapina|peridona"
    r"|caína|xabán|grel|platino|taxel|rubicina|tecán|limus|prednisolona|metasona|tiroxina|cef\p{L}{2,12}|penem)"
)
# Named after its discoverer: a family name alone behind these is nobody in the record.
_NAMED_AFTER = regex.compile(
    r"(?i)\b(?:enfermedad|s[íi]ndrome|signos?|test|escala|[íi]ndice|clasificaci[óo]n|maniobra|t[ée]cnica|tinci[óo]n|sonda"
    r"|aguja|pinzas?|criterios|tumor|linfoma|sarcoma|quistes?|gl[áa]ndulas?|ligamento|hernia|colgajo|pr[óo]tesis|f[óo]rmula"
    r"|hematoxilina|medio|cultivo|m[ée]todo|cuestionario|inventario|entrevista)(?-i: \p{Ll}{3,20}){0,2}"
    r"(?: (?:de|del|de la|seg[úu]n))? (?-i:\p{Lu}\. ?)?$"
)
_ACRONYM_AFTER = regex.compile(r"(?i)\b(?:el|la|los|las|del|al|una?|por|con) $")
_LONGEST_ACRONYM = 5  # letters
_NAMELIKE = frozenset({"NAME", "FACILITY", "ORGANIZATION", "LOCATION"})


def is_harmless(text: str, start: int, end: int, entity: str) -> bool:
    """Tell whether what a network took for an identifier is a word of medicine, a germ, a drug or an eponym.

    Words that any list has as a name of people or places are never called harmless here, whatever stands around them.
    """
    if entity not in _NAMELIKE:
        return False
    found = _WORD.findall(text[start:end])
    lower = [word.lower() for word in found]
    names = words("given_names") | words("surnames")
    if not lower or any(word in names and word not in _LINKS for word in lower):
        return False
    if all(word in _LINKS or word in safe_words() or word in _SPECIES or _DRUG.fullmatch(word) for word in lower):
        return True
    around = _EXPRESSIONS.finditer(text, max(0, start - 80), min(len(text), end + 80))
    if any(fixed.start() <= start and end <= fixed.end() for fixed in around):
        return True
    before = text[max(0, start - 60) : start]
    if _GENUS_BEFORE.search(before):
        return True
    if entity == "NAME" and len(found) == 1:
        acronym = found[0].isupper() and 1 < len(found[0]) <= _LONGEST_ACRONYM and not text[start:end].endswith(".")
        return bool(acronym and _ACRONYM_AFTER.search(before)) or _NAMED_AFTER.search(before) is not None
    return False
