"""Going on with the training of a named-entity model on a site's own reviewed texts. Measured on texts kept back."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from agent.errors import RedactionError
from agent.io.new_folder import new_folder
from agent.redaction.engine import Engine, build_engine
from agent.redaction.measuring.bench import GoldText, judge_all
from agent.redaction.measuring.measures import Measured, Place
from agent.redaction.models.model import shipped_model
from agent.redaction.models.network import OTHER, read_network
from agent.redaction.models.other.labels import KNOWN
from agent.redaction.models.train import Example, train_model
from agent.redaction.policy.policy import OtherModel, RedactionPolicy
from agent.redaction.redacted import Withheld

FEWEST_TEXTS = 20
FEWEST_IDENTIFIERS = 50
_KEPT_BACK = 5  # one text in so many is measured on, and not learned from
_PASSES = 4  # over the texts that are learned from
_BATCH_WORDS = 2_000
_RATE = 0.0004  # a fifth of that of a new model: it is to learn, not to forget


@dataclass(frozen=True, slots=True)
class FineTuned:
    """What came of it, on the texts kept back.

    Attributes:
        learned, kept_back: texts.
        before, after: rules and the package's own model; rules and the new one in its place.
    """

    learned: int
    kept_back: int
    before: Measured
    after: Measured

    @property
    def finds_less(self) -> bool:
        """Whether the new model leaves more identifiers than the package's own."""
        return self.after.leaks > self.before.leaks


def fine_tune(texts: Sequence[GoldText], policy: RedactionPolicy, folder: Path, *, seed: int, force: bool) -> FineTuned:
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
        raise RedactionError(f"there is no model for texts in {language} to go on from", "Known: en, es.")
    kept_back = [text for text in texts if _is_kept_back(text)]
    learned = [text for text in texts if not _is_kept_back(text)]
    identifiers = sum(len(text.spans) for text in texts)
    if len(texts) < FEWEST_TEXTS or identifiers < FEWEST_IDENTIFIERS or not any(text.spans for text in kept_back):
        raise RedactionError(
            f"{len(texts)} texts with {identifiers} identifiers are too few to learn from: expected {FEWEST_TEXTS} and "
            f"{FEWEST_IDENTIFIERS}",
            "Review more records (`intramural redact review`).",
        )
    kinds = set(read_network(base).meta.kinds) - {OTHER}
    examples = [_example(text, kinds) for text in learned]
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
            len(learned),
            len(kept_back),
            _measured(kept_back, policy.model_copy(update={"models": ("shipped",)})),
            _measured(kept_back, policy.model_copy(update={"models": (new,)})),
        )
        if result.finds_less and not force:
            raise RedactionError(
                f"refused: of the identifiers in texts kept back it leaves {result.after.leaks}, and the package's own "
                f"model {result.before.leaks}",
                "Review more records, or give --force.",
            )
    return result


def _is_kept_back(text: GoldText) -> bool:
    """Decide by the text itself, so that it is never learned from when it comes again."""
    return hashlib.sha256(text.text.encode("utf-8", "surrogatepass")).digest()[0] % _KEPT_BACK == 0


def _example(text: GoldText, kinds: set[str]) -> Example:
    places = [(start, end, kind) for start, end, label in text.spans if (kind := _kind(label, kinds))]
    return text.text, places


def _kind(label: str, kinds: set[str]) -> str | None:
    """Return what the model calls `label`; None: what it leaves to the rules.

    Raises:
        RedactionError: the label is unknown; it is not quoted, for it is a text of the file.
    """
    entity = label if label in kinds else KNOWN.get(label.upper(), "")
    if entity == "":
        raise RedactionError(
            "a kind of identifier in the texts is unknown",
            f"Known: {', '.join(sorted(filter(None, set(KNOWN.values()))))}.",
        )
    if entity in kinds:
        return entity
    return {"ZIP": "ADDRESS"}.get(entity or "")


def _measured(texts: list[GoldText], policy: RedactionPolicy) -> Measured:
    engine = build_engine(policy)
    return judge_all(texts, tuple(_found(engine, text.text) for text in texts))


def _found(engine: Engine, text: str) -> tuple[Place, ...]:
    (spans,) = engine.find_record([text])
    if isinstance(spans, Withheld):
        return ((0, len(text), "WITHHELD"),)
    return tuple((span.start, span.end, span.entity) for span in spans)
