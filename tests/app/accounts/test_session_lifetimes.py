"""When login sessions, app passwords and access tokens end."""

from tests.helpers.api_client import check_error, open_api


def test_without_use_a_session_ends_after_seven_days_to_the_second(api):
    used, idle = api.session_of(), api.session_of()
    api.clock.move(days=7, seconds=-1)
    assert api.is_alive(used)
    api.clock.move(seconds=1)
    assert api.is_alive(used)
    check_error(api.call("GET", "/photos", idle), 401)


def test_in_use_a_session_ends_after_fourteen_days_to_the_second(api):
    token = api.session_of()
    for _ in range(13):
        api.clock.move(days=1)
        assert api.is_alive(token)
    api.clock.move(days=1, seconds=-1)
    assert api.call("GET", "/session", token).json["expires_in"] == 1
    api.clock.move(seconds=1)
    answer = api.call("GET", "/session", token)
    check_error(answer, 401)
    assert 'error="invalid_token"' in answer.headers["WWW-Authenticate"]


def test_lifetimes_follow_the_settings(tmp_path):
    settings = {"PHOTOSVC_SESSION_MAX_AGE": 3600, "PHOTOSVC_SESSION_IDLE": 60}
    with open_api(tmp_path / "short", settings=settings) as api:
        body = api.log_in().json
        assert body["expires_in"] == 3600
        api.clock.move(seconds=59)
        assert api.is_alive(body["id"])
        api.clock.move(seconds=60)
        assert not api.is_alive(body["id"])
