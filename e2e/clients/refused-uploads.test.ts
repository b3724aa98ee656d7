import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CODE_FIELD, startFailingGateway, type FailingGateway } from './grpc/failing-gateway.ts';
import { findProgram, runProgram, withFolder, type Program } from './harness/program.ts';

/** Within and beyond the first window of a stream. */
const SIZES = [1_000, 200_000, 20_000_000];
const REFUSALS = [
  ['authentication_failed', 401],
  ['payload_too_large', 413],
  ['rate_limit_exceeded', 429],
] as const;

describe('curl over HTTP/2 prints the refusal of an upload that it is still sending', () => {
  let gateway: FailingGateway;
  let curl: Program;

  beforeAll(async () => {
    gateway = await startFailingGateway('status');
    curl = await findProgram('curl');
  });
  afterAll(() => gateway.stop());

  it.each(
    SIZES.flatMap((size) =>
      REFUSALS.flatMap(([code, status]) =>
        (['--data-binary @body', '-T body'] as const).map(
          (upload) => [upload, size, code, status] as const,
        ),
      ),
    ),
  )('%s of %i bytes: %s', async (upload, size, code, status) => {
    await withFolder(async (folder) => {
      await writeFile(path.join(folder, 'body'), Buffer.alloc(size, 'x'));
      const result = await runProgram(
        curl,
        [
          ...['--silent', '--show-error', '--http2-prior-knowledge', '--max-time', '20'],
          ...['--header', `${CODE_FIELD}: ${code}`, '--output', 'received'],
          ...['--write-out', '%{http_version} %{http_code}'],
          ...upload.split(' '),
          gateway.url,
        ],
        folder,
      );
      expect(result).toMatchObject({ output: `2 ${status}`, code: 0 });
    });
  });
});
