"""Overviews of the photos that a query finds: by month for a timeline, by place for a map."""
