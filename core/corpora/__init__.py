"""Items: the schema, one loader a file, curation, taxonomy."""
