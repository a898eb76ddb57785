"use strict";

const name = `@PACKAGE@-${process.platform}-${process.arch}`;

// The program in the package of this machine, or null.
function native() {
  try {
    return require.resolve(`${name}/bin/steadfast`);
  } catch {
    return null;
  }
}

module.exports = { name, native };
