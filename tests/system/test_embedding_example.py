"""The first example of the guide to embedding."""

import re
from pathlib import Path

GUIDE = (Path(__file__).parents[2] / "docs/embedding.md").read_text()


def test_the_first_example_runs(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOTOSVC_CACHE", str(tmp_path / "cache"))
    example = re.search(r"^    from flask import Flask\n(.*?)\n\n`PhotoService\(\)`", GUIDE, re.DOTALL | re.MULTILINE)[
        0
    ]
    lines = [line[4:] for line in example.splitlines() if line.startswith("    ")]
    source = "\n".join(lines).replace("Flask(__name__)", f"Flask('app', instance_path={str(tmp_path)!r})")
    names = {}
    exec(source, names)
    runner = names["app"].test_cli_runner()
    assert runner.invoke(args=["svc", "db", "upgrade"]).exit_code == 0
    assert names["app"].test_client().get("/media/api/v1/status").status_code == 200
    assert len(names["service"].search()) == 0
    with names["app"].app_context():
        names["db"].engine.dispose()
