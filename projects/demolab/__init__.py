"""A simulated lab: stands in for a GNS3 server with devices."""
