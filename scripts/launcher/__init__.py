"""Parts of `make run`; scripts/launch.py puts them together."""
