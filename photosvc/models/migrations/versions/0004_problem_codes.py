"""Why a file is left out or cannot be shown: a code with details in place of a sentence."""

import errno
import os
import re
import signal
from collections.abc import Callable

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

FILES, REJECTED = "photosvc_files", "photosvc_rejected_files"

#: Code -> sentence before this revision, with a `{}` for each detail. More special sentences come first.
SENTENCES = {
    "empty": "the file is empty",
    "too_large": "the file is larger than {} MB",
    "wrong_content": "its content is not a {}",
    "unknown_extension": "its extension is not one of a picture, a video or a sidecar",
    "not_regular": "it is not a regular file",
    "unreadable": "the file cannot be read: {}",
    "missing_extra": "needs the extra \"{}\": pip install 'photosvc[{}]'",
    "truncated": "the picture is truncated",
    "undecodable": "the picture is damaged",
    "bad_header": "the picture's header cannot be read",
    "read_error": "the file cannot be read",
    "over_pixel_limit": "the picture has {} megapixels, the limit is {}",
    "over_header_limit": "the picture has more than {} megapixels",
    "over_ratio": "the picture unpacks to {} times its size",
    "over_available_memory": "the picture needs more memory than there is",
    "no_pixels": "a {} has no pixels to open",
    "undecodable_raw": "LibRaw cannot read this raw",
    "raw_size": "the raw has too many pixels",
    "raw_without_colors": "the raw has no colours",
    "no_video": "the file holds no video",
    "video_size": "the video has no size, or one beyond {} megapixels",
    "out_of_memory": "The file needs more memory to read than allowed.",
    "timeout": "The file took longer than {} s to read.",
    "crashed": "The file made its reader crash.",
    "killed": "The file made its reader crash ({}).",
    "reader_error": "The file could not be read ({}).",
    "duplicate": "the same content as {}",
    "unstorable": "it cannot be stored ({})",
    "legacy": "{}",
}
#: Codes of files that were skipped rather than failed.
SKIPPED = ("empty", "too_large", "wrong_content", "unknown_extension", "not_regular", "missing_extra", "duplicate")
PATTERNS = {
    code: re.compile(re.escape(sentence).replace(re.escape("{}"), "(.+)"), re.DOTALL)
    for code, sentence in SENTENCES.items()
}

#: System errors and signals: symbol -> words.
WORDS = {
    "unreadable": {symbol: os.strerror(number).lower() for number, symbol in errno.errorcode.items()},
    "killed": {number.name: signal.strsignal(number) or number.name for number in signal.Signals},
}


def upgrade() -> None:
    """Forward."""
    for table, code, name in ((FILES, "error", "error_detail"), (REJECTED, "reason", "detail")):
        op.add_column(table, sa.Column(name, sa.Text(), nullable=False, server_default=""))
        _convert(table, code, name, to_code)
    op.drop_column(REJECTED, "failed")


def downgrade() -> None:
    """Back."""
    op.add_column(REJECTED, sa.Column("failed", sa.Boolean(), nullable=False, server_default=sa.true()))
    rows = sa.table(REJECTED, sa.column("reason"), sa.column("failed"))
    op.execute(rows.update().where(rows.c.reason.in_(SKIPPED)).values(failed=sa.false()))
    for table, code, name in ((FILES, "error", "error_detail"), (REJECTED, "reason", "detail")):
        _convert(table, code, name, to_sentence)
        op.drop_column(table, name)


def to_code(sentence: str, _detail: str) -> tuple[str, str]:
    """Code and details of a sentence."""
    code, match = next((code, match) for code, pattern in PATTERNS.items() if (match := pattern.fullmatch(sentence)))
    details = match.groups()[:1] if code == "missing_extra" else match.groups()
    symbols = {words: symbol for symbol, words in WORDS.get(code, {}).items()}
    return code, "\n".join(symbols.get(detail, detail) for detail in details)


def to_sentence(code: str, detail: str) -> tuple[str, str]:
    """Return the sentence of a code and its details, without details."""
    details = detail.split("\n") * (2 if code == "missing_extra" else 1)
    words = WORDS.get(code, {})
    return SENTENCES.get(code, code).format(*(words.get(one, one) for one in details)), ""


def _convert(table: str, code: str, detail: str, convert: Callable[[str, str], tuple[str, str]]) -> None:
    rows = sa.table(table, *map(sa.column, ("id", code, detail)))
    connection = op.get_bind()
    found = connection.execute(sa.select(rows.c.id, rows.c[code], rows.c[detail]).where(rows.c[code] != "")).all()
    changes = [
        {"row": row, "code": new_code, "detail": new_detail}
        for row, old_code, old_detail in found
        for new_code, new_detail in (convert(old_code, old_detail),)
    ]
    if changes:
        update = rows.update().where(rows.c.id == sa.bindparam("row"))
        connection.execute(update.values({code: sa.bindparam("code"), detail: sa.bindparam("detail")}), changes)
