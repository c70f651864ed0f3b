#!/usr/bin/env node
"use strict";
// Old syntax and no import before the check: on a Node.js that is too old the
// database driver would end in a segmentation fault without a word.
var need = [22, 19, 0];
var have = process.versions.node.split(".").map(Number);
var fits = true;
for (var i = 0; i < 3; i++) {
  if (have[i] !== need[i]) {
    fits = have[i] > need[i];
    break;
  }
}
if (!fits) {
  var found = process.version + " (" + process.execPath + ")";
  process.stderr.write("pi-workflows needs Node.js 22.19.0 or newer; this is " + found + "\n");
  process.exit(78);
}
var program = require("path").join(__dirname, "..", "dist", "cli.cjs");
if (!require("fs").existsSync(program)) {
  process.stderr.write(
    "pi-workflows is not built: " + program + " is missing; run `npm run build` first\n",
  );
  process.exit(1);
}
require(program);
