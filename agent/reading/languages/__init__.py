"""Phrases by which answers in languages other than English state an option: a data file for each language.

README.md beside the files describes their keys.
"""

from agent.reading.languages.phrases import LANGUAGES, Language, find_languages, load_language

__all__ = ["LANGUAGES", "Language", "find_languages", "load_language"]
