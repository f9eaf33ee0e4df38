"""Entry point of `python -m aggregator`, the same as `intramural-aggregator`."""

from aggregator.cli import main

main()
