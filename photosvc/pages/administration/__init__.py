"""Administration: accounts, clients, devices and the security log, and what the library does."""
