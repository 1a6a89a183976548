"""Read what stands within the markers of a call: JSON, elements, Python."""
