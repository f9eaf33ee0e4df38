"""The redaction engine: Presidio's analyzer with our own rules, models and identity table.

The texts of a record are redacted in three steps:

1. Analyse each text on its own: build its views (`views`), detect identifiers in each view with the policy's rules and
   models (`rules`, `models`), and merge the detections into spans without overlaps (`spans`).
2. Resolve each text together with the rest of its record: search it for all values in the record's identity table
   (`identity`), and run the models again on the text with the known values replaced.
3. Rewrite each text with a replacement for each span (`replacements`).

A text that cannot be analysed, resolved or rewritten is withheld entirely. Models are read from disk when the engine is
opened; nothing is fetched over a network.

Import this module only within functions, or from modules imported that way: Presidio and spaCy take about a second to
import.
"""

import logging
import secrets
import time
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from agent.errors import RedactionError
from agent.monitoring.counters import (
    REDACTED_CHARACTERS,
    REDACTED_TEXTS,
    REDACTION_SECONDS,
    WITHHELD_TEXTS,
)
from agent.redaction.deadline import Deadline
from agent.redaction.detection_cache import DetectionCache, Detections, DetectionStore
from agent.redaction.formats.cells import Quoting, write_plainly
from agent.redaction.formats.form import Form, write_form
from agent.redaction.identity.table import KnownValues, search_known_values
from agent.redaction.languages.detector import choose_languages
from agent.redaction.models.admission import check_admitted
from agent.redaction.models.model import ModelRecognizer, NoModelError
from agent.redaction.models.tokenizer import TokenizerEngine, Words
from agent.redaction.policy.policy import Language, RedactionPolicy, load_policy
from agent.redaction.policy.site_patterns import Phrases, find_pattern
from agent.redaction.presidio import (
    PRESIDIO_ENTITIES,
    ContextOfDoubt,
    KnownRecognizers,
    SwiftAnalyzer,
)
from agent.redaction.published_values import PublishedValues
from agent.redaction.recognizers import (
    build_own_recognizers,
    build_recognizers,
    everyday,
    family_names,
    given_names,
    is_common,
)
from agent.redaction.redacted import CuedText, Redacted, Withheld, mark_redacted
from agent.redaction.replacements.operators import Operators, RecordOperators
from agent.redaction.rules_digest import rules_digest
from agent.redaction.self_test import passes_self_test
from agent.redaction.spans.harmless import cut_harmless
from agent.redaction.spans.merge import merge_spans
from agent.redaction.spans.span import Span
from agent.redaction.views.folding import is_text, remove_invisible
from agent.redaction.views.option_letters import hide_option_letters
from agent.redaction.views.views import OPAQUE, View, build_views
from agent.vocabulary import Identifier

_LIBRARY_LOGGERS = (
    "presidio-analyzer",
    "decision_process",
    "spacy",
    "tldextract",
    "filelock",
)
_FAILED_SELF_TEST = "the redaction engine fails its self-test under policy {policy}"
_CUE_END = "\x1f"  # a control character
_CHUNK = 20_000  # characters analysed together; some of Presidio's steps are quadratic in the number of detections
_READ_AHEAD = 400  # fields that the models read together
_SHORT_FIELD = 120  # characters, so that the fields read together take little memory
_MAX_MODEL_ROUNDS = 3  # repeated model runs on one text; nearly every text needs only one
_MAX_VALUES = 100_000  # distinct identifiers per record; matching more names would take minutes
_OVERLAP = 500  # characters shared by consecutive chunks; only the longest address lines exceed it

_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class _ReadText:
    """A text and its views.

    Attributes:
        form: the text as a form, if it is structured. The views are those of the form.
    """

    cued: CuedText
    form: Form | None
    views: tuple[View, ...]


@dataclass(frozen=True, slots=True)
class _AnalysedText:
    """A text, its views, and the detections in each view.

    Attributes:
        form: the text as a form, if it is structured. The views are those of the form.
        languages: the languages in which the text was analysed.
    """

    text: str
    form: Form | None
    views: tuple[View, ...]
    languages: tuple[Language, ...]
    detections: Detections

    def list_values(self) -> Iterator[tuple[str, str]]:
        """Yield the detected (entity, value) pairs."""
        for view, spans in zip(self.views, self.detections, strict=True):
            for span in spans:
                yield span.entity, view.text[span.start : span.end]


