"""Make a language model of a few hundred kilobytes with random weights, as a folder.

    python make_tiny_model.py FOLDER

It writes nonsense, but any real server loads it and treats it as it would a real model. Needs torch, transformers
and tokenizers. Nothing is downloaded.
"""

import argparse
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


if __name__ == "__main__":
    options = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    options.add_argument("folder", type=Path)
    make(options.parse_args().folder)
