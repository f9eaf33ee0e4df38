"""The pictures in README.md, taken of the pages that `make demo` has made."""
