from photosvc.auth.host_user import HostUser as HostUser
from photosvc.extension import PhotoService as PhotoService

__version__: str
