import { once } from 'node:events';
import { addAbortSignal } from 'node:stream';
import { text } from 'node:stream/consumers';
import { connect } from 'node:tls';
import { outcomeOf, type LoadOutcome } from '../../measure/round.ts';

export interface TlsLoad {
  readonly url: string;
  readonly authorization: string;
  /** Whether each connection resumes the session of the one before it; otherwise each makes a full handshake. */
  readonly resumed: boolean;
  readonly requests: number;
  /** How many connections are open at a time. */
  readonly parallel: number;
  readonly signal: AbortSignal;
}

/**
 * Sends each request over a TLS 1.3 connection of its own. A request has failed if its response is not 200, or if the
 * server resumed a session where it should not, or did not where it should.
 */
export async function tlsConnections(load: TlsLoad): Promise<LoadOutcome> {
  const timesUs: number[] = [];
  let left = load.requests;
  let failed = 0;
  const startMs = performance.now();
  const work = async () => {
    let session = load.resumed ? (await call(load, undefined)).session : undefined;
    while (left > 0) {
      left -= 1;
      load.signal.throwIfAborted();
      const sentMs = performance.now();
      const answer = await call(load, session);
      timesUs.push((performance.now() - sentMs) * 1000);
      if (!answer.ok || answer.isResumed !== load.resumed) failed += 1;
      // A server need not give a ticket on each connection.
      session = load.resumed ? (answer.session ?? session) : undefined;
    }
  };
  await Promise.all(Array.from({ length: load.parallel }, work));
  return outcomeOf(timesUs, failed, performance.now() - startMs);
}

interface Answer {
  readonly ok: boolean;
  readonly isResumed: boolean;
  /** For the next connection. */
  readonly session: Buffer | undefined;
}

async function call(
  { url, authorization, signal }: TlsLoad,
  session: Buffer | undefined,
): Promise<Answer> {
  const { hostname, port, pathname, host } = new URL(url);
  const socket = connect({
    host: hostname,
    port: Number(port),
    minVersion: 'TLSv1.3',
    ALPNProtocols: ['http/1.1'],
    // The certificate is one of this run.
    rejectUnauthorized: false,
    ...(session !== undefined && { session }),
  });
  addAbortSignal(signal, socket);
  let next: Buffer | undefined;
  socket.on('session', (one: Buffer) => (next = one));
  await once(socket, 'secureConnect');
  // A closed socket does not know it any more.
  const isResumed = socket.isSessionReused();
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\nconnection: close\r\n\r\n`,
  );
  const answer = await text(socket);
  return { ok: answer.startsWith('HTTP/1.1 200 '), isResumed, session: next };
}
