"""Train a named-entity model further on a site's own reviewed texts, and measure it on texts held out of training."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.errors import RedactionError
from agent.io.new_folder import new_folder
from agent.redaction.engine import Engine, build_engine
from agent.redaction.measuring.bench import GoldText, measure_texts
from agent.redaction.measuring.measures import LabelledSpan, RedactionFigures
from agent.redaction.models.model import shipped_model
from agent.redaction.models.network import OTHER, read_network
from agent.redaction.models.other.labels import KNOWN
from agent.redaction.models.train import Example, train_model
from agent.redaction.policy.policy import OtherModel, RedactionPolicy
from agent.redaction.redacted import Withheld

MIN_TEXTS = 20
MIN_IDENTIFIERS = 50
_HELD_OUT = 5  # one text in five is measured on, and not learned from
_PASSES = 4  # over the texts that are learned from
_BATCH_WORDS = 2_000
_RATE = 0.0004  # a fifth of that of a new model: it is to learn, not to forget


@dataclass(frozen=True, slots=True)
class FineTuned:
    """The result of a training, measured on the texts held out.

    Attributes:
        learned: number of texts learned from.
        held_out: number of texts measured on.
        before: figures of the rules and the package's own model.
        after: figures of the rules and the new model in its place.
    """

    learned: int
    held_out: int
    before: RedactionFigures
    after: RedactionFigures

    @property
    def finds_less(self) -> bool:
        """Whether the new model leaves more identifiers than the package's own model."""
        return self.after.leaks > self.before.leaks


def fine_tune(
    texts: Sequence[GoldText], policy: RedactionPolicy, folder: Path, *, seed: int, force: bool
) -> FineTuned:
    """Train the package's model of the policy's first language further on `texts`, and write it into the new `folder`.

    Args:
        texts: the site's own, with every identifier in them.
        force: write it although it finds less.

    Raises:
        RedactionError: there are too few texts, a kind of identifier is unknown, the language has no model, or the new
            model finds less.
        ConfigError: the folder is in use.
    """
    language = policy.languages[0]
    base = shipped_model(language)
    if base is None:
        raise RedactionError(
            f"there is no model for texts in {language} to go on from", "Known: en, es."
        )
    held_out: list[GoldText] = []
    learned: list[GoldText] = []
    for text in texts:
        (held_out if _is_held_out(text) else learned).append(text)
    identifiers = sum(len(text.spans) for text in texts)
    if (
        len(texts) < MIN_TEXTS
        or identifiers < MIN_IDENTIFIERS
        or not any(text.spans for text in held_out)
    ):
        raise RedactionError(
            f"{len(texts)} texts with {identifiers} identifiers are too few to learn from: expected {MIN_TEXTS} and "
            f"{MIN_IDENTIFIERS}",
            "Review more records (`intramural redact review`).",
        )
    kinds = set(read_network(base).meta.kinds) - {OTHER}
    examples = [_make_example(text, kinds) for text in learned]
    words = sum(len(text.text.split()) for text in learned)
    with new_folder(folder) as made:
        train_model(
            examples,
            made,
            language=language,
            seed=seed,
            steps=1 + _PASSES * words // _BATCH_WORDS,
            base=base,
            made={"fine-tuned on": f"{len(learned)} texts of the site's own"},
            rate=_RATE,
        )
        new = OtherModel(kind="intramural", path=str(made))
        result = FineTuned(
            learned=len(learned),
            held_out=len(held_out),
            before=_measure_policy(held_out, policy.model_copy(update={"models": ("shipped",)})),
            after=_measure_policy(held_out, policy.model_copy(update={"models": (new,)})),
        )
        if result.finds_less and not force:
            raise RedactionError(
                f"refused: of the identifiers in texts kept back it leaves {result.after.leaks}, and the package's own "
                f"model {result.before.leaks}",
                "Review more records, or give --force.",
            )
    return result


def _is_held_out(text: GoldText) -> bool:
    """Decide by the text itself, so that it is never learned from when it comes again."""
    return hashlib.sha256(text.text.encode("utf-8", "surrogatepass")).digest()[0] % _HELD_OUT == 0


def _make_example(text: GoldText, kinds: set[str]) -> Example:
    spans: list[LabelledSpan] = []
    for start, end, label in text.spans:
        kind = _find_kind(label, kinds)
        if kind is not None:
            spans.append((start, end, kind))
    return text.text, spans


def _find_kind(label: str, kinds: set[str]) -> str | None:
    """Return the model's kind for `label`; None if the rules alone detect it.

    Raises:
        RedactionError: the label is unknown; it is not quoted, for it is a text of the file.
    """
    entity = label if label in kinds else KNOWN.get(label.upper(), "")
    if entity == "":
        known_kinds = sorted(filter(None, set(KNOWN.values())))
        raise RedactionError(
            "a kind of identifier in the texts is unknown", f"Known: {', '.join(known_kinds)}."
        )
    if entity in kinds:
        return entity
    return (
        "ADDRESS" if entity == "ZIP" else None
    )  # models learn a postal code as part of its address


def _measure_policy(texts: list[GoldText], policy: RedactionPolicy) -> RedactionFigures:
    engine = build_engine(policy)
    return measure_texts(texts, tuple(_detect(engine, text.text) for text in texts))


def _detect(engine: Engine, text: str) -> tuple[LabelledSpan, ...]:
    (spans,) = engine.find_record([text])
    if isinstance(spans, Withheld):
        return ((0, len(text), "WITHHELD"),)
    return tuple((span.start, span.end, span.entity) for span in spans)
