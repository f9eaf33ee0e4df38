"""Find the languages of a text: English and Spanish, which are read, and others, which are not."""
