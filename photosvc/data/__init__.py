"""Tables shipped with the service: places of the world and country names. See NOTICE for their sources."""
