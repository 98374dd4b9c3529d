"""How the demo corpus is built: stamps, backgrounds, composition, photographs, files."""
