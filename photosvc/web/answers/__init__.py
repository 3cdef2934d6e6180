"""What is sent: JSON and error answers, their headers, pages of a list."""
