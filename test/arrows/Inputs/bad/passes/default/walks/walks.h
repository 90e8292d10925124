// Walks.
