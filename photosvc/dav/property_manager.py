"""The property manager that WsgiDAV calls, over the dead properties in the database."""

from typing import Any

from wsgidav.dav_error import HTTP_INSUFFICIENT_STORAGE, DAVError

from photosvc.dav import properties
from photosvc.dav.locks import serialize
from photosvc.dav.paths import key
from photosvc.web.current import Service

Environ = dict[str, Any]


class PropertyManager:
    """The methods of WsgiDAV's `PropertyManager`; each is a transaction of its own."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def get_properties(self, norm_url: str, environ: Environ | None = None) -> list[str]:  # noqa: ARG002
        """The names of the properties of a resource."""
        with self._service.loading() as session:
            return properties.names(session, key(norm_url))

    def get_property(self, norm_url: str, name: str, environ: Environ | None = None) -> str | None:  # noqa: ARG002
        """The XML of a property; None when there is none."""
        with self._service.loading() as session:
            return properties.find(session, key(norm_url), name)

    def write_property(self, norm_url: str, name: str, property_value: bytes, dry_run: bool, environ: Environ) -> None:
        """Store a property, or only find out whether that would succeed.

        Raises:
            DAVError: 507 over a limit.

        """
        values, user_uid = {name: element_text(property_value)}, environ["wsgidav.auth.user_name"]
        try:
            if dry_run:
                with self._service.loading() as session:
                    properties.check(session, key(norm_url), values, user_uid)
                return
            with self._service.writing() as session:
                serialize(session)
                properties.check(session, key(norm_url), values, user_uid)
                properties.write(session, key(norm_url), values, user_uid)
        except properties.PropertyLimitError as error:
            raise DAVError(HTTP_INSUFFICIENT_STORAGE, str(error)) from None

    def remove_property(self, norm_url: str, name: str, dry_run: bool, environ: Environ | None = None) -> None:  # noqa: ARG002
        """Delete a property if there is one."""
        if not dry_run:
            with self._service.writing() as session:
                properties.remove(session, key(norm_url), [name])

    def remove_properties(self, norm_url: str, environ: Environ | None = None) -> None:  # noqa: ARG002
        """Delete the properties of a resource and of all inside it."""
        with self._service.writing() as session:
            properties.remove_all(session, key(norm_url))

    def copy_properties(self, src_url: str, dest_url: str, environ: Environ) -> None:
        """Copy the properties of one resource."""
        with self._service.writing() as session:
            serialize(session)
            user_uid = environ["wsgidav.auth.user_name"]
            properties.copy(session, key(src_url), key(dest_url), user_uid, deep=False)

    def move_properties(
        self,
        src_url: str,
        dest_url: str,
        with_children: bool,  # noqa: ARG002 - what is inside always follows
        environ: Environ | None = None,  # noqa: ARG002
    ) -> None:
        """Let the properties follow a resource and all inside it."""
        with self._service.writing() as session:
            serialize(session)
            properties.move(session, key(src_url), key(dest_url))


def element_text(xml: bytes) -> str:
    """A serialized element without the text behind it, which both XML libraries append."""
    return xml[: xml.rfind(b">") + 1].decode()
