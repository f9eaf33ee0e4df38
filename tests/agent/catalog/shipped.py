"""The benchmarks that travel with the agent, read once for all tests of one process."""

from agent.catalog.benchmark import survey_benchmarks

BENCHMARKS, BROKEN = survey_benchmarks()
assert BROKEN == []
