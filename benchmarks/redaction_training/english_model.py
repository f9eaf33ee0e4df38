"""Make the English model that the package ships: `make model-en`.

Needs `faker`; the same seed gives the same texts, and with the same number of steps the same model.
"""

import argparse
import sys
from pathlib import Path

import faker

from agent.redaction.models.network import Shape
from agent.redaction.models.train import train_model
from benchmarks.redaction_training.english import examples, generator_digest, ordinary_words

SEED = 20_261_120
TEXTS = 100_000
STEPS = 11_000
# Shares of texts in the shapes of prompts, dialogues and triage, and of whole documents.
SHAPES = 0.08
DOCUMENTS = 0.40
SHAPE = Shape(width=80, depth=4, pieces=2)

# Recall first: a place that may identify somebody is taken although it more probably does not.
BOUNDS = {
    "NAME": 0.02, "LOCATION": 0.02, "FACILITY": 0.06, "ORGANIZATION": 0.02, "ADDRESS": 0.02, "DATE": 0.12, "ID": 0.16,
}  # fmt: skip


def main(arguments: list[str]) -> None:
    """Train the model and write it into a folder."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("agent/redaction/models/en"))
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--seed", type=int, default=SEED)
    parser.add_argument(
        "--shapes",
        type=float,
        default=SHAPES,
        help="share of texts in the shapes of prompts, dialogues and triage",
    )
    parser.add_argument(
        "--documents", type=float, default=DOCUMENTS, help="share of whole documents"
    )
    given = parser.parse_args(arguments)
    train_model(
        examples(given.seed, given.texts, given.shapes, given.documents),
        given.folder,
        language="en",
        seed=given.seed,
        steps=given.steps,
        shape=SHAPE,
        ordinary=ordinary_words(rare_terms=given.shapes > 0),
        bounds=BOUNDS,
        made={
            "generator": generator_digest(given.seed, given.shapes, given.documents),
            "faker": faker.VERSION,
        },
    )


if __name__ == "__main__":
    main(sys.argv[1:])
