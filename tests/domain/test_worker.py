"""The worker: real processes, killed and recovered."""
