"""Faults to plant in the code that bounds rest on, and whether tests notice them."""
