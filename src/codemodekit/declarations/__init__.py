"""From JSON Schema to TypeScript declarations that a model reads."""
