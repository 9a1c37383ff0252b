"""The reference of the documentation: a page for every public name, written while the site is built."""
