"""The redaction engine: Presidio's analyzer and anonymizer around our own recognisers. No model, no network, no disk.

Imported by `agent.redaction.open_redactor` alone, because Presidio and spaCy take about a second to import.
"""

import logging
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import presidio_analyzer.pattern_recognizer
from presidio_analyzer import AnalyzerEngine, RecognizerRegistry
from presidio_anonymizer import AnonymizerEngine
from presidio_anonymizer.entities import OperatorConfig, RecognizerResult

from agent.errors import RedactionError
from agent.redaction.deadline import Deadline
from agent.redaction.folding import folded, is_text, without_invisible
from agent.redaction.names import everyday
from agent.redaction.policy import RedactionPolicy, load_policy
from agent.redaction.recognizers import PRESIDIO_ENTITIES, build_recognizers
from agent.redaction.redacted import Redacted, Withheld, cleared
from agent.redaction.remembered import Remembered, Shelf
from agent.redaction.rules import rules_digest
from agent.redaction.spans import KnownValues, Span, known_values, search, united
from agent.redaction.tags import TagTable
from agent.redaction.tokenizer import TokenizerEngine

_LIBRARY_LOGGERS = ("presidio-analyzer", "presidio-anonymizer", "decision_process", "spacy", "tldextract", "filelock")
_CHUNK = 20_000  # characters looked at together; Presidio's own steps grow with the square of the findings
_OVERLAP = 500  # characters; longer than any identifier but the longest address line

# A stretch this long without white space is no prose: encoded data, whose content cannot be checked. Tagged whole.
_OPAQUE = re.compile(r"\S{400,}")

# Cleared at every start: an engine that leaves any of this is not used.
_PROOF = "Dr. Anna Kowalski, MRN: 00451234, on 03/14/2022, call 617-555-0143, a.k@ward.example, SSN 123-45-6789."
_PROOF_CLEARED = "Dr. [NAME-1], MRN: [MRN-1], on [DATE-1], call [PHONE-1], [EMAIL-1], SSN [SSN-1]."


@dataclass(frozen=True, slots=True)
class _Field:
    """A text that can be judged, as it will be shown and as the recognisers read it, with what they found."""

    text: str
    plain: str
    spans: tuple[Span, ...]

    def findings(self) -> Iterator[tuple[str, str]]:
        return ((span.entity, self.plain[span.start : span.end]) for span in self.spans)


