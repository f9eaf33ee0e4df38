"""What a run costs: `make bench`.

2,000 instances of a 300-word note, a mock server with 50 ms latency and 256 slots, the whole `intramural run` process
from start to exit with encryption and storing on. The named reference is measured in the same session, in turn with
it: a bare httpx client (one client a worker) that sends the same requests and keeps nothing. CPU is the robust figure.

    python tests/bench/run_bench.py [--instances 2000] [--rounds 3]
"""

import argparse
import csv
import json
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROMPT = (
    "You are given a patient note and a question. Answer with one word, Yes or No.\n\n"
    "Note: {note}\n\nQuestion: {question}\n\nAnswer:"
)
SENTENCES = (
    "The patient reports {0} for the past {1} days.",
    "On examination the pulse was {1} per minute and the chest was clear.",
    "There is a history of {0} treated for {1} years.",
    "Follow up was arranged and return precautions were reviewed in detail.",
)
FINDINGS = (
    "chest tightness",
    "shortness of breath",
    "dizziness",
    "hypertension",
    "asthma",
    "atrial fibrillation",
)
# Other harnesses on the same task and the same kind of machine (2 shared cores): wall s, CPU s, peak MB.
LIMITS = {
    "wall s": 3.6,
    "CPU s": 3.4,
    "MB": 150.0,
    "CPU ms an instance": 1.0,
    "CPU s of --help": 0.3,
}
PEERS = {
    "lm-evaluation-harness 0.4.13": (10.8, 10.4, 309),
    "HELM 0.5.16": (23.8, 23.3, 700),
    "Inspect 0.3.285": (32.2, 31.1, 234),
}


def write_task(folder: Path, instances: int, *, note_words: int = 300, first: int = 0) -> Path:
    """Write the invented benchmark and return its YAML. Another `first` number gives other notes."""
    with (folder / "dataset.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["id", "note", "question", "correct_answer"])
        for i in range(first, first + instances):
            chance, words = random.Random(i), 0
            note = [f"Note {i:05d}."]
            while words < note_words:
                note.append(
                    chance.choice(SENTENCES).format(chance.choice(FINDINGS), chance.randint(2, 90))
                )
                words += len(note[-1].split())
            writer.writerow(
                [
                    i,
                    " ".join(note),
                    "Does the patient report dizziness?",
                    chance.choice(["Yes", "No"]),
                ]
            )
    (folder / "prompt.txt").write_text(PROMPT)
    (folder / "bench.yaml").write_text(
        "name: bench\ndescription: yes or no questions on invented notes\nprompt_file: prompt.txt\n"
        "dataset_file: dataset.csv\nmax_tokens: 16\nmetrics:\n  - name: exact_match\n"
    )
    return folder / "bench.yaml"


def measure(command: list[str]) -> tuple[float, float, float]:
    """Run a command; return wall seconds, CPU seconds and peak memory in MB, from the kernel's own account."""
    began = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    assert process.stderr
    output, errors = process.stdout.read(), process.stderr.read()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(
            f"{' '.join(command)} left with {process.returncode}\n{output.decode()}\n{errors.decode()}"
        )
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--instances", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    intramural = [sys.executable, "-m", "agent"]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        configuration = write_task(folder, options.instances)
        server = subprocess.Popen(
            [sys.executable, str(HERE / "mock_server.py")], stdout=subprocess.PIPE, text=True
        )
        try:
            assert server.stdout
            url = server.stdout.readline().strip()
            found: dict[str, list[tuple[float, float, float]]] = {
                "intramural run": [],
                "bare httpx": [],
                "small run": [],
            }
            for number in range(options.rounds):
                site = str(folder / f"site{number}")
                subprocess.run(
                    [*intramural, "init", site, "--site-name", "bench"],
                    check=True,
                    capture_output=True,
                )
                entry = f"medhelm_configurable_benchmark:config_path={configuration},model=mock/mock-model"
                run = [
                    *intramural, "--site", site, "run", "--suite", "bench", "--server", url, "--max-in-flight", "256",
                    "--run-entries", entry,
                ]  # fmt: skip
                found["small run"].append(measure([*run, "-m", "100"]))
                subprocess.run(["rm", "-r", site], check=True)
                subprocess.run(
                    [*intramural, "init", site, "--site-name", "bench"],
                    check=True,
                    capture_output=True,
                )
                found["intramural run"].append(measure([*run, "-m", str(options.instances)]))
                found["bare httpx"].append(
                    measure(
                        [
                            sys.executable,
                            str(HERE / "bare_client.py"),
                            url,
                            str(folder / "dataset.csv"),
                        ]
                    )
                )
            start = [measure([*intramural, "--help"]) for _ in range(5)]
        finally:
            server.kill()
            server.wait()
    report(found, start, options.instances)


def report(
    found: dict[str, list[tuple[float, float, float]]],
    start: list[tuple[float, float, float]],
    n: int,
) -> None:
    """Print medians, ratios to the reference, and what other harnesses took."""
    middle = {
        name: [statistics.median(column) for column in zip(*rows, strict=True)]
        for name, rows in found.items()
    }
    ours, reference, small = middle["intramural run"], middle["bare httpx"], middle["small run"]
    print(
        f"{n} instances, 50 ms, 256 slots, {os.cpu_count()} cores, medians of {len(found['bare httpx'])}"
    )
    print(f"{'':34}{'wall s':>8}{'CPU s':>8}{'MB':>6}")
    for name in ("intramural run", "bare httpx"):
        wall, cpu, memory = middle[name]
        print(f"{name:34}{wall:8.2f}{cpu:8.2f}{memory:6.0f}")
    print(f"{'ratio to bare httpx':34}{ours[0] / reference[0]:8.2f}{ours[1] / reference[1]:8.2f}")
    each = 1000 * (ours[1] - small[1]) / (n - 100)
    help_cpu = statistics.median(row[1] for row in start)
    print(f"CPU an instance: {each:.2f} ms (from runs of 100 and {n})")
    print(f"intramural --help: {help_cpu:.2f} s CPU")
    for peer, (wall, cpu, memory) in PEERS.items():
        print(f"{peer + ' (2,000, noted earlier)':34}{wall:8.2f}{cpu:8.2f}{memory:6.0f}")
    packages = json.loads(
        subprocess.run(
            [sys.executable, "-m", "pip", "list", "--format=json"], check=True, capture_output=True
        ).stdout
    )
    found_now = dict(zip(LIMITS, (*ours, each, help_cpu), strict=True))
    over = [
        f"{what} {value:.2f} (limit {LIMITS[what]})"
        for what, value in found_now.items()
        if value > LIMITS[what]
    ]
    print(f"packages in this environment: {len(packages)}; the base install alone: see `make size`")
    if n == 2_000 and over:
        sys.exit(f"above the limits: {', '.join(over)}")


if __name__ == "__main__":
    main()
