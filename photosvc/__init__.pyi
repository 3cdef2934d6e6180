from photosvc.auth.host_user import HostUser as HostUser
from photosvc.extension import PhotoService as PhotoService
from photosvc.records.photos.results import FoundFile as FoundFile
from photosvc.records.photos.results import FoundPhoto as FoundPhoto
from photosvc.records.photos.results import SearchResults as SearchResults

__version__: str
