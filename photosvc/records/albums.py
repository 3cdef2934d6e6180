"""Records of albums, folders and months, of public links and shares of albums, and of requests to change them."""

from typing import Any

from marshmallow import Schema, fields, pre_load, validate

from photosvc.core.accounts import SHARE_ROLES
from photosvc.records import limits
from photosvc.records.fields import (
    ALBUM_UID,
    PHOTO_UID,
    TEXT,
    AnyCaseSchema,
    Flag,
    Line,
    Lines,
    NullableTimestamp,
    Timestamp,
    about,
    constant,
    texts,
)
from photosvc.records.photos import AlbumSchema

_THUMB = {"description": "The hash of the cover, which is the latest photo; empty without photos."}
#: Source of a cover that a person chose.
_CHOSEN = "manual"
#: Names that one published client sends in place of those of the record.
_ELSEWHERE = {"linkexpires": "Expires", "shareslug": "Slug"}


class AlbumResultSchema(AlbumSchema):
    """An album, made by people or computed, with the number of its photos."""

    Path = fields.String(attribute="path")
    Country = fields.String(attribute="country")
    State = fields.String(attribute="state")
    Year = fields.Integer(attribute="year")
    Month = fields.Integer(attribute="month")
    PhotoCount = fields.Integer(attribute="photo_count")
    Category = fields.String(attribute="category")
    Location = fields.String(attribute="location")
    Notes = fields.String(attribute="notes")
    Thumb = fields.String(
        attribute="thumb", metadata=about("The hash of the cover: the chosen photo, else the latest; empty without.")
    )
    ThumbSrc = fields.Function(
        lambda album: _CHOSEN if album.cover else "",
        metadata={"type": "string", "description": "`manual`: a person chose the cover."},
    )
    LinkCount = fields.Integer(
        attribute="link_count", metadata=about("The public links to it; 0 for those who may not list them.")
    )


