"""Compute metrics from stored answers, in batches or in several processes.

Call `bind_metrics` when the rules are built, before any question is asked. Call `compute_later_scores` once the
answers are stored.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from agent.metrics import Means, MetricUse, bert_score, rouge
from agent.metrics.own import PREFIX, bind_own_metric, is_own
from agent.metrics.rouge_workers import RougeWorkers
from agent.own_metrics.scorer import OwnMetricScorer
from agent.scoring.measures import Measure, Rules
from agent.scoring.score import select_answer
from agent.vocabulary import Instance, Response, Score, Unscored

AnsweredInstance = tuple[int, Instance, Response]  # position, instance and its response
_Key = tuple[int, str]  # position, and the measure's name
_OwnAnswer = tuple[str, str, Instance]  # name of the site's own metric, and what it scores

BATCH_CASES = 256
# Answers and references per batch: about 70,000 tokens, or 200 MB of vectors.
BATCH_CHARACTERS = 300_000


def bind_metrics(rules: Rules, means: Means) -> Rules:
    """Return the rules with the digests of the site's encoder and own metrics in the options of the metrics.

    Raises:
        BenchmarkError: a metric needs an encoder or code of the site's own, and the site has none that can be used; the
            advice names the remedy.
    """
    measures = []
    for measure in rules.measures:
        measures.append(replace(measure, use=_bind_metric(measure.use, means)))
    return replace(rules, measures=tuple(measures))


def _bind_metric(use: MetricUse, means: Means) -> MetricUse:
    if is_own(use.name):
        return bind_own_metric(use, means)
    if use.name in bert_score.NAMES:
        return bert_score.with_encoder(use, means)
    return use


def compute_later_scores(
    rules: Rules, cases: Iterable[AnsweredInstance], means: Means | None = None
) -> Iterator[tuple[int, str, Score | Unscored]]:
    """Yield (position, name of the measure, value) for every instance and every measure that is computed later.

    Values are in the order of the instances, and only one batch is in memory at a time. For an answer that cannot be
    scored, because it is blank or was cut off during its reasoning, the value is the reason.

    Raises:
        BenchmarkError: a metric needs an encoder or code of the site's own, and the site has none that can be used.
    """
    means = means or Means()
    measures = [measure for measure in rules.measures if measure.later]
    if not measures:
        return
    with RougeWorkers(means.workers) as workers, OwnMetricScorer(means.own_metrics) as own_scorer:
        for batch in _split_into_batches(cases):
            yield from _score_batch(rules, measures, batch, workers, own_scorer, means)
        for fault in own_scorer.describe_faults():
            means.note(fault)


def _score_batch(
    rules: Rules,
    measures: list[Measure],
    batch: list[AnsweredInstance],
    workers: RougeWorkers,
    own_scorer: OwnMetricScorer,
    means: Means,
) -> Iterator[tuple[int, str, Score | Unscored]]:
    scores: dict[_Key, Score | Unscored] = {}
    rouge_comparisons: dict[_Key, rouge.RougeComparison] = {}
    bert_comparisons: dict[_Key, bert_score.BertScoreComparison] = {}
    own_answers: dict[_Key, _OwnAnswer] = {}
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
            if measure.is_own:
                own_answers[key] = (measure.use.name, answer, instance)
                continue
            comparison = rouge.build_comparison(measure.use, answer, instance, measure.rules)
            if isinstance(comparison, Unscored):
                scores[key] = comparison
            else:
                rouge_comparisons[key] = comparison
    # Other processes can compute ROUGE while this one runs the encoder or waits for the site's own metrics.
    wait_for_rouge = workers.begin(list(rouge_comparisons.values()))
    scores |= _compute_bert_scores(measures, bert_comparisons, means)
    for key, (name, answer, instance) in own_answers.items():
        scores[key] = own_scorer.score(name.removeprefix(PREFIX), answer, instance)
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
