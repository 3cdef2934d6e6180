"""Requests for archives."""

from marshmallow import EXCLUDE, Schema, fields

from photosvc.records.examples import PHOTO_UID


class ZipSelectionSchema(Schema):
    """Loads the selection of an archive, in the form in which known clients send selections of every kind."""

    class Meta:
        """Unknown fields are ignored: clients also send `all`, `labels`, `places` and `subjects`."""

        unknown = EXCLUDE

    photos = fields.List(
        fields.String(),
        load_default=None,
        allow_none=True,
        metadata={"description": "Photo UIDs.", "example": [PHOTO_UID]},
    )
    files = fields.List(
        fields.String(), load_default=None, allow_none=True, metadata={"description": "File UIDs or hashes."}
    )
    albums = fields.List(fields.String(), load_default=None, allow_none=True, metadata={"description": "Album UIDs."})
    q = fields.String(load_default=None, allow_none=True, metadata={"description": "A query, as in the search."})
