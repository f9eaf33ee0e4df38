"""Compute metrics from stored answers: in batches, or in several processes.

Call `bind_encoder` where rules are made, before any question is asked; `compute_later_scores` once the answers are
stored.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.metrics import Means, bert_score, rouge
from agent.metrics.rouge_workers import RougeWorkers
from agent.scoring.measures import Measure, Rules
from agent.scoring.score import select_answer
from agent.vocabulary import Instance, Response, Score, Unscored

AnsweredInstance = tuple[int, Instance, Response]  # with the instance's position
_Key = tuple[int, str]  # position, and the measure's name

BATCH_CASES = 256
BATCH_CHARACTERS = 300_000  # of answers and references in a batch: some 70,000 tokens, 200 MB of an encoder's vectors


def bind_encoder(rules: Rules, means: Means) -> Rules:
    """Return the rules with the encoder that their metrics are measured by: its digest and layer are part of them.

    Raises:
        BenchmarkError: a metric needs an encoder, and the site has none that can be used; names the remedy.
    """
    measures = []
    for measure in rules.measures:
        needs_encoder = measure.use.name in bert_score.NAMES
        use = bert_score.with_encoder(measure.use, means) if needs_encoder else measure.use
        measures.append(replace(measure, use=use))
    return replace(rules, measures=tuple(measures))


def compute_later_scores(
    rules: Rules, cases: Iterable[AnsweredInstance], means: Means | None = None
) -> Iterator[tuple[int, str, Score | Unscored]]:
    """Yield (position, measure's name, value) for every case and every measure of `rules` that is computed later.

    Values come in the order of the cases, with one batch in memory at a time. An answer that cannot be scored (blank,
    cut off within its thoughts) comes with its reason.

    Raises:
        BenchmarkError: a metric needs an encoder, and the site has none that can be used.
    """
    means = means or Means()
    measures = [measure for measure in rules.measures if measure.later]
    if not measures:
        return
    with RougeWorkers(means.workers) as workers:
        for batch in _split_into_batches(cases):
            yield from _score_batch(rules, measures, batch, workers, means)


def _score_batch(
    rules: Rules,
    measures: list[Measure],
    batch: list[AnsweredInstance],
    workers: RougeWorkers,
    means: Means,
) -> Iterator[tuple[int, str, Score | Unscored]]:
    scores: dict[_Key, Score | Unscored] = {}
    rouge_comparisons: dict[_Key, rouge.RougeComparison] = {}
    bert_comparisons: dict[_Key, bert_score.BertScoreComparison] = {}
    for position, instance, response in batch:
        for measure in measures:
            key = (position, measure.name)
            answer = select_answer(rules, response, measure.rules)
            if isinstance(answer, Unscored):
                scores[key] = answer
                continue
            if measure.use.name in bert_score.NAMES:
                bert_comparisons[key] = bert_score.build_comparison(answer, instance, measure.rules)
                continue
            comparison = rouge.build_comparison(measure.use, answer, instance, measure.rules)
            if isinstance(comparison, Unscored):
                scores[key] = comparison
            else:
                rouge_comparisons[key] = comparison
    # Other processes may compute ROUGE while this one runs the encoder.
    wait_for_rouge = workers.begin(list(rouge_comparisons.values()))
    scores |= _compute_bert_scores(measures, bert_comparisons, means)
    scores |= zip(rouge_comparisons, wait_for_rouge(), strict=True)
    for position, _, _ in batch:
        for measure in measures:
            yield position, measure.name, scores[position, measure.name]


def _compute_bert_scores(
    measures: list[Measure], comparisons: dict[_Key, bert_score.BertScoreComparison], means: Means
) -> dict[_Key, Score | Unscored]:
    """Compare each pair of texts once: precision, recall and F1 come together, for all measures that ask for them."""
    if not comparisons:
        return {}
    distinct = list(dict.fromkeys(comparisons.values()))
    triples = dict(zip(distinct, bert_score.triples(distinct, means), strict=True))
    index_by_measure = {}
    for measure in measures:
        if measure.use.name in bert_score.NAMES:
            index_by_measure[measure.name] = bert_score.NAMES.index(measure.use.name)
    scores: dict[_Key, Score | Unscored] = {}
    for (position, name), comparison in comparisons.items():
        triple = triples[comparison]
        if isinstance(triple, Unscored):
            scores[position, name] = triple
        else:
            scores[position, name] = triple[index_by_measure[name]]
    return scores


def _split_into_batches(cases: Iterable[AnsweredInstance]) -> Iterator[list[AnsweredInstance]]:
    batch: list[AnsweredInstance] = []
    characters = 0
    for case in cases:
        _, instance, response = case
        batch.append(case)
        characters += len(response.text) + sum(
            len(reference.text) for reference in instance.references
        )
        if len(batch) >= BATCH_CASES or characters >= BATCH_CHARACTERS:
            yield batch
            batch = []
            characters = 0
    if batch:
        yield batch
