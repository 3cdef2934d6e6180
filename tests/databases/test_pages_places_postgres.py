"""Places as pages on PostgreSQL."""

from tests.app.pages.browser import Browser, text_of
from tests.app.pages.places.test_pages_places import put_spots
from tests.helpers.api_client import open_api


def test_on_postgresql_places_are_the_same_with_hostile_texts_too(tmp_path, new_postgres):
    with open_api(tmp_path, settings={"PHOTOSVC_DATABASE_URI": new_postgres()}) as api:
        put_spots(api.library)
        alice = Browser(api)
        alice.sign_in()
        text = text_of(alice.open("/places"))
        assert "Germany 2 photos" in text
        assert "France 1 photo Paris 1" in text
        assert "Germany 1 photo" in text_of(alice.open("/places?q=taken:2023-05-03+|+taken:2023-05-01"))
        for name in ("q", "s", "order"):
            for value in ("%00", "%ff", "%ED%A0%80", "'", "%25", "9" * 300, "\u202e"):
                assert alice.open(f"/places?{name}={value}").status_code in {200, 400, 404}, (name, value)
