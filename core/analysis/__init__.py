"""Tables: statistics over stored scores."""
