"""What may be wrong on a person's machine."""


class LaunchError(Exception):
    """Anticipated: its one line says what is wrong and what to do."""
