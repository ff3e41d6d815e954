"""The database that is simply there: a Django backend over an embedded or an own PostgreSQL."""
