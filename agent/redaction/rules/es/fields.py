"""Labelled values in the headers of Spanish records: "Apellidos: ...", "NHC: ...", "Edad: ... Sexo: ...".

A value extends from its label to the next label or to the end of the line, and is redacted entirely, because headers
often contain misspelt identifiers and formats that no pattern expects.
"""

from collections.abc import Iterator

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.es.word_lists import people

# For each entity, the labels that begin a line, and those that occur anywhere. Case is ignored. They may contain "(?:"
# but no other "(". Labels under None do not identify a person, but end a preceding value.
_AT_LINE_START: dict[Entity | None, str] = {
    "NAME": r"nombre y apellidos|apellidos y nombre|nombre completo|nombres?(?: del? (?:la )?paciente)?|paciente"
    r"|(?:primer |segundo |1er |2[ºo] )?apellidos?"
    r"|(?:m[ée]dico|facultativo|doctor|cirujano|enfermer|pediatra|psiquiatra|matron|odont[óo]log)[oa]?"
    r"(?: (?:responsable|tratante|de familia|de cabecera|de atenci[óo]n primaria|solicitante|peticionario|adjunto"
    r"|remitente))?"
    r"|(?:persona de )?contacto|familiar de contacto|tutor(?: legal)?|cuidador[a]? principal|representante(?: legal)?"
    r"|acompa[ñn]ante|firmado|fdo\.?|firma",
    "MRN": r"h\.?c\.?|expediente",
    "PLAN": r"tsi|tarjeta sanitaria|asegurado|p[óo]liza|mutua",
    "ADDRESS": r"(?:domicilio|direcci[óo]n)(?: (?:actual|habitual|postal|particular|del paciente))?",
    "LOCATION": r"localidad(?: ?/ ?provincia)?|poblaci[óo]n|provincia|municipio|ciudad|comunidad aut[óo]noma"
    r"|lugar de (?:nacimiento|residencia)|residencia|natural de"
    r"|pa[íi]s(?: de (?:nacimiento|origen|residencia))?|nacionalidad",
    "DATE": r"fecha|nacimiento",
    "FAMILY": r"estado civil",
    "PROFESSION": r"profesi[óo]n|ocupaci[óo]n",
    "NATIONALITY": r"raza|etnia",
    "LICENSE": r"documento(?: de identidad)?|identificaci[óo]n",
    "ENCOUNTER": r"id(?:entificador)?(?: del? (?:la )?paciente)?|icu",
    "FACILITY": r"hospital|centro(?: (?:de salud|m[ée]dico|sanitario|hospitalario))?|cama|habitaci[óo]n|box",
}
_ANYWHERE: dict[Entity | None, str] = {
    "MRN": r"n\.?h\.?c\.?|n[ºo°]? ?(?:de )?historia(?: cl[íi]nica)?|n[úu]mero de historia(?: cl[íi]nica)?"
    r"|historia cl[íi]nica n[ºo°]",
    "PLAN": r"cipa?|c\.i\.p\.?(?:a\.?)?|n\.?a\.?s\.?s\.?|n\.?u\.?s\.?s\.?|n[ºo°]? ?s\.?s\.?"
    r"|n[úu]mero de (?:la )?seguridad social|seguridad social|n[ºo°]? ?(?:de )?afiliaci[óo]n|n[úu]mero de"
    r" afiliaci[óo]n",
    "LICENSE": r"d\.?n\.?i\.?|n\.?i\.?e\.?|n\.?i\.?f\.?|pasaporte|c[ée]dula(?: de (?:identidad|ciudadan[íi]a))?"
    r"|c\.?u\.?r\.?p\.?|r\.?u\.?t\.?|c\.?u\.?i\.?[lt]\.?"
    r"|n[ºo°]?\.? ?(?:de )?col(?:egiad[oa])?\.?|num\.? ?col\.?|colegiad[oa](?: n[ºo°])?|n[úu]mero de colegiad[oa]",
    "ZIP": r"c\.?p\.?|c[óo]digo postal|cod\. ?postal",
    "DATE": r"fecha (?:y hora )?(?:de |del )?(?:la )?(?:nacimiento|nac\.?|ingreso|alta|consulta|visita|informe"
    r"|intervenci[óo]n"
    r"|defunci[óo]n|exitus|[óo]bito|toma|solicitud|petici[óo]n|firma|urgencias|atenci[óo]n|cirug[íi]a|extracci[óo]n)"
    r"|f\. ?nac\.?(?:imiento)?|f\. ?ingreso|f\. ?alta",
    "AGE_BELOW_90": r"edad(?: del? (?:la )?paciente)?",
    "SEX": r"sexo|g[ée]nero",
    "ENCOUNTER": r"episodio(?: del paciente)?"
    r"|n[ºo°] ?(?:de )?(?:episodio|urgencia|ingreso|informe|petici[óo]n|muestra|biopsia|solicitud)",
    "PHONE": r"tel[ée]fonos?(?: (?:m[óo]vil|fijo|de contacto))?|te?l?fn?o?s?\.?|tlf(?:no)?s?\.?|m[óo]vil|fax|busca",
    "EMAIL": r"e-?mail(?: autora?)?|correo(?: electr[óo]nico)?",
    None: r"servicio|especialidad|secci[óo]n|motivo de (?:ingreso|consulta)|antecedentes(?: personales)?"
    r"|diagn[óo]stico(?: principal)?|informe cl[íi]nico(?: del paciente)?",
}
_ENTITIES = (*_AT_LINE_START, *_ANYWHERE)
_LABEL = regex.compile(
    r"(?i)(?<=(?P<since>^[ \t\ufeff*•-]{0,80}(?:"
    + "|".join(f"({labels})" for labels in _AT_LINE_START.values())
    + r")|(?:(?<![^\s.;,(|])|(?<=\p{Ll})(?=n[ºo°]\.? ?col))(?:"
    + "|".join(f"({labels})" for labels in _ANYWHERE.values())
    + r"))[ \t]{0,3}):",
    regex.MULTILINE,
)
_TRIMMED = " \t.,;|"
_MAX_LENGTH = 90  # maximum characters of a value; longer values are prose
_MAX_WORDS = 7  # maximum words of a name
# Entities whose values may have several words with commas. Other values end at the first comma.
_OF_WORDS = frozenset({"NAME", "ADDRESS", "LOCATION", "FACILITY", "PROFESSION"})
_STOP = regex.compile(r"[,;|(]|\.\s|\s{3}")
_DIGIT = regex.compile(r"\d")
_OVER_89 = regex.compile(r"9\d|1[0-2]\d")


