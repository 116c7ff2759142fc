"""A file → its text, with pages and headings. Plain Python: runs in a child process."""
