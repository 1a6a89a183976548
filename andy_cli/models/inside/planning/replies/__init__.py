"""The words of the small model itself: questions, conclusions, small talk."""
