"""Calls written as elements: their tags, sections and quotations."""
