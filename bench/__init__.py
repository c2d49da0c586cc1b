"""What sekisho costs, as ratios measured side by side on this machine: `make bench`."""
