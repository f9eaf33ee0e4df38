"""Taking HELM's files through their shapes: a new tree is built of what is known; texts of an instance go together.

What a step gives for a value of the new tree is that value again: so a second walk shows whether a folder is clean.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from agent.errors import RedactionError
from agent.exchange.helm.redaction.kinds import Kind
from agent.exchange.helm.redaction.names import Names, words_of_name
from agent.redaction import Withheld
from agent.redaction.replacements.tags import TAG
from agent.redaction.spans.span import Span
from agent.vocabulary import Identifier

REDACTED: Final = "[redacted]"  # HELM's own word for a text that is not shown
_PASSES = 5
_DEEPEST = 60  # levels of maps and lists
_SHORTEST_IDENTIFIER = 5  # characters of an instance's id that is searched in texts
_HELM_ID = re.compile(r"id\d+")
_SHORTEST_TOLD, _LONGEST_TOLD = 3, 100  # characters of a field that tells who a record is about
# Fields of data sets, by their names. The first that fits.
_TELLING = tuple(
    (re.compile(pattern, re.IGNORECASE), entity)
    for pattern, entity in (
        (r"(patient|person|first|last|given|family|full|sur|middle|maiden|doctor|physician|provider)_?name", "NAME"),
        (r"^(patient|doctor|physician)$", "NAME"),
        (r"mrn|medical_?record|^nhc$", "MRN"),
        (r"ssn|social_?security", "SSN"),
        (r"dob|birth|(^|_)date($|_)", "DATE"),
        (r"phone|fax|mobile", "PHONE"),
        (r"e_?mail", "EMAIL"),
        (r"address|street", "ADDRESS"),
        (r"(patient|subject|person|encounter|visit|note|hadm|stay|account|member)_?id", "ID"),
    )
)


class _Omitted:
    """What a step gives for a value that has no place in the new tree."""


OMIT: Final = _Omitted()
Step = Callable[["Walk", Any], Any]


@dataclass(frozen=True, slots=True)
class Options:
    """What is not shown even redacted, beyond what is never shown.

    Attributes:
        blank_outputs: what models answered and thought.
        blank_annotations: every text of annotations.
    """

    blank_outputs: bool = False
    blank_annotations: bool = False


@dataclass(slots=True)
class InstanceTexts:
    """The texts of one instance.

    Attributes:
        texts: those that are shown, each once, with its number.
        context: those that are not shown, whose identifiers are searched in the others all the same.
        identifiers: the instance's id, where it may be one, and what fields of the data set say.
        has_names: whether a name must be told from those of people in the texts.
    """

    texts: dict[str, int] = field(default_factory=dict)
    context: dict[str, None] = field(default_factory=dict)
    identifiers: list[Identifier] = field(default_factory=list)
    has_names: bool = False

    def tell(self, identifier: Identifier) -> None:
        """Take in what the data itself says of the record's people."""
        if identifier not in self.identifiers:
            self.identifiers.append(identifier)

    def redact(self, texts: "Texts") -> "_Settled":
        """Redact the texts together; and find out which words are of people."""
        if not self.texts and not self.has_names:
            return _Settled([], frozenset())
        shown = list(self.texts)
        known = "\0".join(shown)
        around: list[str] = []
        for text in sorted(self.context, key=len, reverse=True):
            if text not in known and not any(text in other for other in around):
                around.append(text)
        read = [*shown, *around]
        found = texts.redact_and_find(read, self.identifiers)
        people: set[str] = set()
        for text, (_, spans) in zip(read, found, strict=True):
            if self.has_names and not isinstance(spans, Withheld):
                names = (text[span.start : span.end] for span in spans if span.entity == "NAME")
                people |= {word for name in names for word in words_of_name(name)}
        return _Settled(_numbered([new for new, _ in found[: len(shown)]]), frozenset(people))


class Texts(Protocol):
    """What clears texts: the engine."""

    @property
    def policy(self) -> str:
        """Name and version of the policy in force."""
        ...

    def redact_and_find(
        self, texts: Sequence[str], identifiers: Sequence[Identifier] = ()
    ) -> Sequence[tuple[str, tuple[Span, ...] | Withheld]]:
        """Clear the texts of one record together; beside each, what was found where in the original."""
        ...


@dataclass(frozen=True, slots=True)
class Judges:
    """What clears texts, and what says of a name whether it may stay."""

    texts: Texts
    names: Callable[[str], bool]


@dataclass(frozen=True, slots=True)
class _Settled:
    """A redacted record: its texts by number, and the words of the people in it."""

    texts: Sequence[str]
    people: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Slot:
    """The place of a text in a tree, until its record is redacted."""

    record: str
    number: int


@dataclass(frozen=True, slots=True)
class _NameSlot:
    """The place of a name that stays if no person of its record is in it."""

    record: str
    name: str


