import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { findOnPath } from '@gateway/local-stack/process/find-on-path';
import { cachedProgram } from '@gateway/tools/cache-path.mjs';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { findPackage, type Program } from '../harness/program.ts';

/** What serves calls without further arguments, and with an address, a token and a number of messages calls. */
export interface CallProgram extends Program {
  readonly args: readonly string[];
}

const FOLDER = fileURLToPath(new URL('programs', import.meta.url));
const GO_FOLDER = path.join(FOLDER, 'go');
const GO_CODE = 'usr/share/gocode';
/** Debian's Python, which its packages are for. */
const PYTHON = '/usr/bin/python3';
const PYTHON_CODE = 'usr/lib/python3/dist-packages';
const BUILD_TIMEOUT_MS = 240_000;

export const go = await findOnPath('go');
export const hasPython = existsSync(PYTHON);

/** The program in Go with Debian's gRPC for Go: that of an earlier run, else a new build. */
export async function buildGoProgram(): Promise<CallProgram> {
  if (go === undefined) throw new Error('go is not on the PATH');
  const hash = createHash('sha256');
  for (const name of (await readdir(GO_FOLDER)).toSorted()) {
    hash.update(await readFile(path.join(GO_FOLDER, name)));
  }
  const folder = cachedProgram(`client-go-${hash.digest('hex').slice(0, 16)}`);
  const file = path.join(folder, 'calls');
  if (existsSync(file)) return { file, args: [], env: {} };
  const { root } = await findPackage(
    'golang-google-grpc-dev',
    `${GO_CODE}/src/google.golang.org/grpc`,
  );
  const draft = `${file}.${process.pid}`;
  await mkdir(folder, { recursive: true });
  await runOrThrow(go, ['build', '-o', draft, '.'], {
    cwd: GO_FOLDER,
    env: {
      PATH: process.env['PATH'],
      GOCACHE: path.join(folder, 'cache'),
      GO111MODULE: 'off',
      GOPATH: [...new Set([root, '/'])].map((one) => path.join(one, GO_CODE)).join(path.delimiter),
    },
    timeoutMs: BUILD_TIMEOUT_MS,
  });
  // Another process may have made the same meanwhile.
  await rename(draft, file);
  return { file, args: [], env: {} };
}

/** The program in Python with Debian's gRPC for Python. */
export async function findPythonProgram(): Promise<CallProgram> {
  const { root, env } = await findPackage('python3-grpcio', `${PYTHON_CODE}/grpc`);
  return {
    file: PYTHON,
    args: [path.join(FOLDER, 'calls.py')],
    env: { ...env, PYTHONPATH: path.join(root, PYTHON_CODE) },
  };
}
