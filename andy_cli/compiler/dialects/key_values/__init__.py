"""Notations of keys and values between markers, without JSON around them."""
