"""Judges that follow a script, on loopback, and a benchmark whose answers they grade."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agent.site.directory import Site
from agent.store import Seat
from agent.vocabulary import Unscored
from tests.agent.fault_server import Action, Asked, FaultServer, Message
from tests.agent.runs.suites import write_benchmark

NOTE = "An invented note of person"  # in every question, and in nothing that a probe asks
CRITERIA = ("accuracy", "clarity")

Script = Callable[[Asked], Action | None]


def verdict(accuracy: object = 4, clarity: object = 5) -> str:
    """A judge's reply in due form."""
    return json.dumps(
        {
            "accuracy": {"explanation": "It is right.", "score": accuracy},
            "clarity": {"explanation": "It is plain.", "score": clarity},
        }
    )


def says(*replies: str) -> Script:
    """Reply to requests about answers with these texts in turn; the last one repeats."""
    return acts(*(Message({"role": "assistant", "content": reply}) for reply in replies))


def acts(*actions: Action) -> Script:
    """Do this with requests about answers in turn; the last one repeats."""
    count = 0

    def script(asked: Asked) -> Action | None:
        nonlocal count
        if NOTE not in asked.prompt:
            return None
        count += 1
        return actions[min(count, len(actions)) - 1]

    return script


def judge_server(script: Script, model: str = "judge", **more: object) -> FaultServer:
    """A judge's server; what a probe asks it answers as usual."""
    return FaultServer(models=[model], fault=script, **more)  # type: ignore[arg-type]


def judged(server: FaultServer) -> list[Asked]:
    """The requests about answers that a server received."""
    return [asked for asked in server.asked if NOTE in asked.prompt]


def open_benchmark(
    site: Site, instances: int = 3, name: str = "open", more: str = "", same: bool = False
) -> Path:
    """Write a benchmark whose only metric is a jury's, with criteria in the built-in form."""
    rows = [
        {"note": f"{NOTE} {0 if same else i}.", "correct_answer": f"right {0 if same else i}"}
        for i in range(instances)
    ]
    return write_benchmark(
        site,
        name,
        rows,
        "max_tokens: 64\ngold: {column: correct_answer}\nmetrics:\n  - name: jury_score\n    criteria:\n"
        "      accuracy: Is it right?\n      clarity: Is it plain?\n" + more,
    )


def deploy(site: Site, servers: Mapping[str, str], more: str = "") -> None:
    """Write model_deployments.yaml: each name with the address of its server, which serves it as `judge`."""
    entries = "".join(
        f"  - name: local/{name}\n    model_name: test/{name}\n    client_spec:\n"
        f"      class_name: helm.clients.vllm_client.VLLMChatClient\n"
        f"      args:\n        base_url: {url}\n        vllm_model_name: judge\n{more}"
        for name, url in servers.items()
    )
    site.deployments.write_text("model_deployments:\n" + entries)


def write_jury(path: Path, names: Sequence[str], more: str = "") -> Path:
    """Write a file of judges in MedHELM's form."""
    entries = "".join(
        f"  - name: {name}\n    model: test/{name}\n    model_deployment: local/{name}\n"
        for name in names
    )
    path.write_text(f"{more}judges:\n{entries}")
    return path


def kept(site: Site, suite: str = "s") -> tuple[list[float | Unscored], dict[int, list[Seat]]]:
    """The jury's score of every instance of the suite's one run, and what the seats gave."""
    with site.store() as store:
        (run,) = store.runs.select(suite)
        scores = [
            one.scores["jury_score"] for one in store.answers.read_instances(run.run_id, 0, 10_000)
        ]
        return scores, store.juries.read_seats(run.run_id, "jury_score")
