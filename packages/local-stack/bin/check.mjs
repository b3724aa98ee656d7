// Every static check, one after the other. All run even when one fails, so that one run shows all
// there is to mend.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runForeground } from './foreground.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../../..');
const sources = ['packages', 'migrations', 'e2e', 'bench'];

const checks = [
  ['prettier', 'prettier', ['--check', '--log-level', 'warn', '.']],
  ['eslint', 'eslint', ['.']],
  ['tsc', 'tsc', ['-p', 'tsconfig.json']],
  ['dependency-cruiser', 'depcruise', [...sources]],
  ['knip', 'knip', []],
];

const failed = [];
for (const [name, binary, args] of checks) {
  process.stdout.write(`check: ${name}\n`);
  const command = path.join(root, 'node_modules', '.bin', binary);
  const ended = await runForeground(command, args, {
    cwd: root,
    env: process.env,
    stdin: 'ignore',
  });
  const signal = ended.interrupted ?? ended.signal;
  if (signal) process.exit(128 + signal.number);
  if (ended.code !== 0) failed.push(name);
}
process.stdout.write(
  failed.length === 0
    ? `check: all ${checks.length} passed\n`
    : `check: failed: ${failed.join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
