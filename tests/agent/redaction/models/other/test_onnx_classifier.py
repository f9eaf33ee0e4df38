"""Token classifiers in ONNX format: what they find and where, and folders that are refused by file and reason."""

import json
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import TensorProto, external_data_helper
from onnxruntime.quantization import QuantType, quantize_dynamic

from agent.errors import RedactionError
from agent.redaction.engine import build_engine
from agent.redaction.models.other import open_model
from agent.redaction.models.other.onnx_classifier import OnnxClassifier
from agent.redaction.policy.policy import load_policy, replace_models
from agent.redaction.redacted import Withheld
from tests.agent.redaction.models.other.deadlines import deadline
from tests.agent.redaction.models.other.tiny_onnx import (
    LABELS,
    NAMES,
    VOCABULARY,
    make_byte_tokenizer,
    make_logits,
    make_model,
    make_word_tokenizer,
    write_config,
    write_folder,
)


def open_tiny(folder: Path, odds: float = 1, seconds: float = 10) -> OnnxClassifier:
    made = open_model("onnx", folder, {}, ["en"], deadline(seconds), odds)
    assert isinstance(made, OnnxClassifier)
    return made


def find(model: OnnxClassifier, text: str) -> list[tuple[str, str]]:
    results = model.analyze(text, [])
    return [(result.entity_type, text[result.start : result.end]) for result in results]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="module")
def opened(tiny: Path) -> OnnxClassifier:
    return open_tiny(tiny, seconds=600)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Xochitl was seen in Lodz.", [("NAME", "Xochitl"), ("LOCATION", "Lodz")]),
        ("the dose of Kowalwski.", [("NAME", "Kowalwski")]),  # a part of a word takes it whole
        ("😀😀 患者 \U0001d49c Xochitl, ﬁn", [("NAME", "Xochitl")]),  # more bytes than characters
        ("Łódź Xóchitl was seen", [("NAME", "Xóchitl")]),
        ("Xo\u0301chitl\u0301 dose", [("NAME", "Xo\u0301chitl\u0301")]),  # accents of their own
        ("\u200bXochitl\x0b", [("NAME", "Xochitl")]),
        ("[CLS] Xochitl [SEP]", [("NAME", "Xochitl")]),
        ("the naive dose", []),
        (" \n ", []),
        ("", []),
    ],
)
def test_whole_words_are_found_where_they_are(tiny: Path, text: str, found: list[tuple[str, str]]):
    assert find(open_tiny(tiny), text) == found


@given(before=st.text(max_size=40), after=st.text(max_size=40))
def test_a_name_is_found_among_any_characters(opened: OnnxClassifier, before: str, after: str):
    text = f"{before} Xochitl {after}"
    start = len(before) + 1
    spans = [(result.start, result.end) for result in opened.analyze(text, [])]
    assert (start, start + len("Xochitl")) in spans


def test_a_name_is_found_wherever_it_stands_in_a_long_text(tiny: Path):
    model = open_tiny(tiny)
    for place in range(0, 200, 3):
        words = ["the"] * 200
        words[place] = "Xochitl"
        text = " ".join(words)
        (result,) = model.analyze(text, [])
        assert (result.start, result.end) == (4 * place, 4 * place + 7)


def test_tokens_that_are_parts_of_a_character_take_its_word(tmp_path: Path):
    tokenizer = make_byte_tokenizer()
    vocabulary = sorted(tokenizer.get_vocab(), key=lambda token: tokenizer.get_vocab()[token])
    last_byte_of_u = "¼"  # ü is C3 BC
    folder = write_folder(tmp_path / "bytes")
    tokenizer.save(str(folder / "tokenizer.json"))
    logits = make_logits(vocabulary, {last_byte_of_u: (0.9, "B-PATIENT")})
    onnx.save(make_model(logits), folder / "model.onnx")
    text = "😀 naïve 患者 Müller Zoë"
    assert find(open_tiny(folder), text) == [("NAME", "Müller")]


