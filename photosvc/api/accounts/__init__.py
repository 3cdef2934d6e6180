"""The routes of accounts: log-in sessions, users, and the app passwords and passcodes of a user."""
