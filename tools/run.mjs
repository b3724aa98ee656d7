#!/usr/bin/env node
// The entry point on a machine that has only an older Node and npm: installs the packages of the lockfile, then
// runs the command with the Node that they contain. Plain JavaScript for Node >= 18 without dependencies, because
// nothing is installed yet when it starts.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { isInstallCurrent, installCommand, recordInstall } from './install.mjs';
import { runForeground } from './foreground.mjs';
import { findNode } from './node-runtime.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');

const commands = {
  start: ['packages/local-stack/src/main.ts'],
  test: ['node_modules/jest/bin/jest.js'],
  'test-long': ['node_modules/jest/bin/jest.js', '--config', 'jest.long.config.mjs'],
  build: ['tools/build/main.ts'],
  release: ['deploy/release/main.ts'],
  images: ['deploy/images/main.ts'],
  check: ['tools/check.mjs'],
  bench: ['bench/main.ts'],
  soak: ['e2e/soak/main.ts'],
  faults: ['e2e/faults/main.ts'],
  'console-screenshots': ['e2e/console/screenshots/main.ts'],
  'quota-schedules': ['e2e/quota-schedules/main.ts'],
};

function fail(line) {
  process.stderr.write(`gateway: ${line}\n`);
  process.exit(1);
}

async function install() {
  const { packageManager } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
  process.stderr.write(
    `Installing packages with ${packageManager} (the first time takes a while) ...\n`,
  );
  const { command, args, env } = installCommand(packageManager);
  const ended = await runForeground(command, args, {
    cwd: root,
    env,
    stdin: 'ignore',
    wholeGroup: true,
  });
  // Interrupted by Ctrl-C, whatever exit code the installer reports.
  const signal = ended.interrupted ?? ended.signal;
  if (signal) return { signal };
  if (ended.code !== 0) {
    fail(`the packages could not be installed (exit code ${ended.code}); see the lines above`);
  }
  recordInstall(root);
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
  const [name, ...rest] = process.argv.slice(2);
  if (!Object.hasOwn(commands, name ?? '')) {
    fail(`usage: run.mjs <${Object.keys(commands).join('|')}> [arguments]`);
  }
  if (!isInstallCurrent(root)) {
    const interrupted = await install();
    if (interrupted) return mirror(interrupted);
  }
  const node = findNode(root);
  if (!node) {
    fail(
      `the packages contain no Node 24 for ${process.platform}-${process.arch}; ` +
        'install Node 24 or newer and run this again',
    );
  }
  const env = {
    // Compiling the modules takes half of a process's start, so the result is cached.
    NODE_COMPILE_CACHE: path.join(root, 'node_modules/.cache/compiled'),
    ...process.env,
    PATH: [path.dirname(node), process.env.PATH].join(path.delimiter),
  };
  // Set by the link in node_modules/.bin if npm started this file through it. Code could then import packages that it
  // does not declare.
  delete env.NODE_PATH;
  mirror(
    await runForeground(node, [...commands[name], ...rest], { cwd: root, env, stdin: 'inherit' }),
  );
}

await main();
