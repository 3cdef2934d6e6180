"""The search: `rows` writes its tables when photos change, `reading` answers requests from them."""
