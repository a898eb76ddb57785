//! What the operating system does for us, one door each: replace a file, lock a file, read the process table, start a
//! program.
