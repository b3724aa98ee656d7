// Runs every static check, even if one fails, so that one run shows all findings.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runForeground } from './foreground.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const sources = ['packages', 'migrations', 'e2e', 'bench', 'deploy', 'tools'];

/** Two lanes run in parallel. */
const lanes = [
  [
    ['oxfmt', 'oxfmt', ['--check', '.']],
    // Checks the types too.
    ['oxlint', 'oxlint', ['.']],
    // The recommended rules, with warnings as errors.
    [
      'redocly',
      'redocly',
      ['lint', 'packages/client/openapi.json', '--extends=recommended-strict'],
    ],
  ],
  [
    ['imports', process.execPath, ['tools/check-imports.mjs', ...sources]],
    ['knip', 'knip', []],
  ],
];

const env = {
  ...process.env,
  // The linter of the OpenAPI document makes no network call.
  REDOCLY_TELEMETRY: 'off',
  REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true',
  // The type checker, a Go program, keeps nearly all that it allocates, and ends: to collect would take a quarter of its
  // CPU time and free next to nothing. The limit bounds what an unusual run takes.
  GOGC: 'off',
  GOMEMLIMIT: '4GiB',
};

const failed = [];

async function run(name, command, args) {
  const ended = await runForeground(command, args, { cwd: root, env, stdin: 'ignore' });
  const signal = ended.interrupted ?? ended.signal;
  if (signal) process.exit(128 + signal.number);
  process.stdout.write(`check: ${name} ${ended.code === 0 ? 'passed' : 'failed'}\n`);
  if (ended.code !== 0) failed.push(name);
}

async function runLane(lane) {
  for (const [name, binary, args] of lane) {
    // An absolute path stays as it is.
    await run(name, path.resolve(root, 'node_modules/.bin', binary), args);
  }
}

// Of the client; they are not committed.
await run('types', process.execPath, ['packages/client/build/write-types.ts']);
await Promise.all(lanes.map(runLane));
process.stdout.write(
  failed.length === 0
    ? `check: all ${lanes.flat().length + 1} passed\n`
    : `check: failed: ${failed.join(', ')}\n`,
);
process.exitCode = failed.length === 0 ? 0 : 1;
