"""A client of resumable uploads by tus 1.0."""

from base64 import b64encode

TYPE = "application/offset+octet-stream"


def tus(api, token, method, path="/uploads", data=b"", **headers):
    given = {name.replace("_", "-"): str(value) for name, value in headers.items()}
    answer = api.call(method, path, token, data=data, headers={"Tus-Resumable": "1.0.0", **given})
    assert answer.headers["Tus-Resumable"] == "1.0.0"
    return answer


def metadata(**values):
    return ",".join(f"{key} {b64encode(value.encode()).decode()}" for key, value in values.items())


def create(api, token, length, **values):
    """The path of a new upload."""
    answer = tus(api, token, "POST", Upload_Length=length, Upload_Metadata=metadata(**values))
    assert (answer.status_code, answer.data) == (201, b"")
    return path_of(answer)


def path_of(answer):
    return answer.headers["Location"].removeprefix("/api/v1")


def patch(api, token, path, data, offset, **headers):
    return tus(api, token, "PATCH", path, data, Upload_Offset=offset, Content_Type=TYPE, **headers)


def cancel(api, token, path):
    assert tus(api, token, "DELETE", path).status_code == 204


def offset_of(api, token, path):
    answer = tus(api, token, "HEAD", path)
    assert (answer.status_code, answer.headers["Cache-Control"]) == (200, "no-store")
    return int(answer.headers["Upload-Offset"])
