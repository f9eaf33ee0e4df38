"""Compute metrics from stored answers, in batches or in several processes.

Call `bind_encoder` when the rules are built, before any question is asked. Call `compute_later_scores` once the
answers are stored.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.metrics import Means, bert_score, rouge
from agent.metrics.rouge_workers import RougeWorkers
from agent.scoring.measures import Measure, Rules
from agent.scoring.score import select_answer
from agent.vocabulary import Instance, Response, Score, Unscored

AnsweredInstance = tuple[int, Instance, Response]  # position, instance and its response
_Key = tuple[int, str]  # position, and the measure's name

BATCH_CASES = 256
# Answers and references per batch: about 70,000 tokens, or 200 MB of vectors.
BATCH_CHARACTERS = 300_000


def bind_encoder(rules: Rules, means: Means) -> Rules:
    """Return the rules with the digest and layer of the site's encoder in the options of metrics that need one.

    Raises:
        BenchmarkError: a metric needs an encoder and the site has no usable one; the advice names the remedy.
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
    """Yield (position, name of the measure, value) for every instance and every measure that is computed later.

    Values are in the order of the instances, and only one batch is in memory at a time. For an answer that cannot be
    scored, because it is blank or was cut off during its reasoning, the value is the reason.

    Raises:
        BenchmarkError: a metric needs an encoder and the site has no usable one.
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
    # Other processes can compute ROUGE while this one runs the encoder.
    wait_for_rouge = workers.begin(list(rouge_comparisons.values()))
    scores |= _compute_bert_scores(measures, bert_comparisons, means)
    scores |= zip(rouge_comparisons, wait_for_rouge(), strict=True)
    for position, _, _ in batch:
        for measure in measures:
            yield position, measure.name, scores[position, measure.name]


def _compute_bert_scores(
    measures: list[Measure], comparisons: dict[_Key, bert_score.BertScoreComparison], means: Means
) -> dict[_Key, Score | Unscored]:
    """Score each distinct pair of texts once, because one comparison gives precision, recall and F1 together."""
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