class Engine:
    """A `Redactor`. Not for several threads at once."""

    def __init__(self, policy: RedactionPolicy) -> None:
        self._policy = policy
        self._deadline = Deadline()
        self._tokenizer = TokenizerEngine()
        recognizers = build_recognizers(self._deadline)
        known = {PRESIDIO_ENTITIES.get(e, e) for r in recognizers for e in r.supported_entities}
        if missing := set(policy.entities) - known:
            raise RedactionError(f"redaction policy {policy.name}: no recogniser finds {', '.join(sorted(missing))}")
        self._analyzer = AnalyzerEngine(
            registry=RecognizerRegistry(recognizers=recognizers, supported_languages=["en"]),
            nlp_engine=self._tokenizer,
            supported_languages=["en"],
        )
        self._anonymizer = AnonymizerEngine()  # type: ignore[no-untyped-call]
        self._withheld: Counter[Withheld] = Counter()
        self._remembered = Remembered()

    def remember_on(self, shelf: Shelf) -> None:
        """Take findings of texts that were searched before by the same rules from `shelf`, and put new ones there."""
        self._remembered = Remembered(shelf=shelf, rules=rules_digest(self._policy))

    @property
    def policy(self) -> str:
        """Name and version of the policy."""
        return f"{self._policy.name} {self._policy.version}"

    @property
    def withheld(self) -> Mapping[Withheld, int]:
        """Fields withheld so far, by reason."""
        return MappingProxyType(self._withheld)

    def redact(self, text: str) -> Redacted:
        """Clear one text that stands alone."""
        return self.redact_record([text])[0]

    def redact_record(self, texts: Sequence[str]) -> list[Redacted]:
        """Clear the texts of one record together; see `agent.redaction.Redactor`."""
        fields = [self._read(text) for text in texts]
        shown = [field for field in fields if isinstance(field, _Field)]
        known = known_values((finding for field in shown for finding in field.findings()), everyday())
        tags = TagTable([field.text for field in shown])
        tags.name_parts(known.parts)
        written = [self._write(field, known, tags) if isinstance(field, _Field) else field for field in fields]
        return [self._withhold(text) if isinstance(text, Withheld) else text for text in written]

    def _read(self, text: str) -> _Field | Withheld:
        if len(text) > self._policy.limits.field_characters:
            return Withheld.TOO_LONG
        if not is_text(text):
            return Withheld.UNDECODABLE
        text = without_invisible(text)
        plain = folded(text)
        known = self._remembered.get(plain)
        if known is not None:
            return _Field(text, plain, known)
        self._deadline.start(self._policy.limits.field_seconds)
        try:
            spans = tuple(united(self._analyze(plain), plain))
            self._deadline.left()
        except TimeoutError:
            return Withheld.TIME_LIMIT
        except Exception:  # noqa: BLE001 - whatever went wrong, the text may not be shown, nor stand in a traceback
            return Withheld.ENGINE_ERROR
        self._remembered.put(plain, spans)
        return _Field(text, plain, spans)

    def _analyze(self, plain: str) -> Iterator[Span]:
        for opaque in _OPAQUE.finditer(plain):
            yield Span(opaque.start(), opaque.end(), "ID")
        plain = _OPAQUE.sub(lambda opaque: " " * len(opaque.group()), plain)
        for start, end in _chunks(plain):
            self._deadline.left()
            with self._tokenizer.memory_zone():
                results = self._analyzer.analyze(plain[start:end], "en", score_threshold=self._policy.threshold)
            for result in results:
                entity = PRESIDIO_ENTITIES.get(result.entity_type, result.entity_type)
                if entity in self._policy.entities:
                    yield Span(start + result.start, start + result.end, entity)

    def _write(self, field: _Field, known: KnownValues, tags: TagTable) -> Redacted | Withheld:
        self._deadline.start(self._policy.limits.field_seconds)
        try:
            spans = united([*field.spans, *search(field.plain, known, self._deadline)], field.plain)
            # One "entity" for the anonymizer is one tag, so that its replace operator writes that tag.
            labels = [tags.tag(span.entity, field.plain[span.start : span.end]) for span in spans]
            result = self._anonymizer.anonymize(
                field.text,
                [RecognizerResult(label, span.start, span.end, 1.0) for label, span in zip(labels, spans, strict=True)],
                {label: OperatorConfig("replace", {"new_value": label}) for label in labels},
                merge_entities_with_spaces=False,
            )
        except TimeoutError:
            return Withheld.TIME_LIMIT
        except Exception:  # noqa: BLE001 - as in _read
            return Withheld.ENGINE_ERROR
        return cleared(result.text)

    def _withhold(self, reason: Withheld) -> Redacted:
        self._withheld[reason] += 1
        return cleared(f"[WITHHELD: {reason}]")


def _chunks(text: str) -> Iterator[tuple[int, int]]:
    """Yield overlapping stretches of `text`, cut at white space where there is some near."""
    start = 0
    while True:
        end = _gap_before(text, start + _CHUNK) if start + _CHUNK < len(text) else len(text)
        yield start, end
        if end == len(text):
            return
        start = _gap_before(text, end - _OVERLAP)


def _gap_before(text: str, position: int) -> int:
    """Return the place after the last white space before `position`; `position` itself when none is near."""
    near = text[position - _OVERLAP // 2 : position]
    return position - next((back for back, character in enumerate(reversed(near)) if character.isspace()), 0)


def open_engine(policy_name: str, directory: Path | None = None, shelf: Shelf | None = None) -> Engine:
    """Open the engine under a policy (see `load_policy`) and prove it on a known text.

    Raises:
        RedactionError: the policy is missing or wrong, or the proof failed.
    """
    policy = load_policy(policy_name, directory)
    for name in _LIBRARY_LOGGERS:
        logging.getLogger(name).disabled = True
    # A Presidio recogniser that gives up on a pattern goes on without it; by then the field's time is over as well.
    setattr(presidio_analyzer.pattern_recognizer, "REGEX_TIMEOUT_SECONDS", policy.limits.field_seconds)  # noqa: B010 - int there
    engine = Engine(policy)
    if engine.redact(_PROOF) != _PROOF_CLEARED:
        raise RedactionError(f"the redaction engine does not clear its proof text under policy {policy.name}")
    if shelf is not None:
        engine.remember_on(shelf)  # after the proof, which is searched anew each time
    return engine
