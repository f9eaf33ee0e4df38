"""Work on many machines with Ray: a cluster is started or joined, and pieces of work are handed to its nodes."""
