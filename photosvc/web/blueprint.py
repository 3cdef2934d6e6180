"""The blueprint of all routes of photosvc, which never redirects."""

from typing import Any

from flask import Blueprint


class OwnBlueprint(Blueprint):
    """A blueprint that answers 404 to an address with doubled slashes, and whose routes also end in a slash.

    Werkzeug would redirect to the right address, at the same length and on the host that the request names.
    """

    def add_url_rule(self, rule: str, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as Flask has it
        """Add a rule that merges no slashes; the URL map is not changed, because it may be that of a host app."""
        super().add_url_rule(rule, *arguments, **{"merge_slashes": False, "strict_slashes": False, **options})
