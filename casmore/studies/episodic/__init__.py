"""The paper's studies on robot tasks: tables, figures, claims, pictures."""