@dataclass(slots=True)
class Walk:
    """One walk through the files of a run.

    Attributes:
        counts: of what was left out or blanked, for the manifest.
        blanked: records whose texts are not shown, because redaction does not settle on them.
    """

    names: Names
    options: Options
    blanked: frozenset[str] = frozenset()
    counts: Counter[Kind] = field(default_factory=Counter)
    records: dict[str, InstanceTexts] = field(default_factory=dict)
    _current: str = ""

    @contextmanager
    def instance(self, raw: object) -> Iterator[None]:
        """Take what follows as texts of the instance with this id."""
        before, self._current = self._current, self.names.identity(raw) if isinstance(raw, str) else ""
        if isinstance(raw, str) and raw != self._current and _is_identifier(raw):
            self._record().tell(Identifier("ID", raw))
        try:
            yield
        finally:
            self._current = before

    def _record(self) -> InstanceTexts:
        return self.records.setdefault(self._current, InstanceTexts())

    def text(self, text: str) -> object:
        """Return the place of a text that is shown redacted."""
        if not any(map(str.isalnum, text)) or text == REDACTED:
            return text if all(c.isprintable() or c in "\t\n\r" for c in text) else ""
        if self._current in self.blanked:
            return REDACTED
        record = self._record()
        return _Slot(self._current, record.texts.setdefault(text, len(record.texts)))

    def name(self, name: str) -> object:
        """Return the place of a name that an instance's own data may have given: of a key, of a part of a split."""
        shown = self.names.shown(name)
        if shown != name or self.names.is_known(name):
            return shown
        self._record().has_names = True
        return _NameSlot(self._current, name)

    def unshown(self, value: object, what: Kind | None = None, depth: int = 0) -> None:
        """Keep the texts of a value that is not shown for the search in those that are; count it as `what`."""
        if what:
            self.counts[what] += 1
        if depth > _DEEPEST:
            return
        if isinstance(value, str):
            if value != REDACTED and any(map(str.isalnum, value)):
                self._record().context[value] = None
        elif isinstance(value, dict):
            for key, inner in value.items():
                if told := _told(key, inner):
                    self._record().tell(told)
                self.unshown(inner, depth=depth + 1)
        elif isinstance(value, list):
            for inner in value:
                self.unshown(inner, depth=depth + 1)

    def settle(self, texts: Texts) -> tuple[dict[str, _Settled], set[str]]:
        """Redact all records; return them, and which of them were changed by it."""
        settled = {key: record.redact(texts) for key, record in self.records.items()}
        return settled, {key for key, one in settled.items() if list(one.texts) != list(self.records[key].texts)}


def _numbered(texts: Sequence[str]) -> list[str]:
    """Number the tags of a record in the order in which they stand in what is shown.

    Else numbers would tell how much is in what is not shown, and [NAME-617][NAME-482] could be passed off as tags.
    """
    numbers: dict[tuple[str, str], int] = {}
    last = Counter[str]()
    written = []
    for text in texts:
        parts, end = [], 0
        for tag in TAG.finditer(text):
            entity, number = tag.group("entity"), tag.group("number")
            if not entity:
                continue
            if (entity, number) not in numbers:
                last[entity] += 1
                numbers[entity, number] = last[entity]
            parts += [text[end : tag.start()], f"[{entity}-{numbers[entity, number]}]"]
            end = tag.end()
        written.append("".join(parts) + text[end:])
    return written


def _is_identifier(raw: str) -> bool:
    """Whether an instance's id may be a number of a record: HELM's own are `id0`, `id1`."""
    return len(raw) >= _SHORTEST_IDENTIFIER and any(map(str.isdigit, raw)) and not _HELM_ID.fullmatch(raw)


def _told(key: str, value: object) -> Identifier | None:
    """Return what a field of a data set says of its record's people: {"patient_name": ...}."""
    text = str(value).strip() if isinstance(value, str | int) and not isinstance(value, bool) else ""
    if not _SHORTEST_TOLD <= len(text) <= _LONGEST_TOLD:
        return None
    return next((Identifier(entity, text) for pattern, entity in _TELLING if pattern.search(key)), None)


def through(
    files: Mapping[str, tuple[Step, Any]],
    names: Names,
    options: Options,
    texts: Texts,
    blanked: frozenset[str] = frozenset(),
) -> tuple[dict[str, Any], set[str], Counter[Kind]]:
    """Take the files of a run (step and content by name) through their steps once.

    Returns:
        The new contents; the records of which texts were changed; what was left out, counted.
    """
    walk = Walk(names, options, blanked)
    trees = {name: step(walk, content) for name, (step, content) in files.items()}
    settled, changed = walk.settle(texts)
    fill = _Filling(settled, names)
    return {name: fill.filled(tree) for name, tree in trees.items() if tree is not OMIT}, changed, walk.counts


def redacted_files(
    files: Mapping[str, tuple[Step, Any]], names: Names, options: Options, texts: Texts
) -> tuple[dict[str, Any], Counter[Kind]]:
    """Take the files of a run through their steps until nothing changes any more.

    Texts of an instance on which redaction does not settle are not shown at all.
    """
    contents, _, counts = through(files, names, options, texts)
    blanked: frozenset[str] = frozenset()
    again = {name: step for name, (step, _) in files.items()}
    for turn in range(_PASSES):
        new, changed, _ = through(
            {name: (again[name], content) for name, content in contents.items()}, names, options, texts, blanked
        )
        if new == contents:
            break
        contents = new
        if turn:  # once may be: what one text gave away was searched in the others
            blanked |= changed
    else:
        raise RedactionError("redaction does not settle on the texts of a run", "Report this; nothing was written.")
    counts["unsettled instances"] += len(blanked)
    return contents, counts


@dataclass(frozen=True, slots=True)
class _Filling:
    """Puts redacted texts into the trees."""

    settled: Mapping[str, _Settled]
    names: Names

    def filled(self, tree: Any) -> Any:
        """Return the tree with its texts."""
        if isinstance(tree, _Slot):
            return self.settled[tree.record].texts[tree.number]
        if isinstance(tree, _NameSlot):
            people = self.settled[tree.record].people
            return tree.name if people.isdisjoint(words_of_name(tree.name)) else self.names.never(tree.name)
        if isinstance(tree, dict):
            return {self.filled(key): self.filled(value) for key, value in tree.items()}
        if isinstance(tree, list):
            return [self.filled(value) for value in tree]
        return tree
