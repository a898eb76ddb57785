//! What is taken out, what is left, and what is knowingly missed.

mod contexts;
mod corpus;
mod filler;
mod left_alone;
mod misses;
mod names;
mod properties;
mod rules;
mod speed;
mod twice;
