import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Writable } from 'node:stream';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { startTestDataPath } from '../../test/data-path.ts';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';

const opened = closeAfterEach();
const MIB = 1024 * 1024;
const PIECE = Buffer.alloc(MIB, 'x');
const TOTAL = 80 * MIB;
/** More than all sockets and buffers on the way can hold. */
const STALLED = 64 * MIB;

/** Writes all of it as fast as the other side accepts it. `sent` is the progress. */
function pour(to: Writable): { readonly sent: number } {
  const progress = { sent: 0 };
  const write = () => {
    while (progress.sent < TOTAL) {
      progress.sent += PIECE.length;
      if (!to.write(PIECE)) {
        to.once('drain', write);
        return;
      }
    }
    to.end();
  };
  write();
  return progress;
}

/** The value once it has stopped changing. */
async function stalled(progress: () => number): Promise<number> {
  let last = -1;
  let same = 0;
  return eventually(() => {
    const now = progress();
    same = now === last && now > 0 ? same + 1 : 0;
    last = now;
    if (same < 10) throw new Error('it still moves');
    return now;
  });
}

async function setUp(onRequest: Parameters<typeof createServer>[1]) {
  const upstream = opened(await listen(createServer(onRequest)));
  const route = { upstreams: [upstream.url], timeout_ms: 60_000, max_body_bytes: TOTAL };
  const gateway = opened(await startTestDataPath(route));
  const authorization = `Bearer ${gateway.token}`;
  return httpRequest(`${gateway.url}/v1/proxy/test`, {
    method: 'POST',
    headers: { authorization },
  });
}

async function countBytes(from: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of from) bytes += (chunk as Buffer).length;
  return bytes;
}

describe('back-pressure', () => {
  it('pauses the upstream while the caller does not read, and resumes', async () => {
    let progress = { sent: 0 };
    const request = await setUp((_request, response) => void (progress = pour(response)));
    const [response] = (await once(request.end(), 'response')) as [IncomingMessage];
    expect(await stalled(() => progress.sent)).toBeLessThan(STALLED);
    expect(await countBytes(response)).toBe(TOTAL);
  });

  it('pauses the caller while the upstream does not read, and resumes', async () => {
    let arrived: IncomingMessage | undefined;
    let letGo: (() => void) | undefined;
    const reading = new Promise<void>((resolve) => (letGo = resolve));
    const request = await setUp((incoming, response) => {
      arrived = incoming;
      void reading.then(() => countBytes(incoming)).then((bytes) => response.end(String(bytes)));
    });
    const answered = once(request, 'response') as Promise<[IncomingMessage]>;
    const progress = pour(request);
    await eventually(() => expect(arrived).toBeDefined());
    expect(await stalled(() => progress.sent)).toBeLessThan(STALLED);
    letGo?.();
    const [response] = await answered;
    let text = '';
    for await (const chunk of response) text += String(chunk);
    expect(text).toBe(String(TOTAL));
  });
});
