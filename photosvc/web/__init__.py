"""The layer above Flask: the current service, the resource protector, and the contracts of views."""
