"""The settings in force: for user interfaces (/settings), for administrators (/config/options), and /services."""

from typing import Any, Final

from flask import Response

from photosvc.auth import policy
from photosvc.auth.principal import Principal
from photosvc.core.vocabulary import DOCUMENT, MOMENT, NAMES, parse_kinds
from photosvc.records.settings import FEATURES, OptionsSchema, SettingsSchema
from photosvc.settings import Settings
from photosvc.web.answers import json_answer
from photosvc.web.contract import OwnBlueprint, answers, is_mounted
from photosvc.web.current import current_service
from photosvc.web.protector import principal, require

settings = OwnBlueprint("settings", __name__)

#: Features that need an action of the policy; those without one are in `_features`.
_ACTIONS: Final = {
    "account": "users.password",
    "albums": "albums.search",
    "archive": "photos.update",
    "calendar": "moments.view",
    "delete": "photos.delete",
    "download": "photos.download",
    "edit": "photos.update",
    "favorites": "photos.update",
    "files": "files.view",
    "folders": "folders.view",
    "import": "files.import",
    "labels": "labels.search",
    "library": "photos.index",
    "logs": "errors.view",
    "moments": "moments.view",
    "people": "people.search",
    "places": "places.view",
    "ratings": "photos.update",
    "review": "photos.search",
    "search": "photos.search",
    "upload": "files.upload",
    "videos": "photos.search",
}
#: Features that write into the folder of originals.
_WRITING: Final = frozenset({"import", "upload"})
_SETTINGS, _OPTIONS = SettingsSchema(), OptionsSchema()


@settings.get("/settings")
@require("settings.view")
@answers(SettingsSchema, "The settings.")
def read_settings() -> Response:
    """Show the features that the credential may use, and what makes files one photo.

    They follow from the settings of the service and the rights of the credential, and are not changed here.
    """
    service, who = current_service(), principal()
    kinds = parse_kinds(service.settings.stack_by)
    stack = {"uuid": DOCUMENT in kinds, "meta": MOMENT in kinds, "name": NAMES in kinds}
    return json_answer(_SETTINGS.dump({"features": _features(service.settings, who), "stack": stack}))


@settings.get("/config/options")
@require("config.options")
@answers(OptionsSchema, "The options.")
def read_options() -> Response:
    """Show the options with which the service runs; those with secrets are left out."""
    return json_answer(_OPTIONS.dump(current_service().settings))


@settings.get("/services")
@require("services.search")
@answers({"type": "object"}, "No services.", many=True)
def list_services() -> Response:
    """Answer with an empty list: this service sends photos to no other one."""
    return json_answer([])


def _features(given: Settings, who: Principal) -> dict[str, Any]:
    """Return whether the principal may use each feature."""
    found = dict.fromkeys(FEATURES, False)
    found |= {"estimates": given.estimate_places, "private": who.sees_private}
    for name, action in _ACTIONS.items():
        allowed = is_mounted(action) and policy.may(who, action, owner_uid=who.user_uid)
        found[name] = allowed and not (name in _WRITING and given.readonly)
    return found
