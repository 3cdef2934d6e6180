"""Helpers of the tests: libraries, pictures, clients, and programs that tests start."""