@pytest.mark.parametrize(
    ("thresholds", "odds", "found"),
    [
        (None, 1, ["Lodz"]),
        ({}, 1, ["Lodz"]),
        ({"default": 0.2}, 1, ["Maybe", "Lodz"]),
        ({"PATIENT": 0.2}, 1, ["Maybe", "Lodz"]),
        ({"default": 0.2, "city": 0.7}, 1, ["Maybe"]),
        (None, 0.1, ["Maybe", "Lodz"]),
        (None, 10, []),
    ],
)
def test_a_threshold_and_the_odds_decide_what_is_taken(
    tmp_path: Path, thresholds: dict[str, object] | None, odds: float, found: list[str]
):
    folder = write_folder(tmp_path / "tiny", thresholds)
    assert [word for _, word in find(open_tiny(folder, odds), "Maybe in Lodz.")] == found


def test_a_model_in_int8_finds_the_same(tiny: Path, tmp_path: Path):
    folder = write_folder(tmp_path / "int8")
    quantize_dynamic(tiny / "model.onnx", folder / "model.onnx", weight_type=QuantType.QInt8)
    operators = {node.op_type for node in onnx.load(folder / "model.onnx").graph.node}
    assert "MatMulInteger" in operators
    text = "Xochitl was seen in Lodz and the dose of Kowalwski."
    assert find(open_tiny(folder), text) == find(open_tiny(tiny), text)


def test_one_thread_runs_the_model(tiny: Path):
    before = len(list(Path("/proc/self/task").iterdir()))
    model = open_tiny(tiny)
    find(model, "Xochitl was seen. " * 100)
    session = model._network._session
    options = session.get_session_options()
    assert (options.intra_op_num_threads, options.inter_op_num_threads) == (1, 1)
    assert session.get_providers() == ["CPUExecutionProvider"]
    assert len(list(Path("/proc/self/task").iterdir())) == before


PROBE = """
import sys
from pathlib import Path
from agent.redaction.deadline import Deadline
from agent.redaction.models.other import open_model

events = []
sys.addaudithook(lambda name, args: events.append(name) if name.startswith("socket.connect") else None)
deadline = Deadline()
deadline.start(60)
model = open_model("onnx", Path(sys.argv[1]), {}, ["en"], deadline)
print(len(model.analyze("Xochitl was seen", [])), events)
"""