@dataclass(frozen=True, slots=True)
class _ResolvedText:
    """A text and its spans that must not be shown, with the value and the quoting of each span.

    Attributes:
        languages: the languages in which the text was analysed.
        values: the value of each span in the plain view.
        quotings: how to write the replacement of each span in the syntax around it.
    """

    text: str
    languages: tuple[Language, ...]
    spans: tuple[Span, ...]
    values: tuple[str, ...]
    quotings: tuple[Quoting, ...]

    def list_labelled_values(self) -> Iterator[tuple[str, str]]:
        """Yield the (entity, value) pairs."""
        for span, value in zip(self.spans, self.values, strict=True):
            yield span.entity, value


@dataclass(frozen=True, slots=True)
class _IdentityTable:
    """The known values of a record.

    Attributes:
        stated: values stated by the dataset. Every occurrence is redacted.
        detected: values detected in the record's texts. A value that is also a common word may be a false detection.
    """

    stated: KnownValues
    detected: KnownValues


class Engine:
    """The implementation of `Redactor`. Not safe for use by several threads at once."""

    def __init__(self, policy: RedactionPolicy, key: bytes | None = None) -> None:
        self._policy = policy
        self._deadline = Deadline()
        languages = policy.read_languages
        self._tokenizer = TokenizerEngine(languages)
        # The shipped rules and models of a further language find every entity, as a test makes sure. Another model may
        # leave one out, so then all languages are opened, and checked, at the start.
        opens_later = policy.chooses_language and policy.models == ("shipped",)
        self._opened = list(languages[:1] if opens_later else languages)
        recognizers = build_own_recognizers(policy, self._deadline)
        for language in self._opened:
            recognizers += build_recognizers(policy, language, self._deadline)
        # With an empty registry, the analyzer would load recognisers of its own.
        registry = KnownRecognizers(recognizers, supported_languages=list(languages))
        self._analyzer = SwiftAnalyzer(
            registry=registry,
            nlp_engine=self._tokenizer,
            supported_languages=list(languages),
            context_aware_enhancer=ContextOfDoubt(policy.threshold),
        )
        self._list_recognizers()
        self._check_entities()
        self._withheld: Counter[Withheld] = Counter()
        self._cache = DetectionCache()
        self._allowed = Phrases(policy.allow)
        self._operators = Operators(
            policy,
            key=key or secrets.token_bytes(32),
            this_year=datetime.now(UTC).year,
            given_names=given_names(languages),
            family_names=family_names(languages),
        )

    def _list_recognizers(self) -> None:
        """List the models that are open, and the entities that their recognisers detect under the policy."""
        detectable: Iterator[str] = chain.from_iterable(
            recognizer.supported_entities for recognizer in self._analyzer.registry.recognizers
        )
        self._entities = [
            entity
            for entity in dict.fromkeys(detectable)
            if _map_entity(entity) in self._policy.entities
        ]
        self._models = [
            recognizer
            for recognizer in self._analyzer.registry.recognizers
            if isinstance(recognizer, ModelRecognizer)
        ]

    def _check_entities(self) -> None:
        """Raise RedactionError if an entity of the policy has no recogniser."""
        policy = self._policy
        missing = set(policy.entities) - set(map(_map_entity, self._entities))
        if missing:
            raise RedactionError(
                f"redaction policy {policy.name}: no recogniser for its languages ({', '.join(policy.read_languages)}) "
                f"detects {', '.join(sorted(missing))}",
                "Remove these from `entities`, add a language that detects them, or add your own recognisers.",
            )

    def _open_languages(self, languages: Sequence[Language]) -> None:
        """Open the rules and models of those languages that no text had before, and test them on a known text.

        Raises:
            RedactionError: the self-test failed.
        """
        for language in languages:
            if language in self._opened:
                continue
            alone = self._policy.model_copy(update={"languages": (language,)})
            if not passes_self_test(Engine(alone), alone):
                raise RedactionError(_FAILED_SELF_TEST.format(policy=alone.name))
            for recognizer in build_recognizers(self._policy, language, self._deadline):
                self._analyzer.registry.add_recognizer(recognizer)
            self._opened.append(language)
            self._list_recognizers()

    def use_store(self, store: DetectionStore) -> None:
        """Read detections made earlier under the same rules from `store`, and write new detections to it."""
        self._cache = DetectionCache(store=store, rules=rules_digest(self._policy))

    def limit_cache(self, detections: int) -> None:
        """Limit the cache to `detections`, for streams whose texts rarely repeat."""
        self._cache = DetectionCache(detections)

    @property
    def policy(self) -> str:
        """The name and version of the policy."""
        return f"{self._policy.name} {self._policy.version}"

    @property
    def shows_published(self) -> bool:
        """Whether the policy lets prompts and references of published benchmarks be shown as they are."""
        return self._policy.published == "shown"

    @property
    def withheld(self) -> Mapping[Withheld, int]:
        """The number of fields withheld so far, by reason."""
        return MappingProxyType(self._withheld)

    def redact(self, text: str) -> Redacted:
        """Redact one text that belongs to no record."""
        return self.redact_record([text])[0]

    def redact_record(
        self,
        texts: Sequence[str | CuedText],
        identifiers: Sequence[Identifier] = (),
        unit: str | None = None,
        published: Sequence[str] = (),
    ) -> list[Redacted]:
        """Redact the texts of one record together; see `agent.redaction.Redactor`."""
        return [text for text, _ in self.redact_and_find(texts, identifiers, unit, published)]

    def redact_and_find(
        self,
        texts: Sequence[str | CuedText],
        identifiers: Sequence[Identifier] = (),
        unit: str | None = None,
        published: Sequence[str] = (),
    ) -> list[tuple[Redacted, tuple[Span, ...] | Withheld]]:
        """Redact the texts of one record together, and return each with its result of `find_record`."""
        began = time.perf_counter()
        redacted = self._redact_and_find(texts, identifiers, unit, published)
        REDACTION_SECONDS.add(time.perf_counter() - began)
        REDACTED_TEXTS.add(len(texts))
        REDACTED_CHARACTERS.add(sum(len(CuedText.wrap(text).text) for text in texts))
        return redacted

    def _redact_and_find(
        self,
        texts: Sequence[str | CuedText],
        identifiers: Sequence[Identifier],
        unit: str | None,
        published: Sequence[str],
    ) -> list[tuple[Redacted, tuple[Span, ...] | Withheld]]:
        fields = self._resolve_record(texts, identifiers)
        if published:
            fields = _leave_published(fields, PublishedValues(published))
        operators = _withhold_on_error(partial(self._open_operators, fields, identifiers, unit))
        if isinstance(operators, Withheld):
            return [(self._withhold(operators), operators) for _ in texts]
        redacted: list[tuple[Redacted, tuple[Span, ...] | Withheld]] = []
        for field in fields:
            if isinstance(field, Withheld):
                redacted.append((self._withhold(field), field))
            else:
                redacted.append((self._write(field, operators), field.spans))
        return redacted

    def find_record(
        self, texts: Sequence[str | CuedText], identifiers: Sequence[Identifier] = ()
    ) -> list[tuple[Span, ...] | Withheld]:
        """Return, for each text of one record, the spans that must not be shown, in order and without overlaps."""
        fields = self._resolve_record(texts, identifiers)
        self._withheld.update(field for field in fields if isinstance(field, Withheld))
        return [field if isinstance(field, Withheld) else field.spans for field in fields]

    def _resolve_record(
        self, texts: Sequence[str | CuedText], identifiers: Sequence[Identifier]
    ) -> list[_ResolvedText | Withheld]:
        read = [self._read_field(CuedText.wrap(text)) for text in texts]
        languages = self._choose_languages(read)
        fields: list[_AnalysedText | Withheld] = []
        for start in range(0, len(read), _READ_AHEAD):
            portion = slice(start, start + _READ_AHEAD)
            # Only a preparation: the analysis of each field fails in its turn, and withholds that field alone.
            _withhold_on_error(partial(self._read_ahead, read[portion], languages[portion]))
            for field, languages_of_field in zip(read[portion], languages[portion], strict=True):
                fields.append(self._analyse_field(field, languages_of_field))
        table = self._build_table(fields, identifiers)
        return [self._resolve_field(field, table) for field in fields]

    def _choose_languages(
        self, fields: Sequence[_ReadText | Withheld]
    ) -> list[tuple[Language, ...]]:
        """Return the languages in which each field of a record is to be analysed."""
        if not self._policy.chooses_language:
            return [self._policy.read_languages] * len(fields)
        return choose_languages([_get_prose(field) for field in fields])

    # Step 1: analyse each text on its own.

    def _read_field(self, cued: CuedText) -> _ReadText | Withheld:
        text = cued.text
        if len(text) > self._policy.limits.field_characters:
            return Withheld.TOO_LONG
        if not is_text(text):
            return Withheld.UNDECODABLE
        self._start_clock(text)
        form = self._run_in_time(partial(write_form, text))
        if isinstance(form, Withheld):
            return form
        if form is None:
            build = partial(build_views, text, self._deadline)
        else:
            values = [(line.start, line.end) for line in form.lines]
            build = partial(build_views, form.text, self._deadline, values)
        views = self._run_in_time(build)
        if isinstance(views, Withheld):
            return views
        return _ReadText(cued, form, views)

    def _read_ahead(
        self, fields: Sequence[_ReadText | Withheld], languages: Sequence[tuple[Language, ...]]
    ) -> None:
        """Let the models read short fields together, which takes half as long as one by one."""
        short: list[tuple[_ReadText, tuple[Language, ...]]] = []
        for field, languages_of_field in zip(fields, languages, strict=True):
            if isinstance(field, Withheld) or len(field.views[0].text) > _SHORT_FIELD:
                continue
            if self._cache.get(_name_in_cache(field, languages_of_field)) is None:
                short.append((field, languages_of_field))
        if len(short) < 2:
            return
        for model in self._models:
            language = model.supported_language
            texts: list[Words] = []
            for field, languages_of_field in short:
                if language not in languages_of_field:
                    continue
                for cue in field.cued.cues or ("",):
                    text = hide_option_letters(cue + field.views[0].text)
                    with self._tokenizer.memory_zone(language, len(text)):
                        texts.append(self._tokenizer.words(text, language))
            model.read_ahead(texts)

    def _start_clock(self, text: str) -> None:
        """Allow the time that the policy grants a step of the analysis of `text`."""
        self._deadline.start(self._policy.limits.allow_seconds(len(text)))

    def _run_in_time(self, step: Callable[[], _Result]) -> _Result | Withheld:
        """Return the result of a step, or the reason to withhold its text if it fails or its time is over."""
        return _withhold_on_error(partial(self._deadline.repeat, step))

    def _analyse_field(
        self, field: _ReadText | Withheld, languages: tuple[Language, ...]
    ) -> _AnalysedText | Withheld:
        if isinstance(field, Withheld):
            return field
        opened = _withhold_on_error(partial(self._open_languages, languages))
        if isinstance(opened, Withheld):
            return opened
        text, form, views = field.cued.text, field.form, field.views
        cache_name = _name_in_cache(field, languages)
        cached = self._cache.get(cache_name)
        if cached is not None:
            return _AnalysedText(text, form, views, languages, cached)
        if form is None:
            find = partial(self._detect, views, field.cued.cues, languages)
        else:  # its values have cues of their own
            find = partial(self._detect_in_form, views, form, languages)
        self._start_clock(text)
        detections = self._run_in_time(find)
        if isinstance(detections, Withheld):
            return detections
        self._cache.put(cache_name, detections)
        return _AnalysedText(text, form, views, languages, detections)

    def _detect(
        self, views: Sequence[View], cues: Sequence[str], languages: Sequence[Language]
    ) -> Detections:
        detections = []
        for view in views:
            spans = view.keep_new(
                self._drop_allowed(view.text, self._detect_after_cues(view.text, cues, languages))
            )
            detections.append(tuple(merge_spans(spans, view.text)))
        self._deadline.left()  # raises if the last step exceeded the deadline unnoticed
        return tuple(detections)

    def _find_own(self, text: str) -> Iterator[Span]:
        """Yield the matches of the policy's own patterns and phrases, which count in every value of a form."""
        for own in self._policy.recognizers:
            for start, end in find_pattern(own.pattern)(text, self._deadline):
                yield Span(start, end, own.entity)
        for entity, entries in self._policy.deny.items():
            for start, end in Phrases(entries).find(text, self._deadline):
                yield Span(start, end, entity)

    def _detect_in_form(
        self, views: Sequence[View], form: Form, languages: Sequence[Language]
    ) -> Detections:
        """Return the detections in the views of a form that lie within its values, and the values with a sure label."""
        detections = list(self._detect(views, (), languages))
        for index, view in enumerate(views):
            kept = _keep_in_values(detections[index], view, form)
            own = [view.to_original(span) for span in view.keep_new(self._find_own(view.text))]
            kept += view.locate_spans(merge_spans(form.cut_all(own), form.text)) if own else []
            detections[index] = tuple(merge_spans(kept, view.text))
        listed = [span for span in form.list_certain() if span.entity in self._policy.entities]
        plain = views[0]
        certain = self._drop_allowed(plain.text, iter(plain.locate_spans(listed)))
        detections[0] = tuple(merge_spans([*detections[0], *certain], plain.text))
        return tuple(detections)

    def _drop_allowed(self, text: str, spans: Iterator[Span]) -> Iterator[Span]:
        """Drop the spans that lie within phrases of the policy's `allow` list; keep any longer span whole."""
        if not self._allowed:
            return spans
        allowed = _Stretches(self._allowed.find(text, self._deadline))
        return (span for span in spans if not allowed.hold(span))

    def _detect_after_cues(
        self, text: str, cues: Sequence[str], languages: Sequence[Language]
    ) -> Iterator[Span]:
        """Yield the detections in the text of one view, searched after each of the cues."""
        for cue in cues or ("",):
            detected = self._detect_in_view(cue + text, languages)
            for span in cut_harmless(detected, cue + text, self._deadline.left()):
                start, end = max(span.start - len(cue), 0), span.end - len(cue)
                if start < end:
                    yield Span(start, end, span.entity)
        yield from self._find_own(text)  # whatever words they are

    def _detect_in_view(self, text: str, languages: Sequence[Language]) -> Iterator[Span]:
        """Yield the detections of the rules and models in the text of one view."""
        for opaque in OPAQUE.finditer(text):
            yield Span(opaque.start(), opaque.end(), "ID")
        text = OPAQUE.sub(lambda opaque: " " * len(opaque.group()), text)
        text = hide_option_letters(text)
        for start, end in _split_chunks(text):
            for language in languages:
                self._deadline.left()
                with self._tokenizer.memory_zone(language, end - start):
                    results = self._analyzer.analyze(
                        text[start:end],
                        language,
                        entities=self._entities,
                        score_threshold=self._policy.threshold,
                    )
                for result in results:
                    yield Span(
                        start + result.start, start + result.end, _map_entity(result.entity_type)
                    )

    # Step 2: resolve each text together with the rest of its record.

    def _build_table(
        self, fields: Sequence[_AnalysedText | Withheld], identifiers: Sequence[Identifier]
    ) -> _IdentityTable | Withheld:
        """Build the identity table of a record; return the reason to withhold the record if that fails."""
        # Dictionaries serve as ordered sets, because names are numbered in the order in which they are found.
        stated: dict[tuple[str, str], None] = {}
        for identifier in identifiers:
            if identifier.entity in self._policy.entities:
                stated[identifier.entity, identifier.value] = None
        detected: dict[tuple[str, str], None] = {}
        for field in fields:
            if isinstance(field, _AnalysedText):
                detected.update(
                    (value, None) for value in field.list_values() if value not in stated
                )
        if len(stated) + len(detected) > _MAX_VALUES:
            return Withheld.TOO_LONG
        languages = tuple(
            language
            for language in self._policy.read_languages
            if any(
                isinstance(field, _AnalysedText) and language in field.languages for field in fields
            )
        )

        def build() -> _IdentityTable:
            everyday_words, is_common_word = _load_ordinary_words(languages)
            return _IdentityTable(
                stated=KnownValues(stated, everyday_words),
                detected=KnownValues(detected, everyday_words, is_common_word),
            )

        return _withhold_on_error(build)

    def _resolve_field(
        self, field: _AnalysedText | Withheld, table: _IdentityTable | Withheld
    ) -> _ResolvedText | Withheld:
        if isinstance(field, Withheld):
            return field
        if isinstance(table, Withheld):
            return table
        self._start_clock(field.text)
        return self._run_in_time(partial(self._resolve, field, table))

    def _resolve(self, field: _AnalysedText, table: _IdentityTable) -> _ResolvedText:
        """Merge the detections in a text with the occurrences of values from the identity table."""
        plain_view = field.views[0]
        spans = list(plain_view.marked)
        if field.form is not None:
            spans = list(field.form.cut_known(spans))
        for view, detections in zip(field.views, field.detections, strict=True):
            spans += map(view.to_original, detections)
            spans += self._search_known(view, table, field.form)
        text = field.text if field.form is None else field.form.text
        merged = merge_spans(spans, text)
        for _ in range(_MAX_MODEL_ROUNDS):
            further: list[Span] = []
            for view in field.views:
                further += self._detect_beside(view, merged, field.languages)
            if field.form is not None:
                further = list(field.form.cut(further))
            if not further:
                break
            merged = merge_spans([*merged, *further], text)
        if field.form is not None:
            return _locate_in_source(field, field.form, merged)
        values = tuple(plain_view.read_original(span.start, span.end) for span in merged)
        quotings = (write_plainly,) * len(merged)
        return _ResolvedText(field.text, field.languages, tuple(merged), values, quotings)

    def _search_known(self, view: View, table: _IdentityTable, form: Form | None) -> Iterator[Span]:
        """Yield the occurrences of known values in a view, as spans of its original.

        In the codes, drugs and laboratory values of a structured text, a single word that was detected elsewhere
        ("Bell") is not an occurrence; a value that the dataset states is.
        """
        stated = view.keep_new(search_known_values(view.text, table.stated, self._deadline))
        detected = view.keep_new(search_known_values(view.text, table.detected, self._deadline))
        if form is None:
            yield from map(view.to_original, chain(stated, detected))
        else:
            yield from form.cut_all(map(view.to_original, stated))
            yield from form.cut_known(map(view.to_original, detected))

    def _detect_beside(
        self, view: View, spans: Sequence[Span], languages: Sequence[Language]
    ) -> Iterable[Span]:
        """Return the models' detections in a view in which `spans` are replaced by ordinary values.

        The models then see the view much like the redacted text, so that redacting the result again changes nothing.
        This also detects the rest of a name of which only a part was detected.
        """
        known_spans = view.locate_spans(spans)
        if not known_spans:
            return ()
        text = hide_option_letters(view.text)
        detected: list[Span] = []
        for start, end in _split_chunks(text):
            known_in_chunk = _cut_to_chunk(known_spans, start, end)
            for model in self._models:
                language = model.supported_language
                if language not in languages:
                    continue
                with self._tokenizer.memory_zone(language, end - start):
                    results = model.analyze_beside(
                        text=text[start:end],
                        known=known_in_chunk,
                        entities=self._entities,
                        words_of=partial(self._tokenizer.words, language=language),
                    )
                for result in results:
                    if result.score >= self._policy.threshold:
                        detected.append(
                            Span(start + result.start, start + result.end, result.entity_type)
                        )
        further = view.keep_new(
            cut_harmless(detected, view.text, self._deadline.left(), known_spans)
        )
        return map(view.to_original, self._drop_allowed(view.text, further))

    # Step 3: rewrite each text with replacements.

    def _open_operators(
        self,
        fields: Sequence[_ResolvedText | Withheld],
        identifiers: Sequence[Identifier],
        unit: str | None,
    ) -> RecordOperators:
        """Open the policy's operators for one record."""
        resolved = [field for field in fields if isinstance(field, _ResolvedText)]
        values = [(identifier.entity, identifier.value) for identifier in identifiers]
        for field in resolved:
            values += field.list_labelled_values()
        languages = {language for field in resolved for language in field.languages}
        language = languages.pop() if len(languages) == 1 else self._policy.read_languages[0]
        texts = [field.text for field in resolved]
        return self._operators.for_record(texts, values, unit, language)

    def _write(self, field: _ResolvedText, operators: RecordOperators) -> Redacted:
        written = _withhold_on_error(partial(self._replace_spans, field, operators))
        return self._withhold(written) if isinstance(written, Withheld) else mark_redacted(written)

    def _replace_spans(self, field: _ResolvedText, operators: RecordOperators) -> str:
        pieces: list[str] = []
        end_of_last = 0
        for span, value, quote in zip(field.spans, field.values, field.quotings, strict=True):
            replacement = operators.get_replacement(
                span.entity, value, field.text[span.end : span.end + 1]
            )
            pieces += [field.text[end_of_last : span.start], quote(replacement)]
            end_of_last = span.end
        pieces.append(field.text[end_of_last:])
        return remove_invisible("".join(pieces))

    def _withhold(self, reason: Withheld) -> Redacted:
        self._withheld[reason] += 1
        WITHHELD_TEXTS.add(value=reason.replace(" ", "_"))
        return mark_redacted(f"[WITHHELD: {reason}]")


