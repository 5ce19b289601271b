"""What every local model stands on."""
