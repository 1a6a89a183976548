"""Cut a reply into segments while it arrives: markers, frames, framing."""
