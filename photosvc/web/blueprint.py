"""Blueprints whose routes never redirect."""

from typing import Any

from flask import Blueprint


class OwnBlueprint(Blueprint):
    """A blueprint that answers an address with doubled slashes 404.

    Werkzeug would redirect to the address without them, as long as the given one, on the host that the request names.
    """

    def add_url_rule(self, rule: str, *arguments: Any, **options: Any) -> None:  # noqa: ANN401 - as Flask has it
        """As Flask's, for this rule alone: inside another app the URL map is not ours."""
        super().add_url_rule(rule, *arguments, **{"merge_slashes": False, **options})
