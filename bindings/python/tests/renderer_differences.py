"""What is known to differ between parlance.renderers.ParlanceRenderer and the renderers by hand of the package `renderers`."""

from __future__ import annotations

import dataclasses
import re


@dataclasses.dataclass(frozen=True)
class Known:
    families: str
    """A pattern of the families' labels, as are the next two of conversations and fields."""
    where: str
    field: str
    fault: str
    """"by hand", "parlance", "template" (it is another than that of the renderer by hand) or "choice"."""
    right: str
    """Whom transformers confirms; "-": it cannot say."""
    why: str

    def covers(self, family: str, where: str, field: str) -> bool:
        pairs = ((self.families, family), (self.where, where), (self.field, field))
        return all(re.fullmatch(pattern, text) for pattern, text in pairs)


KNOWN: list[Known] = []
