"""Training of metrics: losses, triplets, the loop with its checkpoints, what it gains on held-out images."""
