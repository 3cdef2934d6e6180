"""The configuration that clients read at /config and with the answer to a log-in."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from flask import request

from photosvc import __version__
from photosvc.auth.principal import Principal
from photosvc.pictures.sizes import SIZES
from photosvc.search.limits import SearchEndedError
from photosvc.search.reading.people import read_people
from photosvc.search.reading.statistics import Counts, read_counts, read_years
from photosvc.web.links import usable_tokens
from photosvc.web.searching import searching
from photosvc.web.service import Service


def client_config(service: Service, who: Principal, api_uri: str) -> dict[str, Any]:
    """Return the configuration for a principal: tokens for links, addresses, and the size of the library.

    Args:
        api_uri: the path of the API.

    Raises:
        SearchEndedError: counting takes too long.
    """
    return _config(service, who, api_uri, *_size(service, who))


def session_config(service: Service, who: Principal, api_uri: str) -> dict[str, Any]:
    """Return the configuration for the answer to a log-in of this principal.

    The log-in is stored by now, and a code of the second factor spent, so that no search may make it fail.
    """
    size: tuple[Sequence[int], Counts | None] = (), None
    with suppress(SearchEndedError):
        size = _size(service, who)
    return _config(service, who, api_uri, *size)


def _config(
    service: Service, who: Principal, api_uri: str, years: Sequence[int], count: Counts | None
) -> dict[str, Any]:
    """Return the configuration for a principal; a token that it may not use is empty."""
    preview_token, download_token = usable_tokens(service, who)
    return {
        **public_config(service),
        "download_token": download_token,
        "preview_token": preview_token,
        "years": years,
        "site_url": service.address_of(request, "/"),
        "base_uri": api_uri.removesuffix("/api/v1"),
        "api_uri": api_uri,
        "count": count,
        "mode": "user",
        "readonly": service.settings.readonly,
        "thumbs": tuple(SIZES.values()),
    }


def public_config(service: Service) -> dict[str, Any]:
    """Return the part of the configuration that an app reads before it has a credential."""
    return {
        "name": service.settings.site_name,
        "version": __version__,
        "edition": "photosvc",
        "public": False,
        "auth_mode": "password",
    }


def _size(service: Service, who: Principal) -> tuple[Sequence[int], Counts | None]:
    """Return the years and counts of the photos; visitors and guests, who see only shared albums, learn none."""
    if who.shared is not None:
        return (), None
    with searching(who.owner_uid, "config") as connection:
        years = service.cached(read_years).read(connection, sees_private=who.sees_private)
        count = service.cached(read_counts).read(connection, sees_private=who.sees_private)
        people = service.cached(read_people).read(connection, sees_private=who.sees_private)
    return years, replace(count, people=sum(not person.hidden for person in people))
