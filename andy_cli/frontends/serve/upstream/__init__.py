"""The models behind the server, and what is known of them."""
