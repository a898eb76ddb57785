//! SPEC.md and SPEC.json to a checked task graph: parse, lint, expand. Pure.
