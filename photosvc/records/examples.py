"""Values that examples of the OpenAPI document contain: identifiers of nothing, in the form of real ones."""

from typing import Final

PHOTO_UID: Final = "pt5m2xk4a8qzr1dw"
ALBUM_UID: Final = "at5m2xk9h6wbj3su"
LABEL_UID: Final = "lt5m2xk7c3vnf9ey"
