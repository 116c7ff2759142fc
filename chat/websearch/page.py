"""A page that a search has found, whatever the provider."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Page:
    """`excerpt` is what the provider holds for the answer; `text` is the whole page."""

    url: str
    title: str
    excerpt: str
    text: str = ""
    published: str = ""
    score: float = 0.0

    def shortened(self, length: int) -> str:
        """The excerpt first, then as much of the page as there is room for."""
        whole, excerpt = self.text.strip(), self.excerpt.strip()
        if not whole or len(excerpt) >= length:
            return excerpt[:length]
        if not excerpt or excerpt in whole[:length]:
            return whole[:length]
        return f"{excerpt}\n\n{whole}"[:length]
