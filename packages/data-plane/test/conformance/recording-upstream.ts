import type { Socket } from 'node:net';
import { startRawUpstream } from '@gateway/shared/test/upstream';
import { parseRequests, type ParsedRequest } from './parse-requests.ts';

export interface RecordedRequest extends ParsedRequest {
  /** Connections are counted from 1. */
  readonly connection: number;
}

/** The bytes that the upstream writes, and what it then does to the connection. */
export interface ScriptedAnswer {
  readonly bytes: string;
  readonly then?: 'end' | 'reset';
  /** Responds when the head of a request has arrived, and still reads the rest. */
  readonly early?: boolean;
}

export interface RecordingUpstream {
  readonly url: string;
  readonly requests: RecordedRequest[];
  /** All bytes of each connection, in the order in which they were opened. */
  readonly received: string[];
  /** Received texts that are not part of a well-formed request. */
  readonly malformed: string[];
  /** The response to `/base/case`; undefined: like others, with the last segment of the path. */
  script: ScriptedAnswer | undefined;
  close(): Promise<void>;
}

const CASE_PATH = '/base/case';

/** An upstream that records the exact bytes, and parses them strictly. */
export async function startRecordingUpstream(): Promise<RecordingUpstream> {
  const requests: RecordedRequest[] = [];
  const received: string[] = [];
  const malformed: string[] = [];

  const listening = await startRawUpstream((socket) => {
    const connection = received.push('');
    let pending = '';
    let answered = 0;
    let whole = 0;
    socket.on('data', (bytes) => {
      const text = bytes.toString('latin1');
      received[connection - 1] = (received[connection - 1] ?? '') + text;
      pending += text;
      const parsed = parseRequests(pending, 'gateway');
      pending = pending.slice(parsed.used);
      if (parsed.rest === 'malformed') malformed.push(pending);
      for (const request of parsed.requests) {
        requests.push({ ...request, connection });
        whole += 1;
        if (answered < whole) {
          answered += 1;
          answer(socket, request.target);
        }
      }
      const early = / (\S+) HTTP\/1\.1\r\n[^]*\r\n\r\n/.exec(pending)?.[1];
      if (
        early !== undefined &&
        answered === whole &&
        isScripted(early) &&
        upstream.script?.early
      ) {
        answered += 1;
        answer(socket, early);
      }
    });
  });

  const upstream: RecordingUpstream = {
    url: `${listening.url}/base`,
    requests,
    received,
    malformed,
    script: undefined,
    close: () => listening.close(),
  };

  function answer(socket: Socket, target: string): void {
    const { script } = upstream;
    const name = /[^/?]*(?=\?|$)/.exec(target)?.[0] ?? '';
    const own = `HTTP/1.1 200 OK\r\nContent-Length: ${name.length}\r\n\r\n${name}`;
    const { bytes, then } =
      isScripted(target) && script !== undefined ? script : { bytes: own, then: undefined };
    socket.write(bytes, 'latin1', () => {
      if (then === 'end') socket.end();
      if (then === 'reset') socket.resetAndDestroy();
    });
  }

  return upstream;
}

function isScripted(target: string): boolean {
  return target.startsWith(CASE_PATH);
}
