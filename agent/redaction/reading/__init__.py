"""How a text can be read: characters, encodings, spellings, labels; each reading with the way back to the original."""
