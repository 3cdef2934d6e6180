"""What a batch does to each photo by its own values: keywords that come and go, and times that are moved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final

from photosvc.core.clock import ZERO_TIME
from photosvc.core.errors import InvalidValueError
from photosvc.models import Photo
from photosvc.query.fold import fold

_MOST_KEYWORDS: Final = 256


@dataclass(frozen=True, slots=True)
class Each:
    """Changes that start from the values of each photo."""

    add_keywords: Sequence[str] = ()
    remove_keywords: Sequence[str] = ()
    shift: int = 0
    """Seconds by which times are moved; those that are not known stay so."""

    def values(self, photo: Photo, values: Mapping[str, Any]) -> Mapping[str, Any]:
        """The values for this photo: those for all, and its own as they become.

        Raises:
            InvalidValueError: the photo would have too many keywords, or a time that no calendar has.

        """
        found = dict(values)
        if self.add_keywords or self.remove_keywords:
            found["keywords"] = self._keywords(photo, values.get("keywords"))
        if self.shift and (local := values.get("taken_at_local") or photo.taken_at_local) != ZERO_TIME:
            try:
                found["taken_at_local"] = local + timedelta(seconds=self.shift)
            except OverflowError:
                msg = f"the time of {photo.uid} would be outside of the calendar"
                raise InvalidValueError(msg, field="shift") from None
        return found

    def _keywords(self, photo: Photo, given: Sequence[str] | None) -> list[str]:
        words = [keyword.word for keyword in photo.keywords] if given is None else given
        gone = {fold(word) for word in self.remove_keywords}
        kept = {fold(word): word for word in (*self.add_keywords, *words)}
        kept = {folded: word for folded, word in kept.items() if folded not in gone}
        if len(kept) > _MOST_KEYWORDS:
            msg = f"{photo.uid} would have more than {_MOST_KEYWORDS} keywords"
            raise InvalidValueError(msg, field="add_keywords")
        return list(kept.values())