@cache
def _load_ordinary_words(
    languages: tuple[Language, ...],
) -> tuple[frozenset[str], Callable[[str], bool] | None]:
    """Return the everyday words of the languages and the test for common words; see `agent.redaction.recognizers`."""
    return everyday(languages), is_common(languages)


def _get_prose(field: _ReadText | Withheld) -> str:
    """Return the part of a text that tells its language."""
    if isinstance(field, Withheld):
        return ""
    return field.views[0].text if field.form is None else field.form.join_prose()


def _name_in_cache(field: _ReadText, languages: Sequence[Language]) -> str:
    # A text with this sign is withheld, so no other text has the same name.
    return _CUE_END.join((*languages, *field.cued.cues, field.cued.text))


def _withhold_on_error(step: Callable[[], _Result]) -> _Result | Withheld:
    """Return the result of `step`, or the reason to withhold its text if it fails.

    Every exception is caught, because it may contain part of the text, which must not appear in a traceback.
    """
    try:
        return step()
    except TimeoutError:
        return Withheld.TIME_LIMIT
    except NoModelError:
        return Withheld.NO_MODEL
    except Exception:  # noqa: BLE001 - see above
        return Withheld.ENGINE_ERROR


def _keep_in_values(spans: Sequence[Span], view: View, form: Form) -> list[Span]:
    """Return the detections in a view of a form without their parts outside the values that are to be searched."""
    kept: list[Span] = []
    cut: list[Span] = []
    for span in spans:
        of_form = view.to_original(span)
        if form.is_within_one(of_form):
            kept.append(span)
        else:
            cut += form.cut([of_form])
    if cut:
        kept += view.locate_spans(merge_spans(cut, form.text))
    return sorted(kept, key=lambda span: span.start)


