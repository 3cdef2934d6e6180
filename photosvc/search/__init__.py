"""The read path: projection, orders, cursors, pages."""
