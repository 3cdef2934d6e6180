"""Where Flask begins: the current service, the resource protector, contracts of views."""