def _locate_in_source(field: _AnalysedText, form: Form, spans: Sequence[Span]) -> _ResolvedText:
    """Return the stretches of a structured text that the spans of its form stand for."""
    located = list(form.locate(spans))
    values = [field.views[0].read_original(place.form.start, place.form.end) for place in located]
    return _ResolvedText(
        field.text,
        field.languages,
        tuple(place.span for place in located),
        tuple(values),
        tuple(place.quoting for place in located),
    )


def _leave_published(
    fields: Sequence[_ResolvedText | Withheld], published: PublishedValues
) -> list[_ResolvedText | Withheld]:
    """Return the fields without the spans whose value stands in a published text."""
    left: list[_ResolvedText | Withheld] = []
    for field in fields:
        if isinstance(field, Withheld):
            left.append(field)
            continue
        kept = [
            part
            for part in zip(field.spans, field.values, field.quotings, strict=True)
            if not published.hold(part[1])
        ]
        spans, values, quotings = zip(*kept, strict=True) if kept else ((), (), ())
        left.append(replace(field, spans=spans, values=values, quotings=quotings))
    return left


def _map_entity(presidio_entity: str) -> str:
    return PRESIDIO_ENTITIES.get(presidio_entity, presidio_entity)


class _Stretches:
    """Stretches of a text, given as start and end in the order of their starts."""

    def __init__(self, stretches: Iterable[tuple[int, int]]) -> None:
        self._starts: list[int] = []
        self._latest_ends: list[int] = []  # of this and all earlier stretches
        latest_end = 0
        for start, end in stretches:
            latest_end = max(latest_end, end)
            self._starts.append(start)
            self._latest_ends.append(latest_end)

    def hold(self, span: Span) -> bool:
        """Return whether a span lies within a stretch, apart from one punctuation mark that a model may add."""
        count = bisect_right(self._starts, span.start)
        return count > 0 and span.end <= self._latest_ends[count - 1] + 1


