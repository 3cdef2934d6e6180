"""The security log: who logged in, was refused, or changed what decides on access; never a secret."""
