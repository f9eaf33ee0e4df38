"""Signatures and referrals in Spanish: the name and the contact details that follow it on the line.

In "Remitido por: Dra. Ana Gil Servicio de Urología. Hospital del Mar, Sol 3, 08003 Barcelona", the service does not
identify a person; the rest of the block does, whatever it contains.
"""

from collections.abc import Iterator

import regex

from agent.redaction.deadline import Deadline
from agent.redaction.entities import Entity
from agent.redaction.rules.es.patterns import STOP
from agent.redaction.rules.word_lists import compile_pattern

_OPENING = regex.compile(
    r"(?im)^[ \t\ufeff]{0,8}(?:remitid[oa] por|r?e?sponsable (?:cl[íi]nic[oa]|m[ée]dic[oa]|del informe)|(?:autora?"
    r"|direcci[óo]n)"
    r"(?: (?:para|de)(?: la)? correspondencia)?|correspondencia|contacto|informado por|firmado(?: por)?|fdo\.?"
    r"|realizado por"
    r"|derivad[oa] por|solicitado por|m[ée]dico (?:responsable|remitente|que remite))[ \t]{0,2}[:.][ \t]{0,4}(?=\S)"
)
_MAX_LENGTH = 600  # maximum characters of a block; any text after it is prose
_PERSON = compile_pattern(
    r"(?:(?i:dres?|dras?|dr|dra|sr|sra|d|dª|dña|prof)\b[.:]{0,2} ?)?(?:DR(?=\p{Lu}\p{Ll}))?"
    r"\p{Lu}[\p{L}\p{M}.'´ªº-]*(?: {1,2}(?:(?:de|del|la|las|los|y|e|i|da|do|dos|van|von) ){0,3}"
    + STOP
    + r"\p{Lu}[\p{L}\p{M}.'´ªº-]*){0,7}",
    "es",
)
# Departments that every hospital has. They are not redacted, up to a full stop or a word that names a place.
_UNNAMING = compile_pattern(
    r"(?i)\b(?:servicio|servei|departamento|dpto\.?|secci[óo]n|unidad|[áa]rea|m[ée]dico (?:adjunto|residente)"
    r"|jef[ea] de|facultativo especialista)\b"
    r"(?: (?:\L<department_words>|[\p{L}]{0,18}\L<department_endings>),?){1,10}",
    "es",
)
_KEPT = regex.compile(
    r"(?i)\b(?:e-?mail(?: autora?)?|correo(?: electr[óo]nico)?|tel[ée]fonos?|te?l?fn?o?s?|telf?s?|tlf(?:no)?s?"
    r"|tlfno|fax|m[óo]vil|c\.?p|c[óo]digo postal)\b[.:; ]{0,3}"
)
_EDGE = regex.compile(r"[\s.,;:()/-]+")
_WITH_LETTERS = regex.compile(r"[\p{L}\d]")


def find_signatures(text: str, deadline: Deadline) -> Iterator[tuple[Entity, int, int]]:
    """Yield identifiers in signature blocks of folded text, as (entity, start, end).

    Raises:
        TimeoutError: the deadline passed.
    """
    for opening in _OPENING.finditer(text, timeout=deadline.left()):
        start = opening.end()
        line_end = text.find("\n", start)
        end = min(len(text) if line_end < 0 else line_end, start + _MAX_LENGTH)
        unnaming = [m.span() for m in _UNNAMING.finditer(text, start, end, timeout=deadline.left())]
        person = _PERSON.match(text, start, end)
        if person is None:
            continue
        person_end = min((s for s, _ in unnaming if s < person.end()), default=person.end())
        if person_end > start:
            yield "NAME", start, _trim_end(text, start, person_end)
        kept = sorted(
            [
                *unnaming,
                *(m.span() for m in _KEPT.finditer(text, person_end, end, timeout=deadline.left())),
            ]
        )
        place = person_end
        for kept_start, kept_end in [*kept, (end, end)]:
            if kept_start > place:
                yield from _yield_address(text, place, kept_start)
            place = max(place, kept_end)


def _yield_address(text: str, start: int, end: int) -> Iterator[tuple[Entity, int, int]]:
    edge = _EDGE.match(text, start, end)
    start = edge.end() if edge else start
    end = _trim_end(text, start, end)
    if start < end and _WITH_LETTERS.search(text, start, end):
        yield (
            ("EMAIL" if "@" in text[start:end] and " " not in text[start:end] else "ADDRESS"),
            start,
            end,
        )


def _trim_end(text: str, start: int, end: int) -> int:
    while end > start and not text[end - 1].isalnum():
        end -= 1
    return end
