"""The configuration for clients (/config), user interfaces (/settings) and administrators (/config/options).

Also the description of the API for programs, /openapi.json, and the empty list /services.
"""

from typing import Any, Final

from flask import Response, request, url_for

from photosvc.auth import policy
from photosvc.auth.principal import Principal
from photosvc.core.vocabulary import DOCUMENT, MOMENT, NAMES, parse_kinds
from photosvc.records.accounts import FEATURES, ConfigSchema, OptionsSchema, PublicConfigSchema, SettingsSchema
from photosvc.settings import Settings
from photosvc.web.client_config import client_config, public_config
from photosvc.web.contract import ETAG, answers, for_visitors, is_mounted, public
from photosvc.web.openapi import document
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer, json_text, revalidated
from photosvc.web.service import current_service

config: OwnBlueprint = OwnBlueprint("config", __name__)

#: Seconds for which clients may cache the description of the API, which changes with version and settings only.
_MAX_AGE = 300
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


def _show_public_config() -> Response:
    """Show the part of the configuration that an app asks for before it has a credential."""
    return json_answer(PublicConfigSchema().dump(public_config(current_service())))


@config.get("/config")
@require("config.view", anonymous=_show_public_config)
@answers(ConfigSchema, "The configuration; without a credential, name, version, edition and way to log in alone.")
@for_visitors
def read_config() -> Response:
    """Show the configuration: tokens for links, sizes of thumbnails, addresses, and the size of the library."""
    service, who = current_service(), principal()
    api_uri = url_for(".read_config").removesuffix("/config")
    return json_answer(ConfigSchema().dump(client_config(service, who, api_uri)))


@config.get("/openapi.json")
@public
@answers({"type": "object"}, "This document.", headers=ETAG)
def openapi() -> Response:
    """Describe the API as an OpenAPI 3.1 document, generated from its routes, policy, filters and records."""
    answer = json_text(document(str(request.url_rule).removesuffix("/openapi.json")))
    answer.headers["Cache-Control"] = f"public, max-age={_MAX_AGE}"
    return revalidated(answer)


@config.get("/settings")
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


@config.get("/config/options")
@require("config.options")
@answers(OptionsSchema, "The options.")
def read_options() -> Response:
    """Show the options with which the service runs; those with secrets are left out."""
    return json_answer(_OPTIONS.dump(current_service().settings))


@config.get("/services")
@require("services.search")
@answers({"type": "object"}, "No services.", many=True)
def list_services() -> Response:
    """Answer with an empty list: this service sends photos to no other one."""
    return json_answer([])


def _features(settings: Settings, who: Principal) -> dict[str, Any]:
    """Return whether the principal may use each feature."""
    features = dict.fromkeys(FEATURES, False)
    features |= {"estimates": settings.estimate_places, "private": who.sees_private}
    for name, action in _ACTIONS.items():
        allowed = is_mounted(action) and policy.may(who, action, owner_uid=who.user_uid)
        features[name] = allowed and not (name in _WRITING and settings.readonly)
    return features
