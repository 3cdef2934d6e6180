"""The configuration: for clients (/config) and user interfaces (/settings), for administrators (/config/options).

Also /services, which are none, and the description of the API for programs, /openapi.json.
"""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from flask import Response, request, url_for

from photosvc import __version__
from photosvc.auth import link_tokens, policy
from photosvc.auth.principal import Principal
from photosvc.core.vocabulary import DOCUMENT, MOMENT, NAMES, parse_kinds
from photosvc.pictures.sizes import SIZES
from photosvc.records.accounts import FEATURES, ConfigSchema, OptionsSchema, PublicConfigSchema, SettingsSchema
from photosvc.search.limits import SearchEndedError
from photosvc.search.reading.people import read_labels, read_people
from photosvc.search.reading.statistics import Counts, read_counts, read_years
from photosvc.settings import Settings
from photosvc.web.contract import ETAG, answers, is_mounted, public
from photosvc.web.openapi import document
from photosvc.web.parts import OwnBlueprint
from photosvc.web.protector import principal, require
from photosvc.web.responses import json_answer, json_text, revalidated
from photosvc.web.searching import searching
from photosvc.web.service import Service, current_service

config: OwnBlueprint = OwnBlueprint("config", __name__)

#: Seconds a client may cache the description of the API; it changes with the version and the settings only.
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


def session_config(service: Service, who: Principal, api_uri: str) -> dict[str, Any]:
    """Return the configuration for the answer to a log-in of this principal; a visitor learns no counts and years.

    The log-in is stored by now, and a code of the second factor spent, so that no search may make it fail.
    """
    years: Sequence[int] = ()
    count: Counts | None = None
    with suppress(SearchEndedError):
        if who.shared is None:
            years, count = _years(service, who), _count(service, who)
    return _config(service, who, api_uri, years, count)


def _config(
    service: Service, who: Principal, api_uri: str, years: Sequence[int], count: Counts | None
) -> dict[str, Any]:
    """Return the configuration for a principal; a token that it may not use is empty."""
    settings, now = service.settings, service.now()
    may_download = policy.may(who, "photos.download")
    return {
        **_public_config(service),
        "download_token": link_tokens.download_token(settings, who, now) if may_download else "",
        "preview_token": link_tokens.preview_token(settings, who) if policy.may(who, "photos.preview") else "",
        "years": years,
        "site_url": service.address_of(request, "/"),
        "base_uri": api_uri.removesuffix("/api/v1"),
        "api_uri": api_uri,
        "count": count,
        "mode": "user",
        "readonly": settings.readonly,
        "thumbs": tuple(SIZES.values()),
    }


def _public_config(service: Service) -> dict[str, Any]:
    return {
        "name": service.settings.site_name,
        "version": __version__,
        "edition": "photosvc",
        "public": False,
        "auth_mode": "password",
    }


def _show_public_config() -> Response:
    """Show the part of the configuration that an app asks for before it has a credential."""
    return json_answer(PublicConfigSchema().dump(_public_config(current_service())))


def _years(service: Service, who: Principal) -> Sequence[int]:
    with searching(who.owner_uid, "config") as connection:
        return service.kept(read_years).read(connection, sees_private=who.sees_private)


def _count(service: Service, who: Principal) -> Counts:
    with searching(who.owner_uid, "config") as connection:
        count = service.kept(read_counts).read(connection, sees_private=who.sees_private)
        people = service.kept(read_people).read(connection, sees_private=who.sees_private)
        labels = service.kept(read_labels).read(connection, sees_private=who.sees_private)
    return replace(count, people=sum(not person.hidden for person in people), labels=len(labels))


@config.get("/config")
@require("config.view", anonymous=_show_public_config)
@answers(ConfigSchema, "The configuration; without a credential, name, version, edition and way to log in alone.")
def read_config() -> Response:
    """Show the configuration: tokens for links, sizes of thumbnails, addresses, and the size of the library."""
    service, who = current_service(), principal()
    api_uri, count = url_for(".read_config").removesuffix("/config"), _count(service, who)
    return json_answer(ConfigSchema().dump(_config(service, who, api_uri, _years(service, who), count)))


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


def _features(given: Settings, who: Principal) -> dict[str, Any]:
    """Return whether the principal may use each feature."""
    found = dict.fromkeys(FEATURES, False)
    found |= {"estimates": given.estimate_places, "private": who.sees_private}
    for name, action in _ACTIONS.items():
        allowed = is_mounted(action) and policy.may(who, action, owner_uid=who.user_uid)
        found[name] = allowed and not (name in _WRITING and given.readonly)
    return found
