"""A worker process that computes ROUGE: it reads lines of JSON with comparisons, and writes a line of scores for each.

It ends when its input closes, even if the process that started it is killed.
"""

import json
import signal
import sys
from typing import TextIO

from agent.metrics.rouge import RougeComparison


def serve(requests: TextIO, replies: TextIO) -> None:
    """Answer requests until the input ends."""
    for line in requests:
        figures: list[float] = []
        for kind, stemmer, golds, answer in json.loads(line):
            comparison = RougeComparison(kind, stemmer, tuple(golds), answer)
            figures.append(comparison.compute_best())
        replies.write(json.dumps(figures) + "\n")
        replies.flush()


if __name__ == "__main__":
    signal.signal(
        signal.SIGINT, signal.SIG_IGN
    )  # Ctrl-C is handled by the agent, which then closes this process's input
    serve(sys.stdin, sys.stdout)
