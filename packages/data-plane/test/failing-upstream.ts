import type { Socket } from 'node:net';
import { startRawUpstream } from '@gateway/shared/test/upstream';

export interface FailingUpstream {
  readonly url: string;
  /** How often the request with this id has arrived: completely, or as far as the failure waits for it. */
  arrivals(requestId: string): number;
  /** The arrivals of all requests. */
  readonly total: number;
  close(): Promise<void>;
}

const status =
  (line: string, body: string, fields = '') =>
  (socket: Socket) =>
    void socket.write(`HTTP/1.1 ${line}\r\n${fields}Content-Length: ${body.length}\r\n\r\n${body}`);

/** What the upstream does when the whole request has arrived. */
const AFTER_THE_WHOLE = {
  reset: (socket: Socket) => void socket.resetAndDestroy(),
  close: (socket: Socket) => void socket.end(),
  garbage: (socket: Socket) => void socket.write('garbage\r\n\r\n'),
  silence: () => undefined,
  reset_in_head: (socket: Socket) =>
    void socket.write('HTTP/1.1 200 OK\r\nX-Half:', () => socket.resetAndDestroy()),
  reset_in_body: (socket: Socket) =>
    void socket.write('HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf', () => socket.destroy()),
  404: status('404 None', 'none'),
  429: status('429 Slow Down', 'slow'),
  500: status('500 Bad', 'bad'),
  502: status('502 Bad Gateway', 'bad'),
  503: status('503 Busy', 'busy'),
  504: status('504 Late', 'late'),
} as const;

/** What the upstream does when only a part has arrived; see `isEarly`. */
const AFTER_A_PART = {
  reset_early: AFTER_THE_WHOLE.reset,
  // No other request is read on this connection, because the rest of this one may still arrive.
  '503_early': status('503 Busy', 'busy', 'Connection: close\r\n'),
} as const;

export type UpstreamFailure = `${keyof typeof AFTER_THE_WHOLE | keyof typeof AFTER_A_PART}`;

const WHOLE: Readonly<Record<string, (socket: Socket) => void>> = AFTER_THE_WHOLE;
const EARLY: Readonly<Record<string, (socket: Socket) => void>> = AFTER_A_PART;

/** An upstream that fails each request in one way, and counts the arrivals of each request by its id. */
export async function startFailingUpstream(failure: UpstreamFailure): Promise<FailingUpstream> {
  const arrived = new Map<string, number>();
  let total = 0;
  const upstream = await startRawUpstream((socket) => {
    let text = '';
    let failed = false;
    socket.on('data', (bytes) => {
      if (failed) return;
      text += bytes.toString('latin1');
      const [head = '', body] = text.split('\r\n\r\n', 2);
      const early = EARLY[failure];
      if (body === undefined || !(early === undefined ? isWhole(text) : isEarly(text))) return;
      const id = /^x-request-id: (.*)$/im.exec(head)?.[1]?.trim() ?? '';
      arrived.set(id, (arrived.get(id) ?? 0) + 1);
      total += 1;
      text = '';
      failed = early !== undefined;
      (early ?? WHOLE[failure])?.(socket);
    });
  });
  return {
    url: upstream.url,
    arrivals: (requestId) => arrived.get(requestId) ?? 0,
    get total() {
      return total;
    },
    close: () => upstream.close(),
  };
}

/** More than the gateway keeps of a body that streams: once so much of it has arrived, no other attempt can send it. */
const MORE_THAN_KEPT = 66_000;

/** The head has arrived, and of a long body so much that what the gateway does does not depend on how fast it is. */
function isEarly(text: string): boolean {
  const { bodyChars, length } = partsOf(text);
  if (bodyChars >= MORE_THAN_KEPT || isWhole(text)) return true;
  return length !== undefined && length < MORE_THAN_KEPT;
}

function isWhole(text: string): boolean {
  const { bodyChars, length } = partsOf(text);
  return length === undefined ? text.endsWith('0\r\n\r\n') : bodyChars >= length;
}

/** @returns no length of a body in chunks */
function partsOf(text: string): {
  readonly bodyChars: number;
  readonly length: number | undefined;
} {
  const endOfHead = text.indexOf('\r\n\r\n');
  const head = text.slice(0, endOfHead);
  const isChunked = /^transfer-encoding: chunked$/im.test(head);
  return {
    bodyChars: text.length - endOfHead - 4,
    length: isChunked ? undefined : Number(/^content-length: (\d+)$/im.exec(head)?.[1] ?? 0),
  };
}
