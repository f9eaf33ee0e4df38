"""Make a language model of a few hundred kilobytes with random weights, as a folder (and a GGUF file).

    python make_tiny_model.py FOLDER [--gguf FILE]

It writes nonsense, but any real server loads it and treats it as it would a real model. Needs torch, transformers
and tokenizers; gguf for the second form. Nothing is downloaded.
"""

import argparse
import json
from pathlib import Path

END = "<|end|>"
MARKS = ["<|pad|>", "<|start|>", END]
CHAT_TEMPLATE = (
    "{% for message in messages %}<|start|>{{ message.role }}\n{{ message.content }}<|end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|start|>assistant\n{% endif %}"
)
CORPUS = [
    "Is the dose of the drug right for a patient of this weight and age? Answer with one letter only.",
    "No fever, no cough; lungs clear on both sides. The swelling of the left knee went down within a week.",
    "0 1 2 3 4 5 6 7 8 9 10 11 12 A. yes B. no C. maybe Question: Answer: Note: word words sky colour blue",
]
CONTEXT = 2048  # tokens


def make(folder: Path) -> None:
    """Write the model's folder. The same on every machine with the same torch."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bpe.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    bpe.train_from_iterator(
        CORPUS,
        trainers.BpeTrainer(
            vocab_size=400, special_tokens=MARKS, initial_alphabet=alphabet, show_progress=False
        ),
    )
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=bpe,
        pad_token=MARKS[0],
        bos_token=MARKS[1],
        eos_token=END,
        model_max_length=CONTEXT,
    )
    tokenizer.chat_template = CHAT_TEMPLATE
    tokenizer.save_pretrained(folder)

    torch.manual_seed(20)
    model = LlamaForCausalLM(
        LlamaConfig(
            vocab_size=len(tokenizer),
            hidden_size=128,
            intermediate_size=256,
            num_hidden_layers=2,
            num_attention_heads=2,
            max_position_embeddings=CONTEXT,
            pad_token_id=tokenizer.pad_token_id,
            bos_token_id=tokenizer.bos_token_id,
            eos_token_id=tokenizer.eos_token_id,
        )
    )
    with torch.no_grad():  # sharper than fresh weights, so that temperature 0 has clear winners
        model.lm_head.weight *= 20
        model.lm_head.weight[tokenizer.eos_token_id] = 0  # and long answers
    # As most chat models say; some servers sample only then.
    model.generation_config.do_sample = True
    model.save_pretrained(folder)


def make_gguf(folder: Path, file: Path) -> None:
    """Convert the folder for servers of the llama.cpp family."""
    import gguf
    import numpy as np
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = (
        AutoModelForCausalLM.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    config = model.config
    out = gguf.GGUFWriter(str(file), "llama")
    out.add_name("tiny")
    out.add_context_length(config.max_position_embeddings)
    out.add_embedding_length(config.hidden_size)
    out.add_feed_forward_length(config.intermediate_size)
    out.add_block_count(config.num_hidden_layers)
    out.add_head_count(config.num_attention_heads)
    out.add_head_count_kv(config.num_key_value_heads)
    out.add_rope_dimension_count(config.hidden_size // config.num_attention_heads)
    out.add_layer_norm_rms_eps(config.rms_norm_eps)
    out.add_vocab_size(config.vocab_size)
    out.add_file_type(gguf.LlamaFileType.ALL_F32)
    vocabulary = sorted(tokenizer.get_vocab().items(), key=lambda entry: entry[1])
    kinds = gguf.TokenType
    out.add_tokenizer_model("gpt2")
    out.add_tokenizer_pre("gpt-2")
    out.add_token_list([token for token, _ in vocabulary])
    out.add_token_types(
        [kinds.CONTROL if token in MARKS else kinds.NORMAL for token, _ in vocabulary]
    )
    merges = json.loads((folder / "tokenizer.json").read_text("utf-8"))["model"]["merges"]
    out.add_token_merges([merge if isinstance(merge, str) else " ".join(merge) for merge in merges])
    out.add_pad_token_id(tokenizer.pad_token_id)
    out.add_bos_token_id(tokenizer.bos_token_id)
    out.add_eos_token_id(tokenizer.eos_token_id)
    out.add_add_bos_token(False)
    out.add_chat_template(CHAT_TEMPLATE)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA, config.num_hidden_layers)
    for name, tensor in model.state_dict().items():
        values = tensor.float().numpy()
        if (
            ".q_proj." in name or ".k_proj." in name
        ):  # llama.cpp interleaves the halves of its rotary embedding
            heads = config.num_attention_heads
            values = (
                values.reshape(heads, 2, -1, values.shape[1]).swapaxes(1, 2).reshape(values.shape)
            )
        found = names.get_name(name, try_suffixes=(".weight",))
        out.add_tensor(found, np.ascontiguousarray(values))
    out.write_header_to_file()
    out.write_kv_data_to_file()
    out.write_tensors_to_file()
    out.close()


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path)
    options.add_argument("--gguf", type=Path)
    chosen = options.parse_args()
    make(chosen.folder)
    if chosen.gguf:
        make_gguf(chosen.folder, chosen.gguf)
