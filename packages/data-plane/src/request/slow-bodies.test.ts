import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { Readable, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, it } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { closeAfterEach } from '@gateway/shared/test/opened';
import { listen } from '@gateway/shared/test/upstream';
import { startTestDataPath } from '../../test/data-path.ts';
import { startSecureDataPath } from '../../test/secure-data-path.ts';

const opened = closeAfterEach();
const MIB = 1024 * 1024;
/** More than the system holds for a reader that has not begun to read. */
const BODY_BYTES = 12 * MIB;
const NAMES = [0, 1, 2, 3];

/** A megabyte of a body, which differs from the others of the same body and from those of the other bodies. */
function pieceOf(name: number, index: number): Buffer {
  return Buffer.alloc(MIB, `body ${name}, piece ${index}. `);
}

function* piecesOf(name: number, progress = { sent: 0 }): Generator<Buffer> {
  for (let index = 0; index < BODY_BYTES / MIB; index += 1) {
    progress.sent += 1;
    yield pieceOf(name, index);
  }
}

/** Sends the body of the name as fast as the other side takes it, and counts what it has taken. */
function send(to: Writable, name: number, progress: { sent: number }): void {
  // Fails if a caller leaves.
  pipeline(Readable.from(piecesOf(name, progress)), to).catch(() => undefined);
}

/** Resolves when nothing more is sent, because all readers wait. */
async function stalled(progress: { readonly sent: number }): Promise<void> {
  let last = -1;
  let same = 0;
  await eventually(() => {
    same = progress.sent === last && last > 0 ? same + 1 : 0;
    last = progress.sent;
    if (same < 10) throw new Error('more is sent');
  });
}

/** Reads a body and says whether it is that of the name. */
async function isBodyOf(name: number, from: Readable): Promise<boolean> {
  const parts: Buffer[] = [];
  for await (const part of from) parts.push(part as Buffer);
  return Buffer.concat(parts).equals(Buffer.concat([...piecesOf(name)]));
}

/** Reads the bodies of its requests when it may. Then it answers each with a body. */
async function startUpstream(chunked: boolean) {
  const requests = { sent: 0 };
  const responses = { sent: 0 };
  const intact = new Map<number, boolean>();
  let readNow = (): void => undefined;
  const mayRead = new Promise<void>((resolve) => (readNow = resolve));
  const server = createServer((request, response) => {
    const name = Number(request.url?.slice(1));
    const read = request.method === 'GET' ? Promise.resolve(true) : mayRead;
    void read.then(async () => {
      // The body of a caller that left ends with an error.
      intact.set(name, await isBodyOf(name, request).catch(() => false));
      response.writeHead(200, chunked ? {} : { 'content-length': BODY_BYTES });
      send(response, name, responses);
    });
  });
  const { url } = opened(await listen(server));
  return { url, requests, responses, intact, readNow: () => readNow() };
}

describe('bodies that wait for slow readers', () => {
  it.each([
    ['of announced length', false],
    ['in chunks', true],
  ])(
    'arrive unchanged in both directions, also when other callers leave: %s',
    async (_case, chunked) => {
      const upstream = await startUpstream(chunked);
      const route = { upstreams: [upstream.url], timeout_ms: 60_000, max_body_bytes: BODY_BYTES };
      const gateway = opened(await startTestDataPath(route));
      const calls = NAMES.map((name) => {
        const headers = {
          authorization: `Bearer ${gateway.token}`,
          ...(!chunked && { 'content-length': BODY_BYTES }),
        };
        const url = `${gateway.url}/v1/proxy/test/${name}`;
        const request = httpRequest(url, { method: 'POST', headers });
        request.on('error', () => undefined);
        send(request, name, upstream.requests);
        const answered = once(request, 'response') as Promise<[IncomingMessage]>;
        answered.catch(() => undefined);
        return { request, answered };
      });
      const leave = (call: (typeof calls)[number] | undefined) => call?.request.destroy();
      await stalled(upstream.requests);
      leave(calls[0]);
      upstream.readNow();
      const staying = calls.slice(1);
      const answers = await Promise.all(staying.map(({ answered }) => answered));
      await stalled(upstream.responses);
      leave(calls[1]);
      const read = answers.map(([response], index) => isBodyOf(index + 1, response));
      read[0]?.catch(() => undefined);
      expect(await Promise.all(read.slice(1))).toEqual([true, true]);
      const intact = NAMES.map((name) => upstream.intact.get(name));
      expect(intact).toEqual([false, true, true, true]);
    },
  );

  it('arrive unchanged over HTTP/2', async () => {
    const upstream = await startUpstream(false);
    const route = { upstreams: [upstream.url], timeout_ms: 60_000 };
    const gateway = opened(await startSecureDataPath(route));
    const session = gateway.connectHttp2();
    const streams = NAMES.map((name) => {
      const path = `/v1/proxy/test/${name}`;
      return session.request({ ':path': path, authorization: `Bearer ${gateway.token}` });
    });
    await Promise.all(streams.map((stream) => once(stream, 'response')));
    await stalled(upstream.responses);
    const intact = streams.map((stream, name) => isBodyOf(name, stream));
    expect(await Promise.all(intact)).toEqual(NAMES.map(() => true));
    session.destroy();
  });
});
