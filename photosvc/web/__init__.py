"""Where Flask begins: the current service, the resource protector, error answers."""
