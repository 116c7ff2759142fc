"""Lines of progress: short, few, without secrets."""

from chat.agent.progress import Progress


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_lines_are_shortened_masked_and_on_one_line() -> None:
    said: list[str] = []
    clock = Clock()
    progress = Progress(said.append, clock)

    for text in ("  two\n lines ", "key sk-abcdefghij0123456789", "x" * 300, " "):
        progress(text)
        clock.now += 1

    assert said[0] == "two lines"
    assert "abcdefghij" not in said[1]
    assert len(said[2]) == 200
    assert len(said) == 3


def test_what_comes_too_soon_or_again_is_left_out() -> None:
    said: list[str] = []
    clock = Clock()
    progress = Progress(said.append, clock)

    progress("one")
    progress("two")
    clock.now = 1
    progress("one")
    progress("three")
    clock.now = 2
    progress("three")

    assert said == ["one", "three"]


def test_a_run_says_no_more_than_sixty() -> None:
    said: list[str] = []
    clock = Clock()
    progress = Progress(said.append, clock)

    for at in range(100):
        clock.now = at
        progress(str(at))

    assert len(said) == 60
