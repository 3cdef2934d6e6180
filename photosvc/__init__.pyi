from photosvc.auth.principal import HostUser as HostUser
from photosvc.extension import PhotoService as PhotoService
from photosvc.records.results import FoundFile as FoundFile
from photosvc.records.results import FoundPhoto as FoundPhoto
from photosvc.web.searching import SearchResults as SearchResults

__version__: str
