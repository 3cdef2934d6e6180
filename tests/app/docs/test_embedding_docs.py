"""docs/embedding.md names every part and argument, and its first example runs."""

import inspect
import re
from pathlib import Path

from flask import Flask
from flask_sqlalchemy import SQLAlchemy

import photosvc
from photosvc import HostUser, PhotoService
from photosvc.web.parts import PARTS

GUIDE = (Path(__file__).parents[3] / "docs/embedding.md").read_text()


def rows(heading):
    section = GUIDE.partition(heading)[2].partition("\n## ")[0]
    return re.findall(r"^\| (.+?) \|", section, re.MULTILINE)


def test_the_table_of_parts_has_every_part():
    assert {name.strip("`") for name in rows("## Parts") if name.startswith("`")} == set(PARTS)


def test_the_named_blueprints_and_endpoint_exist(tmp_path):
    example = Flask("app", instance_path=str(tmp_path))
    example.config["SQLALCHEMY_DATABASE_URI"] = "sqlite://"
    PhotoService(example, db=SQLAlchemy(example), url_prefix="/media", address="https://example.org")
    named = re.search(r"Each resource is a blueprint: (.+?)\. Its", GUIDE)[1]
    assert set(re.findall(r"`([\w.]+)`", named)) <= set(example.blueprints)
    assert re.search(r'url_for\("(.+?)"\)', GUIDE)[1] in example.view_functions


def test_every_argument_of_init_app_is_named():
    named = set(re.findall(r"`(\w+)`", " ".join(rows("# Inside your own Flask app"))))
    assert named == set(inspect.signature(PhotoService.init_app).parameters) - {"self", "app"} | {"init_app"}


def test_every_attribute_of_a_users_record_is_named():
    assert {name.strip("`") for name in rows("## Your users")} - {"HostUser", "---"} == set(HostUser.__slots__)


def test_every_error_that_a_host_may_catch_is_named_and_exported():
    named = {name.strip("`") for name in rows("## Errors")} - {"error", "---"} | {"PhotosvcError", "SettingError"}
    errors = {name: getattr(photosvc, name) for name in dir(photosvc) if name.endswith("Error")}
    assert named == set(errors)
    assert all(issubclass(error, photosvc.PhotosvcError) for error in errors.values())
