"""Metrics that are computed from stored answers, once they are there: in batches, or in several processes.

`bind_encoder` is called where rules are made, before anything is asked; `compute_later_scores` when the answers are there.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.metrics import Means, bert_score, rouge
from agent.metrics.rouge_workers import RougeWorkers
from agent.scoring.measures import Measure, Rules
from agent.scoring.score import select_answer
from agent.vocabulary import Instance, Response, Score, Unscored

Case = tuple[int, Instance, Response]  # position, what was asked, what came back

BATCH_CASES = 256
BATCH_CHARACTERS = 300_000  # of answers and references in a batch: some 70,000 tokens, 200 MB of an encoder's vectors


def bind_encoder(rules: Rules, means: Means) -> Rules:
    """Return the rules with what their metrics are measured by: an encoder's digest and layer are part of them.

    Raises:
        BenchmarkError: a metric needs an encoder, and there is none that can be used; says what to do.
    """
    return replace(rules, measures=tuple(_measured_by(measure, means) for measure in rules.measures))


def _measured_by(measure: Measure, means: Means) -> Measure:
    if measure.use.name not in bert_score.NAMES:
        return measure
    return replace(measure, use=bert_score.with_encoder(measure.use, means))


def compute_later_scores(
    rules: Rules, cases: Iterable[Case], means: Means | None = None
) -> Iterator[tuple[int, str, Score | Unscored]]:
    """Yield (position, measure's name, value) for every case and every measure of `rules` that is computed later.

    In the order of the cases, batch by batch: one batch is in memory at a time, and an answer that cannot be scored at
    all (blank, cut off within its thoughts) comes with the reason for that.

    Raises:
        BenchmarkError: an encoder is needed, and there is none that can be used.
    """
    means = means or Means()
    measures = [measure for measure in rules.measures if measure.later]
    if not measures:
        return
    with RougeWorkers(means.workers) as workers:
        for batch in _batches(cases):
            yield from _scores(rules, measures, batch, workers, means)


def _scores(
    rules: Rules, measures: list[Measure], batch: list[Case], workers: RougeWorkers, means: Means
) -> Iterator[tuple[int, str, Score | Unscored]]:
    values: dict[tuple[int, str], Score | Unscored] = {}
    by_words: dict[tuple[int, str], rouge.RougeComparison] = {}
    by_vectors: dict[tuple[int, str], bert_score.BertScoreComparison] = {}
    for position, instance, response in batch:
        for measure in measures:
            key, use = (position, measure.name), measure.use
            answer = select_answer(rules, response, measure.rules)
            if isinstance(answer, Unscored):
                values[key] = answer
            elif use.name in bert_score.NAMES:
                by_vectors[key] = bert_score.comparison(answer, instance, measure.rules)
            elif isinstance(compared := rouge.comparison(use, answer, instance, measure.rules), Unscored):
                values[key] = compared
            else:
                by_words[key] = compared
    figures = workers.begin(list(by_words.values()))  # other processes may compute while this one sees to the encoder
    values |= _by_vectors(measures, by_vectors, means)
    values |= zip(by_words, figures(), strict=True)
    for position, _, _ in batch:
        for measure in measures:
            yield position, measure.name, values[position, measure.name]


def _by_vectors(
    measures: list[Measure], compared: dict[tuple[int, str], bert_score.BertScoreComparison], means: Means
) -> Iterator[tuple[tuple[int, str], Score | Unscored]]:
    """Compare once what several measures of one answer look at: all three figures come together."""
    if not compared:
        return
    once = list(dict.fromkeys(compared.values()))
    triples = dict(zip(once, bert_score.triples(once, means), strict=True))
    place = {
        measure.name: bert_score.NAMES.index(measure.use.name)
        for measure in measures
        if measure.use.name in bert_score.NAMES
    }
    for key, one in compared.items():
        triple = triples[one]
        yield key, triple if isinstance(triple, Unscored) else triple[place[key[1]]]


def _batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    batch: list[Case] = []
    held = 0
    for case in cases:
        _, instance, response = case
        batch.append(case)
        held += len(response.text) + sum(len(reference.text) for reference in instance.references)
        if len(batch) >= BATCH_CASES or held >= BATCH_CHARACTERS:
            yield batch
            batch, held = [], 0
    if batch:
        yield batch
