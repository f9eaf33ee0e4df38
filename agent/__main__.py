"""`python -m agent` is `intramural`."""

from agent.cli import main

main()
