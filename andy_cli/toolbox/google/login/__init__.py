"""The login: how andy gets leave to use a Google account, keeps it, renews it and gives it up."""
