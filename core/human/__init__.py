"""Human validation: studies, their annotators and votes."""
