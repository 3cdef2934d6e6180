"""`svc show`: settings, scopes, the policy, search filters, sizes of thumbnails and formats."""

import os

import click
from flask import current_app
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError

from photosvc.auth.policy import policy_table, scopes_in_use
from photosvc.auth.scopes import SCOPES
from photosvc.cli.group import LazyGroup, with_service, with_views
from photosvc.cli.terminal import format_options, print_list
from photosvc.media.errors import has_extra
from photosvc.media.formats import FORMATS, UNSUPPORTED
from photosvc.pictures.sizes import NAMED
from photosvc.query.filters import FILTERS
from photosvc.settings import PREFIX, setting_fields
from photosvc.settings.instance import INSTANCE_VARIABLE, default_instance
from photosvc.web.contract import mounted_actions
from photosvc.web.service import Service

_MASK = "********"

#: Operators of filter values, by their sign.
_OPERATORS = {"|": "or", "!": "not", "-": "not", "*": "wildcard", "&": "and", "~": "ranges"}


@click.group(cls=LazyGroup)
def show() -> None:
    """Show settings, scopes, the policy, search filters, sizes of thumbnails and formats."""


@show.command()
@format_options
@with_service
def config(service: Service) -> None:
    """Show every setting with its value, the origin of the value, and its meaning."""
    settings = service.settings
    is_named = service.is_alone and os.environ.get(INSTANCE_VARIABLE)
    is_default = current_app.instance_path == str(default_instance(os.environ))
    place = {
        "name": INSTANCE_VARIABLE,
        "value": current_app.instance_path,
        "origin": "environment" if is_named else "default" if is_default else "app",
        "meaning": "Folder of the database, keys and configuration",
    }
    rows = [place]
    for name, data in setting_fields().items():
        value = getattr(settings, name)
        rows.append(
            {
                "name": PREFIX + name.upper(),
                "value": _masked(name, str(value)) if data["secret"] and value else str(value),
                "origin": settings.origins.get(name, "app"),
                "meaning": data["meaning"],
            }
        )
    print_list({"name": "Setting", "value": "Value", "origin": "Origin", "meaning": "Meaning"}, rows)


def _masked(name: str, value: str) -> str:
    """Return an address without password and parameter values, or asterisks for other secrets."""
    if not name.endswith(("_uri", "_url")):
        return _MASK

    try:
        url = make_url(value)
    except ArgumentError:
        return _MASK
    return url.set(query=dict.fromkeys(url.query, "***")).render_as_string(hide_password=True)


@show.command()
@format_options
@with_views
def scopes(_service: Service) -> None:
    """Show every authorization scope with its meaning, and whether a route of this service asks for it."""
    used = scopes_in_use(mounted_actions())
    rows = [{"scope": scope.name, "description": scope.description, "in_use": scope.name in used} for scope in SCOPES]
    print_list({"scope": "Scope", "description": "Description", "in_use": "In use"}, rows)


@show.command()
@format_options
@with_views
def policy(_service: Service) -> None:
    """Show the policy: every action with the scope, the credentials and the roles that it is open to."""
    headings = {"description": "To", "scope": "Scope", "credentials": "Credentials", "roles": "Roles"}
    print_list({"action": "Action", **headings, "in_use": "In use"}, policy_table(mounted_actions()))


@show.command()
@format_options
def sizes() -> None:
    """Show every size of thumbnails with its pixels, and whether `svc thumbs` makes it by default."""
    rows = [
        {"size": size.name, "width": size.width, "height": size.height, "shows": size.purpose, "usual": size.usual}
        for size in NAMED.values()
    ]
    print_list({"size": "Size", "width": "Width", "height": "Height", "shows": "Shows", "usual": "Usual"}, rows)


@show.command()
@format_options
def filters() -> None:
    """Show every search filter with its values, operators and an example."""
    headings = {"filter": "Filter", "aliases": "Also", "help": "Finds"}
    rows = [
        {
            "filter": spec.name,
            "aliases": ", ".join(spec.aliases),
            "help": spec.help,
            "values": spec.kind.expected,
            "operators": ", ".join(dict.fromkeys(_OPERATORS[sign] for sign in spec.operators)),
            "example": spec.example,
        }
        for spec in FILTERS.values()
    ]
    print_list({**headings, "values": "Values", "operators": "Operators", "example": "Example"}, rows)


@show.command()
@format_options
def formats() -> None:
    """Show every file format with the extra that it needs, and unsupported formats with the reason."""
    rows = [
        {
            "format": row.name,
            "extensions": " ".join(row.extensions),
            "kind": row.media_type,
            "extra": row.extra,
            "supported": not row.extra or has_extra(row.extra),
            "note": row.note,
        }
        for row in FORMATS
    ]
    rows += [
        {"format": "", "extensions": names, "kind": "", "extra": "", "supported": False, "note": reason}
        for names, reason in UNSUPPORTED.items()
    ]
    headings = {"format": "Format", "extensions": "Extensions", "kind": "Kind", "extra": "Extra"}
    print_list({**headings, "supported": "Supported", "note": "Note"}, rows)
