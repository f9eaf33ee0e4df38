"""`python -m aggregator` is `intramural-aggregator`."""

from aggregator.cli import main

main()