def _cut_to_chunk(spans: Sequence[Span], start: int, end: int) -> list[Span]:
    """Return the parts of spans, which are in order and without overlaps, with offsets relative to the chunk."""
    parts: list[Span] = []
    first = bisect_right(spans, start, key=lambda span: span.end)
    for index in range(first, len(spans)):
        span = spans[index]
        if span.start >= end:
            break
        parts.append(Span(max(span.start, start) - start, min(span.end, end) - start, span.entity))
    return parts


def _split_chunks(text: str) -> Iterator[tuple[int, int]]:
    """Yield the start and end of overlapping chunks of `text`, cut at nearby white space if there is any."""
    start = 0
    while True:
        end = _find_gap(text, start + _CHUNK) if start + _CHUNK < len(text) else len(text)
        yield start, end
        if end == len(text):
            return
        start = _find_gap(text, end - _OVERLAP)


def _find_gap(text: str, position: int) -> int:
    """Return the position after the last white space before `position`, or `position` if no white space is near."""
    for candidate in range(position, position - _OVERLAP // 2, -1):
        if text[candidate - 1].isspace():
            return candidate
    return position


def open_engine(
    policy_name: str,
    directory: Path | None = None,
    store: DetectionStore | None = None,
    language: str | None = None,
    key: bytes | None = None,
) -> Engine:
    """Open the engine under a policy (see `load_policy`) and test it on a known text.

    Args:
        policy_name: see `load_policy`.
        directory: see `load_policy`.
        store: keeps detections for the next process.
        language: see `load_policy`.
        key: 32 random bytes that determine the surrogates and how far dates are moved. If None, the engine
            generates them.

    Raises:
        RedactionError: the policy is missing or invalid, or the self-test failed.
    """
    policy = load_policy(policy_name, directory, language)
    check_admitted(policy, directory)
    engine = build_engine(policy, key)
    if store is not None:
        # Only after the self-test, so that its texts are analysed every time.
        engine.use_store(store)
    return engine


def build_engine(policy: RedactionPolicy, key: bytes | None = None) -> Engine:
    """Build the engine under a policy whose models were admitted, and test it; see `open_engine`.

    Raises:
        RedactionError: the self-test failed, or a model cannot be opened.
    """
    for name in _LIBRARY_LOGGERS:
        logging.getLogger(name).disabled = True
    engine = Engine(policy, key)
    if not passes_self_test(engine, policy):
        raise RedactionError(
            _FAILED_SELF_TEST.format(policy=policy.name),
            "Every policy must redact names, record numbers, phone numbers and e-mail addresses.",
        )
    return engine
