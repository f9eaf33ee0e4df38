"""BERTScore is that of the package bert-score, for encoders of several kinds; where the package fails, ours goes on."""

import json
from pathlib import Path

import pytest

from agent.errors import ConfigError
from agent.metrics import Means
from agent.metrics.bert_score import BertScoreComparison, Triple, build_comparison, check, triples
from agent.vocabulary import Instance, Message, Reason, Reference, Unscored
from tests.extras.encoders import WORDS, invented_encoder, pairs, real_encoder

LONG = " ".join(WORDS * 17)  # more than 512 tokens


@pytest.fixture(scope="module", params=["distilbert", "roberta"])
def invented(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return invented_encoder(tmp_path_factory.mktemp("encoder") / request.param, request.param)


def means(layer: int | None = 6, folder: Path | None = None) -> Means:
    return Means(folder or real_encoder(), layer, 2)


def theirs(
    answers: list[str], golds: list[str] | list[list[str]], folder: Path, layer: int
) -> list[Triple]:
    """Ask the package, a pair at a time: in a batch, its padding can stand for a token that is like nothing."""
    from bert_score import BERTScorer

    scorer = BERTScorer(model_type=str(folder), num_layers=layer, batch_size=1)
    columns = scorer.score(answers, golds, batch_size=1)
    return [tuple(map(float, row)) for row in zip(*columns, strict=True)]


def ours(made: list[tuple[str, str]], folder: Path, layer: int) -> list[Triple | Unscored]:
    return triples(
        [BertScoreComparison(answer, (gold,), "helm") for answer, gold in made],
        means(layer, folder),
    )


def assert_same(found: list[Triple | Unscored], expected: list[Triple]) -> None:
    assert len(found) == len(expected)
    for mine, other in zip(found, expected, strict=True):
        assert mine == pytest.approx(other, abs=1e-5)


@pytest.mark.parametrize("layer", [1, 6])
def test_a_real_encoder_gives_the_packages_figures(layer):
    made = pairs(12)
    assert_same(
        ours(made, real_encoder(), layer),
        theirs([a for a, _ in made], [g for _, g in made], real_encoder(), layer),
    )


@pytest.mark.parametrize("layer", [1, 3])
def test_encoders_of_other_kinds_give_the_packages_figures(invented, layer):
    made = pairs(15, 3, most=20)
    assert_same(
        ours(made, invented, layer),
        theirs([a for a, _ in made], [g for _, g in made], invented, layer),
    )


def test_by_helms_rules_a_long_text_is_cut_off_where_the_package_cuts_it(invented):
    for folder, layer in ((real_encoder(), 2), (invented, 2)):
        made = [(LONG, "chest pain"), ("no acute abnormality", LONG), (LONG, LONG[200:])]
        assert_same(
            ours(made, folder, layer),
            theirs([a for a, _ in made], [g for _, g in made], folder, layer),
        )


def test_the_best_of_several_references_is_the_packages():
    golds = ["left lower lobe", "chest pain with breath", "follow up"]
    (found,) = triples(
        [BertScoreComparison("follow up in two weeks", tuple(golds), "helm")], means()
    )
    assert_same([found], theirs(["follow up in two weeks"], [golds], real_encoder(), 6))


def test_by_our_rules_the_end_of_a_long_answer_counts():
    other = f"{LONG} headache"
    by_us = triples(
        [BertScoreComparison(text, (LONG,), "intramural") for text in (LONG, other)], means()
    )
    by_helm = triples(
        [BertScoreComparison(text, (LONG,), "helm") for text in (LONG, other)], means()
    )
    assert by_us[0] == pytest.approx((1, 1, 1), abs=1e-5)
    assert by_us[1][0] < by_us[0][0] - 1e-4
    assert by_helm[1] == pytest.approx(by_helm[0], abs=1e-6)


def test_a_text_that_fits_has_the_same_figures_by_both_rules():
    made = pairs(6, 5)
    by_us = triples([BertScoreComparison(a, (g,), "intramural") for a, g in made], means())
    assert_same(by_us, ours(made, real_encoder(), 6))


def test_a_pairs_figures_do_not_depend_on_its_neighbours():
    made = [*pairs(12, 8), (LONG, LONG[100:])]
    together = triples([BertScoreComparison(a, (g,), "intramural") for a, g in made], means())
    for pair, figures in list(zip(made, together, strict=True))[::4]:
        (alone,) = triples([BertScoreComparison(pair[0], (pair[1],), "intramural")], means())
        assert alone == pytest.approx(figures, abs=1e-5)


def test_blank_answers_and_references_fail_nobody():
    """The package fails on both with transformers 5."""
    asked = [
        BertScoreComparison("", ("chest pain",), "helm"),
        BertScoreComparison("chest pain", ("",), "helm"),
        BertScoreComparison("chest pain", ("", "chest pain"), "helm"),
        BertScoreComparison("\x07", ("chest pain",), "intramural"),
        BertScoreComparison("chest pain", ("\x07",), "intramural"),
        BertScoreComparison("chest pain", (), "intramural"),
        BertScoreComparison("chest pain", ("\x07", "chest pain"), "intramural"),
    ]
    zero, one = (0.0, 0.0, 0.0), pytest.approx((1, 1, 1), abs=1e-5)
    no_reference, unread = Unscored(Reason.NO_REFERENCE), Unscored(Reason.UNPARSED)
    assert triples(asked, means()) == [zero, zero, one, unread, no_reference, no_reference, one]


def test_a_reference_of_unknown_characters_is_none():
    instance = Instance(
        "1", "1", (Message("user", "?"),), (Reference("𓀀 𓀁 𓀂", True), Reference("no", False))
    )
    assert triples([build_comparison("𓂀", instance, "intramural")], means()) == [
        Unscored(Reason.NO_REFERENCE)
    ]
    (by_helm,) = triples([build_comparison("no", instance, "helm")], means())
    assert by_helm[2] == pytest.approx(1, abs=1e-5)  # a reference that is marked wrong counts there


def test_the_encoder_is_loaded_once(monkeypatch):
    import transformers

    from agent.metrics import bert_score

    bert_score._load_encoder.cache_clear()
    loads = []
    load = transformers.AutoModel.from_pretrained
    monkeypatch.setattr(
        transformers.AutoModel,
        "from_pretrained",
        lambda *args, **more: loads.append(args) or load(*args, **more),
    )
    for _ in range(3):
        triples([BertScoreComparison("chest pain", ("pain",), "intramural")], means(3))
    assert len(loads) == 1


def changed(folder: Path, name: str, **values: object) -> None:
    settings = json.loads((folder / name).read_text())
    (folder / name).write_text(json.dumps(settings | values))


@pytest.fixture
def own(tmp_path: Path) -> Path:
    return invented_encoder(tmp_path / "encoder", "distilbert")


def refused(folder: Path) -> str:
    check("own", means(2, folder))  # what is looked at without loading is whole
    with pytest.raises(ConfigError, match=r"^bertscore_model: ") as error:
        triples([BertScoreComparison("chest pain", ("pain",), "intramural")], means(2, folder))
    return str(error.value)


def test_a_folder_that_cannot_be_loaded_says_so(own):
    (own / "tokenizer.json").write_text("{}")
    assert "cannot be loaded" in refused(own)


@pytest.mark.parametrize(
    ("kept", "lacking"),
    [
        (lambda name: f"wrong.{name}", "embeddings.LayerNorm.bias"),
        (
            lambda name: None if ".layer.1." in name else name,
            "transformer.layer.1.attention.k_lin.bias",
        ),
        (
            lambda name: None if name == "embeddings.word_embeddings.weight" else name,
            "embeddings.word_embeddings.weight",
        ),
    ],
)
def test_weights_of_another_model_or_without_a_layer_are_refused_not_filled_with_random_numbers(
    own, kept, lacking
):
    from safetensors.torch import load_file, save_file

    weights = load_file(own / "model.safetensors")
    renamed = {kept(name): tensor for name, tensor in weights.items() if kept(name)}
    save_file(renamed, own / "model.safetensors", {"format": "pt"})
    assert f"such as {lacking}" in refused(own)


def test_a_config_of_more_layers_than_the_weights_have_is_refused(own):
    changed(own, "config.json", n_layers=6)
    assert "such as transformer.layer.3." in refused(own)


def test_damaged_weights_give_no_figures(own):
    import torch
    from safetensors.torch import load_file, save_file

    weights = load_file(own / "model.safetensors")
    weights["transformer.layer.0.ffn.lin1.bias"] = torch.full((64,), torch.nan)
    save_file(weights, own / "model.safetensors", {"format": "pt"})
    assert "vectors are not numbers" in refused(own)


@pytest.mark.parametrize("tokens", [2, 3, 15, -1, "many"])
def test_a_tokenizer_that_takes_next_to_no_text_is_refused(own, tokens):
    changed(own, "tokenizer_config.json", model_max_length=tokens)
    assert "accepts fewer than 16 tokens" in refused(own)
