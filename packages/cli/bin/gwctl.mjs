#!/usr/bin/env node
// Plain JavaScript, so that an older Node gets a message instead of a syntax error.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const source = new URL('../src/gwctl.ts', import.meta.url);
const OLDEST = '20.18';

// The package has one file that is made of the sources.
if (existsSync(source)) await runSource();
else if (process.versions.node.localeCompare(OLDEST, 'en', { numeric: true }) >= 0) {
  await import('../dist/gwctl.mjs');
} else {
  process.stderr.write(`gwctl: Node ${OLDEST} or newer is required; this is ${process.version}\n`);
  process.exitCode = 1;
}

/** Runs the sources of a checkout, with the Node that npm start uses. */
async function runSource() {
  const { findNode, missingNode, ownNodeFits } = await import('../../../tools/node-runtime.mjs');
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  const node = findNode(root);
  if (ownNodeFits(root)) {
    await import(source);
  } else if (node === undefined) {
    process.stderr.write(`gwctl: ${missingNode(root)}\n`);
    process.exitCode = 1;
  } else {
    const { runForeground } = await import('../../../tools/foreground.mjs');
    const args = [fileURLToPath(source), ...process.argv.slice(2)];
    const { code, signal } = await runForeground(node, args, { stdin: 'inherit' });
    process.exitCode = signal ? 128 + signal.number : code;
  }
}
