"""Count the answers of a run that were not read, by metric, reason and kind, and keep a few of each as examples."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from agent.metrics import get_value_kind
from agent.reading.unread import KIND_BY_REASON, UnreadKind, classify_unread
from agent.scoring.measures import Measure, Rules
from agent.vocabulary import OWN_MAKING, AnswerParser, Instance, Reason, Response, Unscored

MAX_EXAMPLES = 5
"""Examples that are kept of each kind."""

MANY = 0.05
"""If more than this share of a run's answers is unread, its kinds and examples are shown without being asked for."""


@dataclass(frozen=True, slots=True)
class UnreadAnswer:
    """An unread answer, with the position of its instance in the benchmark."""

    position: int
    instance: Instance
    response: Response


@dataclass(slots=True)
class UnreadGroup:
    """The unread answers of one kind under one metric.

    Attributes:
        metric: the name of the measure.
        reason: why they have no score.
        kind: what they have in common; None if it cannot be told, because the texts were purged.
        count: their number.
        examples: the first of them that have a text.
    """

    metric: str
    reason: Reason
    kind: UnreadKind | None
    count: int = 0
    examples: list[UnreadAnswer] = field(default_factory=list)


class UnreadAnswers:
    """The unread answers of a run."""

    def __init__(self, rules: Rules) -> None:
        self._parser = rules.parser
        self._groups: dict[tuple[str, Reason, str], UnreadGroup] = {}
        self._asked: dict[str, int] = {}

    def add(
        self,
        measure: Measure,
        position: int,
        instance: Instance | None,
        response: Response | None,
        score: object,
    ) -> None:
        """Add the score of the instance at `position` under a measure.

        The texts are None if they were purged, and the response is None if the server sent none.
        """
        self._asked[measure.name] = self._asked.get(measure.name, 0) + 1
        if not isinstance(score, Unscored) or score.reason not in OWN_MAKING:
            return
        kind = KIND_BY_REASON.get(score.reason)
        if instance is not None and response is not None:
            kind = classify_answer(self._parser, measure, instance, response, score.reason)
        key = (measure.name, score.reason, kind.name if kind else "")
        group = self._groups.setdefault(key, UnreadGroup(measure.name, score.reason, kind))
        group.count += 1
        if len(group.examples) < MAX_EXAMPLES and instance and response and response.text.strip():
            group.examples.append(UnreadAnswer(position, instance, response))

    def list_groups(self, metric: str | None = None) -> list[UnreadGroup]:
        """Return the groups of a metric, or of all, by metric and with the largest first."""
        groups = [group for group in self._groups.values() if metric in (None, group.metric)]
        metrics = list(self._asked)
        return sorted(groups, key=lambda group: (metrics.index(group.metric), -group.count))

    def count(self, metric: str) -> int:
        """Return the number of unread answers under a metric."""
        return sum(group.count for group in self.list_groups(metric))

    def has_many(self, metric: str) -> bool:
        """Return whether more than `MANY` of the answers are unread under a metric."""
        return self.count(metric) > MANY * self._asked.get(metric, 0)

    def get_asked(self, metric: str) -> int:
        """Return the number of instances that were asked."""
        return self._asked.get(metric, 0)


def classify_answer(
    parser: AnswerParser, measure: Measure, instance: Instance, response: Response, reason: Reason
) -> UnreadKind:
    """Return the kind of an unread answer."""
    kind = get_value_kind(measure.use, instance)
    options: tuple[str, ...] = ()
    if kind == "option":
        options = tuple(reference.text for reference in instance.references)
    if reason == Reason.UNPARSED and response.finish_reason == "length":
        reason = Reason.LENGTH  # the result may be in the part that is missing
    return classify_unread(reason, response.text, parser, kind, options)


def choose_examples(
    groups: list[UnreadGroup], limit: int
) -> Iterator[tuple[UnreadGroup, UnreadAnswer]]:
    """Yield up to `limit` examples: the first of every group, then the second of every group, and so on."""
    chosen = 0
    for index in range(MAX_EXAMPLES):
        for group in groups:
            if index < len(group.examples) and chosen < limit:
                chosen += 1
                yield group, group.examples[index]