def test_opening_and_using_a_model_reaches_for_no_network_and_writes_no_file(
    tiny: Path, tmp_path: Path
):
    files = {path: path.read_bytes() for path in tiny.iterdir()}
    # The files are those of onnxruntime's telemetry, whose own connections no hook of Python's sees.
    environment = {**os.environ, "HOME": str(tmp_path), "TMPDIR": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY")
    done = subprocess.run(
        [sys.executable, "-c", PROBE, str(tiny)],
        capture_output=True, text=True, env=environment, check=False,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("1 []", "")
    assert list(tmp_path.iterdir()) == []
    assert {path: path.read_bytes() for path in tiny.iterdir()} == files


def test_a_deadline_that_passed_ends_the_analysis(tiny: Path):
    model = open_tiny(tiny, seconds=1e-9)
    with pytest.raises(TimeoutError):
        model.analyze("Xochitl was seen.", [])


def write_wrong_label(folder: Path) -> None:
    write_config(folder, ["O", "B-PATIENT", "I-PATIENT", "B-WARDNICKNAME"])


def write_too_many_labels(folder: Path) -> None:
    write_config(folder, [*LABELS, "I-CITY"])


def write_inputs(**inputs: tuple[int, tuple[int | str, ...]]) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        onnx.save(make_model(make_logits(VOCABULARY, NAMES), inputs), folder / "model.onnx")

    return write


def write_output(kind: int, *shape: int | str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        made = make_model(make_logits(VOCABULARY, NAMES), output=(kind, shape))
        onnx.save(made, folder / "model.onnx")

    return write


def write_text(name: str, content: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).write_text(content)  # type: ignore[return-value]


def remove(name: str) -> Callable[[Path], None]:
    return lambda folder: (folder / name).unlink()


def write_other_tokenizer(folder: Path) -> None:
    tokenizer = make_word_tokenizer()
    tokenizer.add_tokens([f"extra{number}" for number in range(9)])
    tokenizer.save(str(folder / "tokenizer.json"))


def write_not_a_number(folder: Path) -> None:
    logits = make_logits(VOCABULARY, NAMES)
    logits[:] = np.nan
    onnx.save(make_model(logits), folder / "model.onnx")


TOKENS = (TensorProto.INT64, ("batch", "tokens"))


@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (remove("model.onnx"), r"model\.onnx is missing; expected a model in ONNX format"),
        (write_text("model.onnx", "gout"), r"model\.onnx: expected a model in ONNX format that"),
        (write_text("model.onnx", ""), r"model\.onnx: "),
        (remove("tokenizer.json"), r"tokenizer\.json is missing; expected a tokenizer"),
        (write_text("tokenizer.json", "{}"), r"tokenizer\.json: expected a tokenizer as"),
        (write_other_tokenizer, r"tokenizer\.json: expected the tokenizer of model\.onnx.* token 28"),
        (remove("config.json"), r"config\.json is missing; expected a JSON object"),
        (write_text("config.json", "[]"), r"config\.json: expected a JSON object"),
        (write_text("config.json", "{}"), r"config\.json: expected id2label with a label for each"),
        (write_text("config.json", '{"id2label": {"0": "O", "2": "NAME"}}'), "expected id2label"),
        (write_text("config.json", '{"id2label": {"0": "O", "1": 7}}'), "expected id2label"),
        (lambda folder: write_config(folder, ["O", "O", "B-CITY", "NAME"]), "each label once"),
        (lambda folder: write_config(folder, ["NAME", "DATE", "CITY", "AGE"]), "such as O"),
        (lambda folder: write_config(folder, max_position_embeddings="9"), "a whole number"),
        (lambda folder: write_config(folder, max_position_embeddings=10), "at least 16 tokens"),
        (lambda folder: write_config(folder, max_position_embeddings=99), "fails on 97 tokens"),
        (write_wrong_label, "the policy does not map the model's labels B-WARDNICKNAME"),
        (write_too_many_labels, r"model\.onnx: output logits has the shape .* the 5 labels of"),
        (write_text("thresholds.json", "0.5"), r"thresholds\.json: expected a JSON object"),
        (write_text("thresholds.json", '{"PERSON": 0.5}'), r"without B- and I- \(CITY, O, PATIENT\)"),
        (write_text("thresholds.json", '{"CITY": 1}'), r"thresholds\.json: CITY: expected a number"),
        (write_text("thresholds.json", '{"CITY": NaN}'), "expected a number above 0 and below 1"),
        (write_text("thresholds.json", '{"CITY": true}'), "expected a number above 0 and below 1"),
        (write_inputs(input_ids=TOKENS, pixels=TOKENS), r"model\.onnx: unknown input pixels"),
        (write_inputs(input_ids=(TensorProto.INT64, (1, 8))), r"\[1, 8\]; expected \[batch, tokens\]"),
        (write_inputs(input_ids=(TensorProto.INT64, (4, "tokens"))), r"has the shape \[4, 'tokens'\]"),
        (
            write_inputs(input_ids=TOKENS, attention_mask=(TensorProto.FLOAT, ("b", "t"))),
            r"attention_mask is a tensor\(float\); expected tensor\(int64\)",
        ),
        (write_output(TensorProto.INT64, "b", "t", 4), r"output logits is a tensor\(int64\)"),
        (write_output(TensorProto.FLOAT, "b", "t", "l"), None),
        (write_output(TensorProto.FLOAT16, "b", "t", "l"), None),
        (write_inputs(input_ids=(TensorProto.INT32, ("b", "t"))), None),
        (write_not_a_number, r"model\.onnx: .* something that is not a number"),
        (write_text("pytorch_model.bin", ""), r"pytorch_model\.bin: expected no pickle"),
        (write_text("weights.PT", ""), r"weights\.PT: expected no pickle in the folder"),
    ],
)  # fmt: skip
def test_a_malformed_folder_is_refused_by_file(
    tmp_path: Path, damage: Callable[[Path], None], said: str | None
):
    folder = write_folder(tmp_path / "tiny")
    damage(folder)
    if said is None:
        assert find(open_tiny(folder), "Xochitl was seen.") == [("NAME", "Xochitl")]
        return
    with pytest.raises(RedactionError, match=said) as refused:
        open_tiny(folder)
    assert str(refused.value).startswith("model onnx:tiny: ")


def test_more_labels_than_outputs_are_noticed_when_the_model_states_no_shape(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("agent.redaction.models.other.onnx_classifier._is_shaped", lambda *_: True)
    folder = write_folder(tmp_path / "tiny")
    write_too_many_labels(folder)
    with pytest.raises(RedactionError, match=r"\[1, \d+, 4\]; expected \[1, \d+, 5\] for"):
        open_tiny(folder)


class _Bomb:
    def __reduce__(self) -> tuple[object, tuple[str, ...]]:
        return os.mkdir, (os.environ["EXPLODED"],)


def test_a_pickle_under_the_name_of_a_model_is_refused_unread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    exploded = tmp_path / "exploded"
    monkeypatch.setenv("EXPLODED", str(exploded))
    folder = write_folder(tmp_path / "tiny")
    (folder / "model.onnx").write_bytes(pickle.dumps(_Bomb()))
    with pytest.raises(RedactionError, match=r"model\.onnx: expected a model in ONNX format"):
        open_tiny(folder)
    assert not exploded.exists()


@pytest.mark.parametrize("where", ["above", "absolute", "linked"])
def test_weights_outside_the_folder_are_refused(tmp_path: Path, where: str):
    folder = write_folder(tmp_path / "tiny")
    made = onnx.load(folder / "model.onnx")
    external_data_helper.convert_model_to_external_data(
        made, location="weights.data", size_threshold=0
    )
    onnx.save(made, folder / "model.onnx")
    assert find(open_tiny(folder), "Xochitl") == [("NAME", "Xochitl")]
    (folder / "weights.data").rename(tmp_path / "weights.data")
    if where == "linked":
        (folder / "weights.data").symlink_to(tmp_path / "weights.data")
    locations = {"above": "../weights.data", "absolute": str(tmp_path / "weights.data")}
    for tensor in made.graph.initializer:
        for entry in tensor.external_data:
            if entry.key == "location":
                entry.value = locations.get(where, "weights.data")
    (folder / "model.onnx").write_bytes(made.SerializeToString())
    with pytest.raises(RedactionError, match=r"model\.onnx: expected"):
        open_tiny(folder)


def test_a_model_is_united_with_the_rules_and_a_failing_one_withholds(
    tiny: Path, monkeypatch: pytest.MonkeyPatch
):
    policy = load_policy("hipaa_safe_harbor", None, "en")
    model = {"kind": "onnx", "path": str(tiny)}
    engine = build_engine(replace_models(policy, ["shipped", model]))
    text = "potassium normal, xochitl. MRN: 00451234"
    assert engine.redact(text) == "potassium normal, [NAME-1]. MRN: [MRN-1]"
    monkeypatch.setattr(OnnxClassifier, "_label_tokens", lambda *_: 1 / 0)
    assert (
        engine.redact("a text that was not seen before") == f"[WITHHELD: {Withheld.ENGINE_ERROR}]"
    )


def test_labels_of_a_policy_explain_those_of_the_model(tmp_path: Path):
    folder = write_folder(tmp_path / "tiny")
    write_wrong_label(folder)
    made = open_model("onnx", folder, {"WARDNICKNAME": "FACILITY"}, ["en"], deadline())
    (result,) = made.analyze("seen in Lodz", [])
    assert result.entity_type == "FACILITY"
    assert json.loads((folder / "config.json").read_text())["id2label"]["3"] == "B-WARDNICKNAME"
