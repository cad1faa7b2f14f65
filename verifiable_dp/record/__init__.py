"""The record of an audit: its form, its seal, its verification."""
