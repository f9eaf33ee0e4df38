"""`python -m agent` is `intramural`."""

from agent.cli.main import main

main()
