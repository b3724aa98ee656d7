#!/usr/bin/env node
// Plain JavaScript, so that an older Node gets this message instead of a syntax error.
if (process.features.typescript) {
  await import('../src/gwctl.ts');
} else {
  process.stderr.write(`gwctl: Node 24 or newer is required; this is ${process.version}\n`);
  process.exitCode = 1;
}
