"""Plug-ins for engines that serve models: they load the compiler and read calls with it."""
