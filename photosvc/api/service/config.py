"""GET /config: what clients need to know of the service and of their credential."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from flask import Blueprint, Response, request, url_for

from photosvc import __version__
from photosvc.auth import policy
from photosvc.auth.credentials import link_tokens
from photosvc.auth.principal import Principal
from photosvc.pictures.thumbnails.sizes import SIZES, Size
from photosvc.records.config import ConfigSchema
from photosvc.search.reading.overview.counts import Counts
from photosvc.web.answers.answer import json_answer
from photosvc.web.contract import answers
from photosvc.web.current import Service, current_service
from photosvc.web.protector import principal, require
from photosvc.web.searches.searching import searching
from photosvc.web.service.addresses import address_of


def add_routes(api: Blueprint) -> None:
    """Add the configuration to the API."""
    api.add_url_rule("/config", view_func=read_config, methods=["GET"])


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientConfig:
    """What `ClientConfigSchema` dumps: the part of the configuration that a log-in is answered with."""

    download_token: str
    preview_token: str
    years: Sequence[int]
    public: bool = False
    version: str = __version__


@dataclass(frozen=True, slots=True, kw_only=True)
class _Config(ClientConfig):
    """What `ConfigSchema` dumps."""

    name: str
    site_url: str
    base_uri: str
    api_uri: str
    count: Counts
    edition: str = "photosvc"
    mode: str = "user"
    auth_mode: str = "password"
    readonly: bool
    """Whether the originals are read-only."""
    thumbs: Sequence[Size] = tuple(SIZES.values())


def client_config(service: Service, who: Principal) -> ClientConfig:
    """The configuration for this principal; a token that it may not use is empty."""
    settings, now = service.settings, service.now()
    may_download = policy.may(who, "photos.download")
    with searching(who.owner_uid, "config") as connection:
        years = service.years.read(connection, sees_private=who.sees_private)
    return ClientConfig(
        download_token=link_tokens.download_token(settings, who, now) if may_download else "",
        preview_token=link_tokens.preview_token(settings, who) if policy.may(who, "photos.preview") else "",
        years=years,
    )


@require("config.view")
@answers(ConfigSchema, "The configuration.")
def read_config() -> Response:
    """The configuration: tokens for links, sizes of thumbnails, addresses, and how much the library contains."""
    service, who = current_service(), principal()
    with searching(who.owner_uid, "config") as connection:
        count = service.counts.read(connection, sees_private=who.sees_private)
    api_uri = url_for(".read_config").removesuffix("/config")
    config = _Config(
        **asdict(client_config(service, who)),
        name=service.settings.site_name,
        site_url=address_of(service, request, "/"),
        base_uri=api_uri.removesuffix("/api/v1"),
        api_uri=api_uri,
        count=count,
        readonly=service.settings.readonly,
    )
    return json_answer(ConfigSchema().dump(config))
