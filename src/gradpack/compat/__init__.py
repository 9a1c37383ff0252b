"""All that exists only so that programs and files that know other names work."""
