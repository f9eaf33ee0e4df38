"""Run llama.cpp's server in this process: `python -m agent.model_servers.llamacpp_engine`, started by the guardian.

The settings are one line of JSON on standard input, so that the token is in no list of processes.
"""

import json
import signal
import sys
from typing import Any

_ERRORS_ONLY = 1  # llama.cpp's verbosity; above it, prompts might be written to the log
# Memory for prompts answered before, whose beginnings may come again. llama.cpp's own bound, 8 GiB, is more than many
# machines can spare.
_KEPT_PROMPTS_MIB = 512


def serve(settings: dict[str, Any]) -> None:
    """Serve until a signal ends the process."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = settings["weights"]
    params.model_alias = {settings["name"]}
    params.hostnames = [settings["address"]]
    params.port = settings["port"]
    params.api_keys = [settings["token"]]
    params.n_parallel = settings["parallel"]
    # llama.cpp divides its context among the requests that it answers at the same time.
    params.n_ctx = (settings["context"] or 0) * settings["parallel"]
    if settings["threads"] is not None:
        params.cpuparams.n_threads = settings["threads"]
    if settings["gpu_layers"] is not None:
        params.n_gpu_layers = settings["gpu_layers"]
    if settings["chat_template"] is not None:
        params.chat_template = settings["chat_template"]
    params.cache_ram_mib = _KEPT_PROMPTS_MIB
    params.offline = True
    params.endpoint_metrics = True
    params.ui = False
    params.verbosity = _ERRORS_ONLY
    server = xllamacpp.Server(params)
    print(f"serving at {server.listening_address}", flush=True)
    signal.pause()


if __name__ == "__main__":
    serve(json.loads(sys.stdin.readline()))
