"""The pages of albums: their list, forms, order of photos, and sharing."""
