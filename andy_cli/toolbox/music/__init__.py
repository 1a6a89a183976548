"""Music: the songs of a folder, the playlist, and the player that sounds them."""
