import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it } from '@jest/globals';
import { findOnPath } from '@gateway/local-stack/process/find-on-path';
import { ERROR_CODES } from '@gateway/shared/errors/error-table';
import { grpcStatusOfError } from '@gateway/shared/errors/grpc-statuses';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { MESSAGE, startFailingGateway } from './grpc/failing-gateway.ts';

const SOURCE = fileURLToPath(new URL('grpc/programs/go-errors', import.meta.url));
/** Where Debian has the source of gRPC for Go (golang-google-grpc-dev). */
const DEBIAN_CODE = '/usr/share/gocode';
const BUILD_TIMEOUT_MS = 240_000;
const RUN_TIMEOUT_MS = 30_000;

/** What the program prints for these lines. */
function printed(file: string, address: string, lines: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, [address], { timeout: RUN_TIMEOUT_MS }, (error, output) => {
      if (error === null) resolve(output);
      else reject(new Error('the program failed', { cause: error }));
    });
    child.stdin?.end(lines);
  });
}

const go = await findOnPath('go');
const hasGrpc = existsSync(path.join(DEBIAN_CODE, 'src/google.golang.org/grpc'));

(go !== undefined && hasGrpc ? it : it.skip)(
  'errors of the gateway are to Go their gRPC status and message, whatever grpc_errors is',
  async () => {
    const folder = await mkdtemp(path.join(tmpdir(), 'go-errors-'));
    try {
      const file = path.join(folder, 'errors');
      await runOrThrow(go ?? 'go', ['build', '-o', file, '.'], {
        cwd: SOURCE,
        env: {
          PATH: process.env['PATH'],
          GOCACHE: path.join(folder, 'cache'),
          GO111MODULE: 'off',
          GOPATH: DEBIAN_CODE,
        },
        timeoutMs: BUILD_TIMEOUT_MS,
      });
      for (const mode of ['status', 'trailers'] as const) {
        const gateway = await startFailingGateway(mode);
        const lines = await printed(file, new URL(gateway.url).host, ERROR_CODES.join('\n'));
        await gateway.stop();
        expect(lines.trimEnd().split('\n')).toEqual(
          ERROR_CODES.map((code) => `${grpcStatusOfError(code, true)} ${code}: ${MESSAGE}`),
        );
      }
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  },
  BUILD_TIMEOUT_MS + 2 * RUN_TIMEOUT_MS,
);
