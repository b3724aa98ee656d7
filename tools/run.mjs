#!/usr/bin/env node
// The entry point on a machine that has only Node and npm: installs the packages that the command needs, then runs it with a
// Node that fits. Plain JavaScript for Node >= 18 without dependencies, because nothing is installed yet when it starts.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runForeground } from './foreground.mjs';
import { prefetchNatsServer } from './debian/nats-server.mjs';
import { install, isInstallCurrent } from './install.mjs';
import { findNode, missingNode } from './node-runtime.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

/** What each command needs installed, and the file with its arguments that Node runs. */
const commands = {
  start: ['run', 'packages/local-stack/src/main.ts'],
  build: ['run', 'tools/build/main.ts'],
  'first-start': ['run', 'tools/first-start.mjs'],
  reencrypt: ['run', 'packages/control-plane/src/commands/reencrypt.ts'],
  test: ['all', 'node_modules/jest/bin/jest.js'],
  'test-long': ['all', 'node_modules/jest/bin/jest.js', '--config', 'jest.long.config.mjs'],
  check: ['all', 'tools/check.mjs'],
  generate: ['all', 'tools/generate.mjs'],
  audit: ['run', 'tools/audit.mjs'],
  format: ['all', 'node_modules/oxfmt/bin/oxfmt'],
  pack: ['all', 'tools/build/pack-packages.ts'],
  release: ['all', 'deploy/release/main.ts'],
  images: ['all', 'deploy/images/main.ts'],
  bench: ['all', 'bench/main.ts'],
  soak: ['all', 'e2e/soak/main.ts'],
  faults: ['all', 'e2e/faults/main.ts'],
  'console-screenshots': ['all', 'e2e/console/screenshots/main.ts'],
  'gwctl-recordings': ['all', 'e2e/gwctl-recordings/main.ts'],
  'dashboards-pictures': ['all', 'e2e/dashboards/pictures/main.ts'],
  'quota-schedules': ['all', 'e2e/quota-schedules/main.ts'],
};

function fail(line) {
  process.stderr.write(`gateway: ${line}\n`);
  process.exit(1);
}

/** Installs what the command needs. Returns how the install ended if a signal ended it. */
async function installPackages(name, selection) {
  process.stderr.write('Installing packages (the first time takes a while) ...\n');
  const failed = new AbortController();
  // Meanwhile, because it waits for the network and for one core.
  const prefetched = name === 'start' ? prefetchNatsServer(failed.signal) : undefined;
  let ended;
  try {
    ended = await install(root, selection);
  } finally {
    if (ended?.code !== 0) failed.abort();
    await prefetched;
  }
  // Interrupted by Ctrl-C, whatever exit code the installer reports.
  const signal = ended.interrupted ?? ended.signal;
  if (signal) return { signal };
  if (ended.code !== 0) {
    fail(`the packages could not be installed (exit code ${ended.code}); see the lines above`);
  }
  return undefined;
}

/** Ends this process in the same way as the child, so that the caller's shell sees the same result. */
function mirror({ code, signal }) {
  if (signal) {
    process.exitCode = 128 + signal.number;
    process.kill(process.pid, signal.name);
    return;
  }
  process.exit(code);
}

async function main() {
  const [name = '', ...rest] = process.argv.slice(2);
  if (!Object.hasOwn(commands, name)) {
    fail(`usage: run.mjs <${Object.keys(commands).join('|')}> [arguments]`);
  }
  const [selection, ...command] = commands[name];
  if (!isInstallCurrent(root, selection)) {
    const interrupted = await installPackages(name, selection);
    if (interrupted) return mirror(interrupted);
  }
  const node = findNode(root);
  if (!node) fail(missingNode(root));
  const env = {
    // Compiling the modules takes half of a process's start, so the result is cached.
    NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/compiled'),
    ...process.env,
    PATH: [path.dirname(node), process.env.PATH].join(path.delimiter),
  };
  // Set by the link in node_modules/.bin if npm started this file through it. Code could then import packages that it
  // does not declare.
  delete env.NODE_PATH;
  mirror(await runForeground(node, [...command, ...rest], { cwd: root, env, stdin: 'inherit' }));
}

await main().catch((error) => fail(error.message));
