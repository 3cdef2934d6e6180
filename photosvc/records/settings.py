"""Records of the settings in force, under the names that clients of PhotoPrism read."""

from typing import Any, Final

from marshmallow import Schema, fields

#: Features of user interfaces. Nothing here serves `services`, `settings` and `share`, which are always false.
FEATURES: Final = (
    "account",
    "albums",
    "archive",
    "calendar",
    "delete",
    "download",
    "edit",
    "estimates",
    "favorites",
    "files",
    "folders",
    "import",
    "labels",
    "library",
    "logs",
    "moments",
    "people",
    "places",
    "private",
    "ratings",
    "review",
    "search",
    "services",
    "settings",
    "share",
    "upload",
    "videos",
)
_FLAG: Final = {"type": "boolean"}
_TEXT: Final = {"type": "string"}

FeaturesSchema: Final = Schema.from_dict({name: fields.Boolean() for name in FEATURES}, name="FeaturesSchema")


class StackSchema(Schema):
    """The properties that make files one photo: the same document, the same moment and place, or numbered names."""

    uuid = fields.Boolean()
    meta = fields.Boolean()
    name = fields.Boolean()


class SettingsSchema(Schema):
    """The settings that user interfaces read."""

    features = fields.Nested(FeaturesSchema)
    stack = fields.Nested(StackSchema)


def _path(name: str) -> fields.Field[Any]:
    return fields.Function(lambda settings: str(getattr(settings, name)), metadata=_TEXT)


class OptionsSchema(Schema):
    """The options of the service; sizes are in MB, times in seconds."""

    OriginalsPath = _path("originals")
    OriginalsLimit = fields.Integer(attribute="max_file_size")
    ImportPath = _path("import_folder")
    CachePath = _path("cache")
    DatabaseDriver = fields.Function(
        lambda settings: "sqlite" if settings.database_uri.startswith("sqlite") else "postgres", metadata=_TEXT
    )
    ReadOnly = fields.Boolean(attribute="readonly")
    SiteUrl = fields.String(attribute="base_url")
    SiteTitle = fields.String(attribute="site_name")
    SessionMaxAge = fields.Integer(attribute="session_max_age")
    SessionTimeout = fields.Integer(attribute="session_idle")
    Workers = fields.Integer(attribute="index_workers")
