"""The product under faults: killed, cut off, out of room."""
