"""Every page, by what it shows, and a library that has something for each of them."""

from contextlib import contextmanager

from photosvc.library.look_alikes import request_search
from photosvc.models import Client
from photosvc.models.engine import begin_write
from tests.app.index.indexing_requests import look_at_once
from tests.helpers.api_client import open_api
from tests.helpers.pictures import clouds, encoded, exif, jpeg
from tests.helpers.programs.server import serve

#: Those that a user opens.
PAGES = {
    "the photos": "/",
    "a search": "/?q=year:2023+camera:canon",
    "a query that is wrong": "/?q=yaer:2023",
    "a search without results": "/?q=year:1900",
    "uploading": "/upload",
    "a photo": "/photos/{uid}?q=year:2023",
    "favorites": "/favorites",
    "the archive": "/archive",
    "photos that one deleted": "/trash",
    "photos in review": "/review",
    "nothing in the archive that matches": "/archive?q=year:1900",
    "filters": "/filters?q=year:2023",
    "filters of a query that is wrong": "/filters?q=yaer:2023",
    "labels": "/labels",
    "a label": "/labels/{label}",
    "people": "/people",
    "hidden people": "/people?hidden=yes",
    "no people of this name": "/people?q=x",
    "the map": "/places",
    "the map of a query that is wrong": "/places?q=yaer:2023",
    "folders": "/folders",
    "a folder": "/folders/2023",
    "no folder of this name": "/folders?find=x",
    "albums": "/albums",
    "months": "/albums?type=month",
    "an album": "/albums/{album}",
    "an album without photos": "/albums/{album}?q=year:1900",
    "a new album": "/albums/new?q=year:2023",
    "changing an album": "/albums/{album}/edit",
    "arranging an album": "/albums/{album}/photos",
    "sharing an album": "/albums/{album}/links",
    "a shared album that takes pictures": "/s/{link}?added=1",
    "the account": "/settings/account",
    "apps and devices": "/settings/account/apps",
    "two-factor authentication": "/settings/account/two-factor",
    "the ways of data in and out": "/settings/data",
    "what is not there": "/photos/none",
}


#: Those that an administrator opens.
ADMINISTRATION = {
    "accounts": "/administration/accounts",
    "an account": "/administration/accounts/alice",
    "the end of an account": "/administration/accounts/alice/delete",
    "clients": "/administration/clients",
    "a client": "/administration/clients/{client}",
    "devices": "/administration/devices",
    "the security log": "/administration/security-log",
    "a filter of the security log that is wrong": "/administration/security-log?event=x",
    "the password again": "/administration/confirm",
    "the library": "/administration/library",
    "files that failed": "/administration/library/failures",
    "the trash": "/administration/library/trash",
    "emptying the trash": "/administration/library/trash/empty",
    "look-alikes": "/administration/look-alikes",
    "statistics": "/administration/statistics",
}


#: Photos that searches show: all but the damaged one.
PHOTOS = 8


@contextmanager
def serve_every_page(folder):
    """Serve a library that has something for each page; the address, and the values that the paths of pages contain."""
    with open_api(folder) as api:
        for number in range(6):
            taken = exif({0x010F: "Canon", 0x0110: "EOS 5D"}, {0x9003: f"2023:05:0{number // 2 + 1} 10:00:00"})
            api.library.put(f"2023/IMG_{number}.jpg", jpeg(80, 60, exif=taken) + bytes([number]))
        for width in (60, 120):
            api.library.put(f"{width}.jpg", encoded(clouds(1, 120, 90).resize((width, width * 3 // 4)), "JPEG"))
        api.library.put("2023/damaged.jpg", jpeg(90, 60)[:400])
        api.library.index()
        find_look_alikes(api)
        uid = api.library.find(count=1)[0]["UID"]
        token = api.app_password()
        api.call("PUT", f"/photos/{uid}", token, json={"Details": {"Keywords": "lake"}})
        label = api.call("GET", "/labels", token).json[0]["UID"]
        album = api.call("POST", "/albums", token, json={"Title": "Lake", "Description": "at home"}).json["UID"]
        api.call("POST", f"/albums/{album}/photos", token, json={"photos": [uid]})
        link = api.call("POST", f"/albums/{album}/links", token, json={"CanUpload": True}).json["Token"]
        api.client_token()
        with api.library.session() as session:
            client = session.query(Client.uid).scalar()
        api.access_token()
        with serve(api.library.instance, workers=1, threads=8) as base:
            yield base, {"uid": uid, "album": album, "label": label, "client": client, "link": link}


def find_look_alikes(api):
    with api.library.session() as session:
        engine = session.get_bind()
        begin_write(session)
        request_search(session, api.library.clock())
    assert look_at_once(engine, api.library.clock)
