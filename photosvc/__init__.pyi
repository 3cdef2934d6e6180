from photosvc.auth.principal import HostUser as HostUser
from photosvc.core.errors import InvalidValueError as InvalidValueError
from photosvc.core.errors import NotFoundError as NotFoundError
from photosvc.core.errors import PermissionDeniedError as PermissionDeniedError
from photosvc.core.errors import PhotosvcError as PhotosvcError
from photosvc.core.errors import SchemaError as SchemaError
from photosvc.core.errors import SettingError as SettingError
from photosvc.extension import PhotoService as PhotoService
from photosvc.records.results import FoundFile as FoundFile
from photosvc.records.results import FoundPhoto as FoundPhoto
from photosvc.search.limits import SearchEndedError as SearchEndedError
from photosvc.web.searching import SearchResults as SearchResults

__version__: str
