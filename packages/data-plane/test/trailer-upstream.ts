import { createServer } from 'node:http';
import { listen } from '@gateway/shared/test/upstream';

export interface SeenTrailers {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
  /** Name, value, name, value, as they arrived. */
  readonly trailers: readonly string[];
}

export interface TrailerUpstream {
  readonly url: string;
  readonly seen: SeenTrailers[];
  /** The next responses have these statuses, then 200. */
  readonly statuses: number[];
  close(): Promise<void>;
}

/** An upstream that notes requests with their trailers, and answers in chunks, with these trailers after `ok`. */
export async function startTrailerUpstream(
  trailers: Readonly<Record<string, string>> = { 'X-Sum': '7' },
): Promise<TrailerUpstream> {
  const seen: SeenTrailers[] = [];
  const statuses: number[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('error', () => undefined);
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('latin1');
      const { headers, url = '', rawTrailers } = request;
      seen.push({ url, headers, body, trailers: rawTrailers });
      response.writeHead(statuses.shift() ?? 200, { Trailer: Object.keys(trailers).join(', ') });
      response.write('ok');
      response.addTrailers(trailers);
      response.end();
    });
  });
  const listening = await listen(server);
  return { url: listening.url, seen, statuses, close: () => listening.close() };
}
