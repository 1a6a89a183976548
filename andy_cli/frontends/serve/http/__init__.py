"""HTTP itself: connections, who may ask, bodies, and streams that are kept open."""
