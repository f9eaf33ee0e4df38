"""Runs in the environment that has Helm and the schemas: renders a chart, or checks objects.

python helm_tool.py render CHART   values as JSON on standard input, {"template": "manifests"} on standard output
python helm_tool.py check VERSION  objects as JSON on standard input
"""

import json
import sys


def render(chart: str) -> None:
    """Render a chart with the values of standard input."""
    from helm_python import Chart

    loaded = Chart.load(chart)
    print(json.dumps(loaded.render(json.load(sys.stdin), name="test", namespace="test")))


def check(version: str) -> None:
    """Check objects against the schemas of a version of Kubernetes; an unknown field is a fault."""
    import kubernetes_validate

    for each in json.load(sys.stdin):
        kubernetes_validate.validate(each, version, strict=True)


if __name__ == "__main__":
    {"render": render, "check": check}[sys.argv[1]](sys.argv[2])
