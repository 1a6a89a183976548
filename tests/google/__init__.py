"""Stand-ins for Google: an emulator of others for what it has, a fake of ours for the rest."""
