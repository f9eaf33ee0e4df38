"""The reference of `make bench`: a bare httpx client, one a worker, sending the same requests and keeping nothing.

python tests/bench/bare_client.py BASE_URL DATASET_CSV
"""

import asyncio
import csv
import ssl
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
from run_bench import PROMPT

WORKERS = 256


async def worker(url: str, rows: Iterator[dict[str, str]], context: ssl.SSLContext) -> None:
    """Send rows until none is left."""
    async with httpx.AsyncClient(verify=context, trust_env=False, timeout=60) as client:
        for row in rows:
            text = PROMPT.format(note=row["note"], question=row["question"])
            message = {"role": "user", "content": text}
            body = {
                "model": "mock-model",
                "temperature": 0.0,
                "max_tokens": 16,
                "messages": [message],
            }
            reply = await client.post(f"{url}/chat/completions", json=body)
            assert reply.json()["choices"][0]["message"]["content"] == "Yes"


async def main(url: str, path: Path) -> None:
    """Send every row of the dataset."""
    with path.open(newline="") as file:
        rows = iter(list(csv.DictReader(file)))
    context = ssl.create_default_context()
    await asyncio.gather(*(worker(url, rows, context) for _ in range(WORKERS)))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
