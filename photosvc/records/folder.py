"""Folders as the API sends them."""

from marshmallow import Schema, fields


class FolderSchema(Schema):
    """Dumps a folder."""

    UID = fields.String(attribute="uid")
    Path = fields.String(attribute="path")
    Root = fields.String(attribute="root")
    Title = fields.String(attribute="name")
    PhotoCount = fields.Integer(attribute="photo_count")
    TotalCount = fields.Integer(attribute="total_count")


class MomentSchema(Schema):
    """Dumps a month."""

    Label = fields.String(attribute="title")
    Slug = fields.Function(lambda month: month.title, metadata={"type": "string"})
    Country = fields.String(attribute="country")
    State = fields.String(attribute="state")
    Year = fields.Integer(attribute="year")
    Month = fields.Integer(attribute="month")
    PhotoCount = fields.Integer(attribute="photo_count")
    UID = fields.String(attribute="uid")
