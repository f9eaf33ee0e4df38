"""Entry point of `python -m intramural_release`."""

from intramural_release.cli import main

if __name__ == "__main__":
    main()
