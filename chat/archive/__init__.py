"""Conversations and whole installations as files: archives and backups."""
