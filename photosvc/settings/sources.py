"""The sources of settings: files in the instance folder, the environment, the embedding app, and defaults."""

import re
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from photosvc.core.errors import SettingError
from photosvc.core.files import read_or_create
from photosvc.core.times import machine_zone
from photosvc.settings.instance import FILE, INSTANCE_VARIABLE, is_samples, remembered_originals
from photosvc.settings.table import Settings, secret, setting_fields

PREFIX = "PHOTOSVC_"
#: Variables that Kubernetes and Docker set in all containers for a service or container whose name begins with
#: photosvc: `PHOTOSVC_SERVICE_HOST`, `PHOTOSVC_SERVICE_PORT_HTTP`, `PHOTOSVC_PORT`, `PHOTOSVC_PORT_80_TCP_ADDR`,
#: `PHOTOSVC_NAME`.
_OF_SERVICES = re.compile(
    r"PHOTOSVC_([A-Z0-9_]+_)?(SERVICE_HOST|SERVICE_PORT(_[A-Z0-9_]+)?|PORT(_\d+_(TCP|UDP|SCTP)(_(ADDR|PORT|PROTO))?)?)"
    r"|PHOTOSVC_NAME|PHOTOSVC_ENV_[A-Za-z0-9_]+"
)
#: The source of a folder of originals that an earlier `svc run` has stored.
REMEMBERED = f"instance/{FILE}"


def load_settings(
    instance: Path,
    *,
    environ: Mapping[str, str] | None = None,
    overrides: Mapping[str, object] | None = None,
    reads_config: bool = True,
) -> Settings:
    """Load the settings of a service whose instance folder is `instance`.

    Args:
        instance: the folder with `config.py` and the keys.
        environ: the source of the `PHOTOSVC_*` variables.
        overrides: names and values that override all other sources.
        reads_config: false inside a host app, because `config.py` then belongs to the host.

    Raises:
        SettingError: a name is unknown or a value is invalid; the message names it and its source.
    """
    known = setting_fields()
    sources: list[tuple[str, Mapping[str, object]]] = [
        ("instance/config.py", _config_file(instance / "config.py") if reads_config else {}),
        ("environment", {name: value for name, value in (environ or {}).items() if _is_setting(name)}),
        ("app", overrides or {}),
    ]
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for origin, source in sources:
        for full_name, raw in source.items():
            name = full_name.removeprefix(PREFIX).lower()
            if not full_name.startswith(PREFIX) or full_name != full_name.upper() or name not in known:
                msg = f"{full_name} ({origin}) is not a setting of photosvc; see docs/configuration.md"
                raise SettingError(msg, field=full_name)
            try:
                values[name] = known[name]["parse"](raw)
            except ValueError as error:
                raise SettingError(f"{full_name} ({origin}) is not valid: {error}", field=full_name) from None
            origins[name] = origin
    if "originals" not in values and reads_config and (folder := _remembered_folder(instance)):
        values["originals"], origins["originals"] = folder, REMEMBERED
    for name, value in _defaults(instance, known).items():
        if name not in values:
            values[name], origins[name] = value, "default"
    key_file = None if "secret_key" in values else instance.absolute() / "secret_key"
    if key_file is not None:
        values["secret_key"], origins["secret_key"] = _secret_file(key_file), "instance/secret_key"
    values["secret_key"], *former = values["secret_key"].split()
    return Settings(**values, former_keys=tuple(former), key_file=key_file, origins=origins)


def is_of_a_service(variable: str) -> bool:
    """Return whether Kubernetes or Docker set this variable for a service or container named like photosvc."""
    return _OF_SERVICES.fullmatch(variable) is not None


def _is_setting(variable: str) -> bool:
    return variable.startswith(PREFIX) and variable != INSTANCE_VARIABLE and not is_of_a_service(variable)


def _remembered_folder(instance: Path) -> Path | None:
    """Return the folder of the last `svc run`; for the samples, None as soon as `instance/originals` exists."""
    try:
        folder = remembered_originals(instance)
    except (OSError, ValueError) as error:
        msg = f"{REMEMBERED} cannot be used: {error}. Remove the file, or name the folder: svc run --photos FOLDER"
        raise SettingError(msg, field="PHOTOSVC_ORIGINALS") from None
    if folder is not None and is_samples(folder) and (instance / "originals").is_dir():
        return None
    return folder


def _defaults(instance: Path, known: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    instance = instance.absolute()
    defaults = {name: data["default"] for name, data in known.items() if data["default"] is not None}
    defaults["originals"] = instance / "originals"
    defaults["cache"] = instance / "cache"
    defaults["import_folder"] = instance / "import"
    defaults["timezone"] = machine_zone()
    defaults["database_uri"] = f"sqlite:///{instance / 'photosvc.db'}"
    return defaults


def _config_file(path: Path) -> dict[str, object]:
    """Return the upper-case names of a Python file with their values, as Flask reads them."""
    try:
        source = path.read_text("utf-8")
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError) as error:
        raise SettingError(f"instance/config.py cannot be read: {type(error).__name__}") from None
    names: dict[str, object] = {"__file__": str(path)}
    try:
        exec(compile(source, str(path), "exec"), names)  # noqa: S102 - the owner's own configuration, as in Flask
    except Exception as error:
        raise SettingError(f"instance/config.py stops with {type(error).__name__}: {error}") from error
    return {name: value for name, value in names.items() if name.isupper()}


def _secret_file(path: Path) -> str:
    try:
        return secret(read_or_create(path, lambda: secrets.token_hex(32)))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f"instance/secret_key cannot be used: {reason}; {INSTANCE_VARIABLE} is {path.parent}"
        raise SettingError(msg, field="PHOTOSVC_SECRET_KEY") from None
