"""Conversations out of the SQLite file that GNS3's own Copilot keeps."""
