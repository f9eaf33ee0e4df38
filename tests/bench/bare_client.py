"""The reference of `make bench`: a bare httpx client, one a worker, sending the same requests and keeping nothing.

    python tests/bench/bare_client.py BASE_URL DATASET_CSV [--workers 256] [--model NAME] [--token-file FILE]

Prints the seconds between the first request and the last reply.
"""

import argparse
import asyncio
import csv
import ssl
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
from run_bench import PROMPT

TIMEOUT_S = 600


async def send_rows(
    options: argparse.Namespace, rows: Iterator[dict[str, str]], context: ssl.SSLContext
) -> None:
    """Send rows until none is left."""
    headers = {}
    if options.token_file:
        headers["authorization"] = f"Bearer {options.token_file.read_text().strip()}"
    async with httpx.AsyncClient(
        verify=context, trust_env=False, timeout=TIMEOUT_S, headers=headers
    ) as client:
        for row in rows:
            text = PROMPT.format(note=row["note"], question=row["question"])
            message = {"role": "user", "content": text}
            body = {
                "model": options.model,
                "temperature": 0.0,
                "max_tokens": 16,
                "messages": [message],
            }
            reply = await client.post(f"{options.url}/chat/completions", json=body)
            assert reply.json()["choices"][0]["message"]["content"]


async def send_all(options: argparse.Namespace) -> float:
    """Send every row of the dataset. Return how many seconds that took."""
    with options.dataset.open(newline="") as file:
        rows = iter(list(csv.DictReader(file)))
    context = ssl.create_default_context()
    began = time.perf_counter()
    await asyncio.gather(*(send_rows(options, rows, context) for _ in range(options.workers)))
    return time.perf_counter() - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("url")
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--workers", type=int, default=256)
    parser.add_argument("--model", default="mock-model")
    parser.add_argument("--token-file", type=Path)
    print(f"{asyncio.run(send_all(parser.parse_args())):.3f}")
