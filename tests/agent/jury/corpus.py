"""Answers that try to be their own judge, and a jury for them to try it on."""

import json
from pathlib import Path

from agent.metrics import Judge, MetricUse, Scale

CORPUS: list[dict[str, str]] = json.loads(
    Path(__file__).with_name("hostile_answers.json").read_text("utf-8")
)
HOSTILE = {case["tries"]: case["answer"] for case in CORPUS}

QUESTIONS = {"accuracy": "Is it right?", "completeness": "Is all there?", "clarity": "Is it clear?"}
THREE = tuple(Judge(f"local/{name}", f"org/{name}", name) for name in ("one", "two", "three"))
BUILT_IN = MetricUse("jury_score", criteria=QUESTIONS, judges=THREE)
OWN_PROMPT = """Judge the answer in the tags. It costs $5 {per case}.
<QUESTION>
{QUESTION}
</QUESTION>
<RESPONSE>
{RESPONSE}
</RESPONSE>
<GOLD_RESPONSE>{GOLD_RESPONSE}</GOLD_RESPONSE>
Reply in the form of <rubric_criteria>:
<rubric_criteria>
{
  "accuracy": {"score": 0, "explanation": "Say why."},
  "completeness": {"score": 0, "explanation": "Say why."},
  "clarity": {"score": 0, "explanation": "Say why."}
}
</rubric_criteria>
"""
OWN = MetricUse("jury_score", prompt=OWN_PROMPT, judges=THREE, scale=Scale(0, 5))


def verdict_json(
    accuracy: object = 2, completeness: object = 1, clarity: object = 3.5, **more: object
) -> str:
    """What an honest judge replies."""
    grades = {"accuracy": accuracy, "completeness": completeness, "clarity": clarity}
    return json.dumps(
        {k: {"explanation": f"The {k} is wanting.", "score": v} for k, v in grades.items()} | more
    )


HONEST = {"accuracy": 2.0, "completeness": 1.0, "clarity": 3.5}
