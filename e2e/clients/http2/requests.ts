import { connect, type ClientHttp2Session, type IncomingHttpHeaders } from 'node:http2';
import { outcome, type Observations, type Target } from '../harness/pair.ts';

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly trailers: IncomingHttpHeaders;
  readonly body: Buffer;
}

interface Request {
  readonly path: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly trailers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array;
}

type Send = (request: Request) => Promise<Answer>;
export type Step = (send: Send) => Promise<string>;

/** Runs steps, one after the other, over one connection of node:http2. */
export async function runSteps(
  steps: Readonly<Record<string, Step>>,
  { url, token }: Target,
): Promise<Observations> {
  const session = connect(url);
  session.on('error', () => undefined);
  try {
    const seen: Record<string, string> = {};
    for (const [name, step] of Object.entries(steps)) {
      seen[name] = await outcome(() => step((request) => send(session, token, request)));
    }
    return seen;
  } finally {
    session.destroy();
  }
}

function send(
  session: ClientHttp2Session,
  token: string,
  { path, method = 'GET', headers = {}, trailers, body }: Request,
): Promise<Answer> {
  const stream = session.request(
    { ':path': path, ':method': method, authorization: `Bearer ${token}`, ...headers },
    { endStream: body === undefined, waitForTrailers: trailers !== undefined },
  );
  if (trailers !== undefined) stream.on('wantTrailers', () => stream.sendTrailers(trailers));
  if (body !== undefined) stream.end(body);
  return new Promise((resolve, reject) => {
    let head: IncomingHttpHeaders & { ':status'?: number | undefined } = {};
    let last: IncomingHttpHeaders = {};
    const chunks: Buffer[] = [];
    stream.on('response', (given) => (head = given));
    stream.on('trailers', (given) => (last = given));
    stream.on('data', (chunk: Buffer) => void chunks.push(chunk));
    stream.on('error', reject);
    stream.on('close', () => {
      const { ':status': status = 0, ...rest } = head;
      resolve({ status, headers: rest, trailers: last, body: Buffer.concat(chunks) });
    });
  });
}
