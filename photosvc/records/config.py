"""The configuration as clients read it."""

from marshmallow import Schema, fields

from photosvc.records.accounts import ClientConfigSchema


class CountsSchema(Schema):
    """Dumps how much of the library the reader may see."""

    all = fields.Integer()
    photos = fields.Integer()
    live = fields.Integer()
    videos = fields.Integer()
    favorites = fields.Integer()
    private = fields.Integer()
    files = fields.Integer()
    albums = fields.Integer()


class ThumbSizeSchema(Schema):
    """Dumps a size of thumbnails; `w` and `h` are pixels."""

    size = fields.String(attribute="name")
    use = fields.String(attribute="purpose")
    w = fields.Integer(attribute="width")
    h = fields.Integer(attribute="height")


class ConfigSchema(ClientConfigSchema):
    """Dumps the configuration of the service, as far as clients need it."""

    name = fields.String()
    edition = fields.String()
    mode = fields.String()
    authMode = fields.String(attribute="auth_mode")  # noqa: N815
    readonly = fields.Boolean()
    siteTitle = fields.String(attribute="name", dump_only=True)  # noqa: N815
    siteUrl = fields.String(attribute="site_url")  # noqa: N815
    baseUri = fields.String(attribute="base_uri")  # noqa: N815
    apiUri = fields.String(attribute="api_uri")  # noqa: N815
    contentUri = fields.String(attribute="api_uri", dump_only=True)  # noqa: N815
    videoUri = fields.String(attribute="api_uri", dump_only=True)  # noqa: N815
    count = fields.Nested(CountsSchema)
    thumbs = fields.List(fields.Nested(ThumbSizeSchema))