class AlbumEditSchema(AnyCaseSchema):
    """Changes of an album; fields that are absent or null keep their value."""

    Title = Line(limits.TITLE, attribute="title", metadata={"example": "Summer"})
    Description = Lines(limits.TEXT, attribute="description")
    Category = Line(limits.LINE, attribute="category")
    Location = Line(limits.LINE, attribute="location")
    Notes = Lines(limits.TEXT, attribute="notes")
    Thumb = fields.String(
        attribute="thumb",
        validate=validate.Regexp(r"([0-9A-Fa-f]{40})?\Z", error="Send the hash of a file, or nothing."),
        metadata=about("The hash of a photo in the album that becomes its cover; empty: the latest photo."),
    )
    ThumbSrc = fields.String(
        attribute="thumb_src", metadata=about("With another value than `manual`, `Thumb` chooses no cover.", ["manual"])
    )
    Filter = Line(limits.TEXT, attribute="filter", metadata=about("The query of a smart album."))
    Order = Line(32, attribute="order")
    Favorite = Flag(attribute="favorite")
    Private = Flag(attribute="private")

    @pre_load
    def _without_null(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        return {name: value for name, value in data.items() if value is not None}


class AlbumSelectionSchema(AnyCaseSchema):
    """A selection of albums."""

    albums = texts("Album UIDs.", ALBUM_UID)


class ArrangementSchema(AnyCaseSchema):
    """A manual order of photos."""

    photos = fields.List(fields.String(), required=True, metadata=about("Photo UIDs in their order.", [PHOTO_UID]))
    before = fields.String(
        load_default=None,
        allow_none=True,
        metadata=about("The photo that follows them; without it they become the first photos."),
    )
    last = fields.Boolean(
        load_default=False, allow_none=True, metadata=about("True to make them the last photos.", [True])
    )
    order = fields.String(
        load_default=None,
        allow_none=True,
        metadata=about("The order in which the album is shown now: it keeps that one first, and is manual then."),
    )


class FolderSchema(Schema):
    """A folder."""

    UID = fields.String(attribute="uid")
    Path = fields.String(attribute="path")
    Root = fields.String(attribute="root")
    Title = fields.String(attribute="name")
    PhotoCount = fields.Integer(attribute="photo_count")
    TotalCount = fields.Integer(attribute="total_count")
    Thumb = fields.String(attribute="thumb", metadata=_THUMB)


class MomentSchema(Schema):
    """A month."""

    Label = fields.String(attribute="title")
    Slug = fields.Function(lambda month: month.title, metadata=TEXT)
    Country = fields.String(attribute="country")
    State = fields.String(attribute="state")
    Year = fields.Integer(attribute="year")
    Month = fields.Integer(attribute="month")
    PhotoCount = fields.Integer(attribute="photo_count")
    UID = fields.String(attribute="uid")
    Thumb = fields.String(attribute="thumb", metadata=_THUMB)


class AdditionSchema(AnyCaseSchema):
    """A request to add uploaded files to the library, and to albums."""

    albums = texts(
        "UIDs of albums, or titles of new ones, that the photos are added to.", "Summer", most=50, longest=255
    )


class ZipSelectionSchema(AnyCaseSchema):
    """The files of an archive, as known clients send selections of all kinds."""

    photos = texts("Photo UIDs.", PHOTO_UID)
    files = texts("File UIDs or hashes.")
    albums = texts("Album UIDs.")
    q = fields.String(load_default=None, allow_none=True, metadata=about("A query, as in the search."))


def _seconds(link: Any) -> int:  # noqa: ANN401 - records do not import models
    """Return the seconds from the last change to the end of a link; 0 without an end."""
    return 0 if link.expires_at is None else max(1, int((link.expires_at - link.updated_at).total_seconds()))


class LinkSchema(Schema):
    """A public link; `Token` is empty except in the answer that makes the link."""

    UID = fields.String(attribute="uid")
    ShareUID = fields.String(attribute="album_uid", metadata=about("The UID of the album."))
    Slug = fields.String(attribute="slug")
    Token = fields.Constant("", metadata={"type": "string", "description": "Only in the answer to `POST`."})
    Expires = fields.Function(
        _seconds, metadata={"type": "integer", "description": "Seconds since `ModifiedAt`; 0: never."}
    )
    ExpiresAt = NullableTimestamp(attribute="expires_at")
    Views = fields.Integer(attribute="views", metadata=about("Visits."))
    LastViewAt = NullableTimestamp(attribute="last_view_at")
    MaxViews = fields.Integer(attribute="max_views", metadata=about("The most visits; 0: any number."))
    VerifyPassword = fields.Function(
        lambda link: bool(link.password_hash), metadata={"type": "boolean", "description": "The link has a password."}
    )
    CanDownload = fields.Boolean(attribute="downloads", metadata=about("Visitors may download originals."))
    ShowMetadata = fields.Boolean(
        attribute="metadata_shown", metadata=about("Visitors see places, cameras, people, texts and names of files.")
    )
    CanUpload = fields.Boolean(attribute="uploads", metadata=about("Visitors may add photos to the album."))
    Comment = fields.String(attribute="comment")
    Perm = constant(0)
    CreatedBy = fields.String(attribute="created_by", metadata=about("UID; empty: the command line."))
    CreatedAt = Timestamp(attribute="created_at")
    ModifiedAt = Timestamp(attribute="updated_at")


class LinkEditSchema(AnyCaseSchema):
    """A new link, or changes of one; fields that are absent or null keep their value."""

    Slug = Line(limits.SLUG, attribute="slug", metadata=about("The readable end of its address."))
    Expires = fields.Integer(
        attribute="expires", strict=True, metadata=about("Seconds from now on; 0: never.", 604_800)
    )
    MaxViews = fields.Integer(
        attribute="max_views",
        strict=True,
        validate=validate.Range(0, limits.LINK_VISITS),
        metadata=about("The most visits; 0: any number."),
    )
    Password = fields.String(attribute="password", metadata=about("Empty: none."))
    CanDownload = Flag(attribute="downloads", metadata=about("Visitors may download originals; needs `ShowMetadata`."))
    ShowMetadata = Flag(
        attribute="metadata_shown", metadata=about("Visitors see places, cameras, people, texts and names of files.")
    )
    CanUpload = Flag(
        attribute="uploads",
        metadata=about("Visitors may add photos to the album, in the quota of the account that made the link."),
    )
    Comment = Line(limits.LINK_COMMENT, attribute="comment", metadata=about("A note for its owner."))

    @pre_load
    def _known_names(self, data: dict[str, Any], **_: object) -> dict[str, Any]:
        named = {_ELSEWHERE.get(name.lower().replace("_", ""), name): value for name, value in data.items()}
        return {name: value for name, value in named.items() if value is not None}


class ShareSchema(Schema):
    """An account that an album is shared with."""

    AlbumUID = fields.String(attribute="album_uid")
    AccountUID = fields.String(attribute="user.uid")
    Name = fields.String(attribute="user.name")
    DisplayName = fields.String(attribute="user.display_name")
    Role = fields.Function(
        lambda share: SHARE_ROLES[share.contributes],
        metadata={"type": "string", "enum": [*SHARE_ROLES], "description": "`contributor`: may add photos."},
    )
    CreatedBy = fields.String(attribute="created_by", metadata=about("UID; empty: the command line."))
    CreatedAt = Timestamp(attribute="created_at")
    ModifiedAt = Timestamp(attribute="updated_at")


class ShareEditSchema(AnyCaseSchema):
    """The role of an account in a shared album."""

    Role = fields.String(attribute="role", validate=validate.OneOf(SHARE_ROLES), load_default=SHARE_ROLES[0])


class NewShareSchema(ShareEditSchema):
    """An account to share an album with."""

    Account = Line(limits.ACCOUNT, attribute="account", required=True, metadata=about("Its name or UID.", "grandma"))


class SharedAlbumSchema(AlbumResultSchema):
    """An album that is shared with the own account."""

    Role = fields.String(attribute="role", metadata={"enum": [*SHARE_ROLES]})
    SharedBy = fields.String(attribute="shared_by", metadata=about("The displayed name of an account."))
    SharedAt = Timestamp(attribute="shared_at")


class TakenOutSchema(AnyCaseSchema):
    """Photos to take out of a shared album."""

    photos = fields.List(fields.String(), required=True, metadata=about("Photo UIDs.", [PHOTO_UID]))
