#!/usr/bin/env node
// Plain JavaScript, so that an older Node gets the message below instead of a syntax error.
import { existsSync } from 'node:fs';

// A checkout runs the sources as they are; the package has one file that is made of them.
const isCheckout = existsSync(new URL('../src', import.meta.url));
const oldest = isCheckout ? '24.0' : '20.18';

if (process.versions.node.localeCompare(oldest, 'en', { numeric: true }) < 0) {
  process.stderr.write(`gwctl: Node ${oldest} or newer is required; this is ${process.version}\n`);
  process.exitCode = 1;
} else if (isCheckout) {
  await import('../src/gwctl.ts');
} else {
  await import('../dist/gwctl.mjs');
}
