//! Text functions that every crate may use: one line, counts with their noun, globs, paths, quoting, words, sentences,
//! Markdown blocks. Pure: no files, no clock, nothing of the product.
