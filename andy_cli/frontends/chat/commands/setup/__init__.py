"""Commands about settings, models, tools and permissions."""
