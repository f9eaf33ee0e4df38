"""Fine-tune a named-entity model on a site's own reviewed texts, and measure it on texts held out of training."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.errors import RedactionError
from agent.io.new_folder import new_folder
from agent.redaction.engine import Engine, build_engine
from agent.redaction.measuring.bench import GoldText, measure_texts
from agent.redaction.measuring.measures import RedactionFigures
from agent.redaction.measuring.utility import LabelledSpan
from agent.redaction.models.model import shipped_model
from agent.redaction.models.network import OTHER, read_network
from agent.redaction.models.other.labels import KNOWN
from agent.redaction.models.train import Example, train_model
from agent.redaction.policy.policy import OtherModel, RedactionPolicy
from agent.redaction.redacted import Withheld

MIN_TEXTS = 20
MIN_IDENTIFIERS = 50
_HELD_OUT = 5  # one text in five is held out for measurement
_PASSES = 4  # over the training texts
_BATCH_WORDS = 2_000
_RATE = 0.0004  # a fifth of the learning rate for a new model, so that the model keeps what it has learned


@dataclass(frozen=True, slots=True)
class FineTuned:
    """The result of fine-tuning, measured on the held-out texts.

    Attributes:
        learned: number of training texts.
        held_out: number of held-out texts.
        before: measures of the rules with the package's own model.
        after: measures of the rules with the fine-tuned model instead.
    """

    learned: int
    held_out: int
    before: RedactionFigures
    after: RedactionFigures

    @property
    def finds_less(self) -> bool:
        """Whether the new model misses more identifiers than the package's own model."""
        return self.after.leaks > self.before.leaks


def fine_tune(
    texts: Sequence[GoldText], policy: RedactionPolicy, folder: Path, *, seed: int, force: bool
) -> FineTuned:
    """Fine-tune the package's model of the policy's first language on `texts`, and write it into the new `folder`.

    Args:
        texts: texts of the site, in which every identifier is marked.
        force: whether to write the model even if it detects fewer identifiers.

    Raises:
        RedactionError: there are too few texts, a kind of identifier is unknown, the language has no model, or the new
            model detects fewer identifiers.
        ConfigError: the folder is in use.
    """
    language = policy.read_languages[0]
    base = shipped_model(language)
    if base is None:
        raise RedactionError(
            f"there is no model to fine-tune for texts in {language}", "Known languages: en, es."
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
            f"{len(texts)} texts with {identifiers} identifiers are too few to learn from: "
            f"expected at least {MIN_TEXTS} and {MIN_IDENTIFIERS}",
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
                f"refused: of the identifiers in the held-out texts, the new model misses {result.after.leaks} and the "
                f"package's own model {result.before.leaks}",
                "Review more records, or give --force.",
            )
    return result


def _is_held_out(text: GoldText) -> bool:
    """Return whether a text is held out. Its content alone decides, so that repeated texts are treated alike."""
    return hashlib.sha256(text.text.encode("utf-8", "surrogatepass")).digest()[0] % _HELD_OUT == 0


def _make_example(text: GoldText, kinds: set[str]) -> Example:
    spans: list[LabelledSpan] = []
    for start, end, label in text.spans:
        kind = _find_kind(label, kinds)
        if kind is not None:
            spans.append((start, end, kind))
    return text.text, spans


def _find_kind(label: str, kinds: set[str]) -> str | None:
    """Return the model's kind for `label`, or None if only the rules detect it.

    Raises:
        RedactionError: the label is unknown. It is not quoted, because it is text from the file.
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
