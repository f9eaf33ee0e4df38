"""BERTScore: refused without its packages and its encoder; what is compared, and within what range."""

import pytest

from agent.errors import BenchmarkError
from agent.metrics import METRICS, Means, MetricUse, bert_score, check_available
from agent.metrics.bert_score import BertScoreComparison, build_comparison
from agent.metrics.encoder import TextComparison
from agent.metrics.encoder_folder import EncoderFolder, encoder_folder
from agent.vocabulary import Instance, Message, Reference


def test_a_benchmark_with_bertscore_is_refused_until_extra_and_encoder_are_there(
    folder, monkeypatch
):
    uses = [MetricUse("exact_match"), MetricUse("BERTScore-R")]
    monkeypatch.setattr(bert_score, "missing_packages", lambda: ("torch", "transformers"))
    with pytest.raises(
        BenchmarkError, match="own: BERTScore needs torch and transformers"
    ) as refused:
        check_available("own", uses, Means(folder))
    assert "pip install" in refused.value.advice
    monkeypatch.setattr(bert_score, "missing_packages", lambda: ())
    with pytest.raises(
        BenchmarkError, match="own: BERTScore needs an encoder, and none is set"
    ) as refused:
        check_available("own", uses)
    assert "bertscore_model" in refused.value.advice
    check_available("own", uses, Means(folder))
    check_available("own", uses[:1])


def test_the_encoder_is_part_of_the_metric(folder, extra):
    use = bert_score.with_encoder(MetricUse("BERTScore-F"), Means(folder))
    assert use.options == {"encoder": f"sha256:{encoder_folder(folder).digest}", "layer": "5"}


def test_what_is_compared_by_either_rules():
    references = (Reference("{right}", True), Reference("wrong", False), Reference(" ", True))
    instance = Instance("1", "1", (Message("user", "?"),), references)
    assert build_comparison("{an answer} ", instance, "intramural") == BertScoreComparison(
        "{an answer} ", ("{right}",), "intramural"
    )
    # HELM takes every reference, and an outer brace from each text.
    assert build_comparison("{an answer} ", instance, "helm") == BertScoreComparison(
        "an answer", ("right", "wrong", " "), "helm"
    )


def test_an_encoders_figures_are_the_best_of_each_and_within_their_range(
    monkeypatch, folder, extra
):
    class Encoder:
        def compare(self, comparisons):
            assert comparisons == [TextComparison("a", ("b", "c"), is_cut=False)]
            return [[(0.2, 0.9, -0.1), (1.0000001, 0.3, 0.4)]]

    monkeypatch.setattr(bert_score, "_load_encoder", lambda encoder, threads: Encoder())
    assert isinstance(bert_score.check("own", Means(folder)), EncoderFolder)
    assert bert_score.triples(
        [BertScoreComparison("a", ("b", "c"), "intramural")], Means(folder)
    ) == [(1.0, 0.9, 0.4)]


def test_bertscore_is_measured_later():
    assert all(METRICS[name].later for name in bert_score.NAMES)
