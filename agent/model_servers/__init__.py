"""Inference servers that the agent starts itself, on this machine and for itself alone: llama.cpp's and vLLM.

`start.py` is the main path: check the weights, start the guardian, wait until the server is ready. The guardian
(`guardian.py`) is a process of its own that runs the engine, starts it again after a crash, and ends it with everything
that the engine started, however the agent ends.
"""
