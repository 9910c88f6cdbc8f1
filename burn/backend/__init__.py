"""Backends: what runs the ops of a device. `contract` says what a backend provides, each folder is one backend."""
