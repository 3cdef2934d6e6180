"""Programs that tests run in processes of their own, and how they start and watch them."""
