"""What happens in a run: the vocabulary, the log, and the one reader."""
