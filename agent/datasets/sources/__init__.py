"""Read the files of published benchmarks, with one module per benchmark."""
