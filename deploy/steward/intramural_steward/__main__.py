"""Entry point of `python -m intramural_steward`."""

from intramural_steward.cli import main

if __name__ == "__main__":
    main()