def find_fields(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield the labelled values of folded text, as (entity, start, end).

    Raises:
        TimeoutError: the deadline passed.
    """
    if ":" not in text:
        return
    labels = list(_LABEL.finditer(text, timeout=deadline.left()))
    for index, label in enumerate(labels):
        entity = next(
            entity
            for entity, value in zip(_ENTITIES, label.groups()[1:], strict=True)
            if value is not None
        )
        if entity is None:
            continue
        end = text.find("\n", label.end())
        end = len(text) if end < 0 else end
        if index + 1 < len(labels):
            end = min(end, labels[index + 1].start("since"))
        start, end = _find_value(text, label.end(), end, entity)
        if start < end and end - start <= _MAX_LENGTH:
            yield (
                _OVER[entity] if entity in _OVER and _OVER_89.match(text, start, end) else entity,
                start,
                end,
            )


_OVER: dict[Entity, Entity] = {"AGE_BELOW_90": "AGE"}


def _find_value(text: str, start: int, end: int, entity: Entity) -> tuple[int, int]:
    """Return the position of the value between `start` and `end`, which is empty if there is no value of its kind."""
    if entity == "NAME" and (digit := _DIGIT.search(text, start, end)):
        end = digit.start()
    while start < end and text[start] in _TRIMMED:
        start += 1
    if entity not in _OF_WORDS and (stop := _STOP.search(text, start, end)):
        end = stop.start()
    while end > start and text[end - 1] in _TRIMMED:
        end -= 1
    if entity == "NAME":
        names = text[start:end].split()
        if len(names) > _MAX_WORDS or not names or names[0].casefold().strip(",.") in people():
            return start, start
    return start, end
