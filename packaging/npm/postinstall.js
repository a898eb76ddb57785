"use strict";

// Puts the program itself in the place of the script `bin/steadfast`, so that a call does not start Node. Other package
// managers than npm start a command by the kind of file that they found when they unpacked it, so there the script stays.
const fs = require("node:fs");
const path = require("node:path");
const { native } = require("./native.js");

const program = native();
if (program !== null && (process.env.npm_config_user_agent || "").startsWith("npm/")) {
  const script = path.join(__dirname, "bin", "steadfast");
  const fresh = `${script}.${process.pid}`;
  try {
    try {
      fs.linkSync(program, fresh);
    } catch {
      fs.copyFileSync(program, fresh);
    }
    fs.chmodSync(fresh, 0o755);
    fs.renameSync(fresh, script);
  } catch {
    // The script works, with the start of Node before every call.
    fs.rmSync(fresh, { force: true });
  }
}
