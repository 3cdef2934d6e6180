"""Records of shared albums: public links, in the form of PhotoPrism, with further rights, and shares with accounts."""

from typing import Any

from marshmallow import Schema, fields, pre_load, validate

from photosvc.core.accounts import MAX_LINK_COMMENT, MAX_LINK_VISITS, SHARE_ROLES
from photosvc.records.albums import AlbumResultSchema
from photosvc.records.fields import PHOTO_UID, AnyCaseSchema, CleanText, NullableTimestamp, Timestamp

_LONGEST_SLUG, _LONGEST_ACCOUNT = 160, 250
#: Names that one published client sends instead of those of the record.
_ELSEWHERE = {"linkexpires": "Expires", "shareslug": "Slug"}


def _seconds(link: Any) -> int:  # noqa: ANN401 - records do not import models
    """Return the lifetime in seconds since the last change; 0 without an end."""
    return 0 if link.expires_at is None else max(1, int((link.expires_at - link.updated_at).total_seconds()))


class LinkSchema(Schema):
    """A public link; `Token` is empty except in the answer that makes the link."""

    UID = fields.String(attribute="uid")
    ShareUID = fields.String(attribute="album_uid", metadata={"description": "The UID of the album."})
    Slug = fields.String(attribute="slug")
    Token = fields.Constant("", metadata={"type": "string", "description": "Only in the answer to `POST`."})
    Expires = fields.Function(
        _seconds, metadata={"type": "integer", "description": "Seconds since `ModifiedAt`; 0: never."}
    )
    ExpiresAt = NullableTimestamp(attribute="expires_at")
    Views = fields.Integer(attribute="views", metadata={"description": "Visits."})
    LastViewAt = NullableTimestamp(attribute="last_view_at")
    MaxViews = fields.Integer(attribute="max_views", metadata={"description": "The most visits; 0: any number."})
    VerifyPassword = fields.Function(
        lambda link: bool(link.password_hash), metadata={"type": "boolean", "description": "The link has a password."}
    )
    CanDownload = fields.Boolean(attribute="downloads", metadata={"description": "Visitors may download originals."})
    ShowMetadata = fields.Boolean(
        attribute="metadata_shown",
        metadata={"description": "Visitors see places, cameras, people, texts and names of files."},
    )
    Comment = fields.String(attribute="comment")
    Perm = fields.Constant(0, metadata={"type": "integer"})
    CreatedBy = fields.String(attribute="created_by", metadata={"description": "UID; empty: the command line."})
    CreatedAt = Timestamp(attribute="created_at")
    ModifiedAt = Timestamp(attribute="updated_at")


class LinkEditSchema(AnyCaseSchema):
    """A new link, or changes of one; fields that are absent or null keep their value."""

    Slug = CleanText(_LONGEST_SLUG, attribute="slug", metadata={"description": "The readable end of its address."})
    Expires = fields.Integer(
        attribute="expires", metadata={"description": "Seconds from now on; 0: never.", "example": 604_800}
    )
    MaxViews = fields.Integer(
        attribute="max_views",
        validate=validate.Range(0, MAX_LINK_VISITS),
        metadata={"description": "The most visits; 0: any number."},
    )
    Password = fields.String(attribute="password", metadata={"description": "Empty: none."})
    CanDownload = fields.Boolean(
        attribute="downloads",
        truthy={True},
        falsy={False},
        metadata={"description": "Visitors may download originals; needs `ShowMetadata`."},
    )
    ShowMetadata = fields.Boolean(
        attribute="metadata_shown",
        truthy={True},
        falsy={False},
        metadata={"description": "Visitors see places, cameras, people, texts and names of files."},
    )
    Comment = CleanText(MAX_LINK_COMMENT, attribute="comment", metadata={"description": "A note for its owner."})

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
    CreatedBy = fields.String(attribute="created_by", metadata={"description": "UID; empty: the command line."})
    CreatedAt = Timestamp(attribute="created_at")
    ModifiedAt = Timestamp(attribute="updated_at")


class ShareEditSchema(AnyCaseSchema):
    """The role of an account in a shared album."""

    Role = fields.String(attribute="role", validate=validate.OneOf(SHARE_ROLES), load_default=SHARE_ROLES[0])


class NewShareSchema(ShareEditSchema):
    """An account to share an album with."""

    Account = CleanText(
        _LONGEST_ACCOUNT,
        attribute="account",
        required=True,
        metadata={"description": "Its name or UID.", "example": "grandma"},
    )


class SharedAlbumSchema(AlbumResultSchema):
    """An album that is shared with the own account."""

    Role = fields.String(attribute="role", metadata={"enum": [*SHARE_ROLES]})
    SharedBy = fields.String(attribute="shared_by", metadata={"description": "The displayed name of an account."})
    SharedAt = Timestamp(attribute="shared_at")


class TakenOutSchema(AnyCaseSchema):
    """Photos to take out of a shared album."""

    photos = fields.List(
        fields.String(), required=True, metadata={"description": "Photo UIDs.", "example": [PHOTO_UID]}
    )
