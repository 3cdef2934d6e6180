"""An edit of many photos is taken back on both databases."""

from tests.app.library.test_batch_edits import keywords, photo
from tests.app.library.test_photo_batches import sender, uids
from tests.helpers.factories.photos import add_photos
from tests.helpers.library import open_library


def test_an_edit_is_taken_back_on_both_databases(tmp_path, new_database):
    library = open_library(tmp_path / "instance", settings={"PHOTOSVC_DATABASE_URI": new_database()})
    with library.session() as session:
        add_photos(session, 6, library.clock())
    send, chosen = sender(library), list(dict.fromkeys(uids(library)))
    before = [photo(library, uid) for uid in chosen]
    edit = send("edit", photos=chosen, add_keywords="quay", shift=90, values={"Title": "Lake"})
    assert edit["photos"] == len(chosen)
    assert all("quay" in keywords(library, uid) for uid in chosen)
    send("undo", status=404, photos=chosen, change=2**63 - 1)
    back = send("undo", photos=chosen, change=edit["change"])
    assert (back["photos"], back["left"]) == (len(chosen), 0)
    for uid, old in zip(chosen, before, strict=True):
        now = photo(library, uid)
        assert [now[name] for name in ("Title", "TakenAtLocal")] == [old[name] for name in ("Title", "TakenAtLocal")]
        assert keywords(library, uid) == set(filter(None, old["Details"]["Keywords"].split(", ")))
    library.close()
