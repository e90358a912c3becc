"""The paper's illustrations and studies: tables, figures and claims."""
