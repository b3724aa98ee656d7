import { expect } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { expectGatewayHeaders } from '@gateway/shared/test/refusal';
import { HpackDecoder } from '../../hpack-decoder.ts';
import {
  FLAG,
  FRAME,
  fieldBlock,
  frame,
  frameConnection,
  type Frame,
  type FrameConnection,
} from '../../http2-frames.ts';
import type { SecureDataPath } from '../../secure-data-path.ts';
import type { RecordingUpstream } from '../recording-upstream.ts';
import { checkUpstream } from '../run-case.ts';
import { get, post, type DowngradeCase, type Fields } from './downgrade-case.ts';

export interface Http2Rig {
  readonly gateway: SecureDataPath;
  readonly upstream: RecordingUpstream;
}

const PROTOCOL_ERROR = 1;
/** The stream that is open before the case, that of the case, and one that opens after it. */
const [BEFORE, CASE, AFTER] = [1, 3, 5] as const;

interface StreamResponse {
  status: number;
  fields: Headers;
  body: string;
  ended: boolean;
  resetCode: number | undefined;
}

/**
 * Runs a case between the two halves of a request on another stream. That stream and a later one of the same connection
 * must be served, and the upstream must receive no unexpected byte.
 */
export async function runOverHttp2(rig: Http2Rig, one: DowngradeCase): Promise<void> {
  const { gateway, upstream } = rig;
  upstream.requests.length = 0;
  upstream.malformed.length = 0;
  const connection = await frameConnection(gateway.port, gateway.authority.certPem);
  const block = (fields: Fields) =>
    fieldBlock(fields.map(([name, value]) => [name, value.replaceAll('{token}', gateway.token)]));
  try {
    const [before, after] = [named('sibling', post()), named('sibling', get())];
    connection.send(FRAME.headers, FLAG.endHeaders, BEFORE, block(before.fields));
    connection.send(FRAME.data, 0, BEFORE, Buffer.from('first'));
    connection.sendAll(framesOf(one, block));
    connection.send(FRAME.data, FLAG.endStream, BEFORE, Buffer.from(' last'));
    connection.send(FRAME.headers, FLAG.endHeaders | FLAG.endStream, AFTER, block(after.fields));
    const responses = await responsesOf(connection, [BEFORE, CASE, AFTER]);
    expect(responses.get(BEFORE)).toMatchObject({ status: 200, body: before.name });
    expect(responses.get(AFTER)).toMatchObject({ status: 200, body: after.name });
    expect(connection.frames.filter(({ type }) => type === FRAME.goAway)).toEqual([]);
    expect(connection.closed).toBe(false);
    checkResponse(responses.get(CASE), one);
    const isSibling = ({ target }: { readonly target: string }) =>
      target.startsWith('/base/sibling-');
    expect(upstream.requests.filter(isSibling).map(({ body }) => body)).toEqual(['first last', '']);
    const { result } = one;
    const seen = upstream.requests.filter((request) => !isSibling(request));
    checkUpstream(seen, result.kind === 'served' ? result.upstream : 'none');
    expect(upstream.malformed).toEqual([]);
    expect(upstream.received.join('')).not.toContain(gateway.token.slice(4));
  } finally {
    connection.destroy();
  }
}

let siblings = 0;

/** The fields of a request with a path of its own. */
function named(kind: string, fields: Fields): { readonly name: string; readonly fields: Fields } {
  siblings += 1;
  const name = `${kind}-${siblings}`;
  const own = fields.map((field): Fields[number] =>
    field[0] === ':path' ? [':path', `/v1/proxy/test/${name}`] : field,
  );
  return { name, fields: own };
}

function framesOf(
  { fields, body, trailers }: DowngradeCase,
  block: (fields: Fields) => Buffer,
): Buffer[] {
  const isOnlyHead = body === undefined && trailers === undefined;
  const end = isOnlyHead ? FLAG.endStream : 0;
  const frames = [frame(FRAME.headers, FLAG.endHeaders | end, CASE, block(fields))];
  for (const [index, part] of (body ?? []).entries()) {
    const isLast = trailers === undefined && index === (body ?? []).length - 1;
    frames.push(frame(FRAME.data, isLast ? FLAG.endStream : 0, CASE, Buffer.from(part, 'latin1')));
  }
  if (trailers !== undefined) {
    frames.push(frame(FRAME.headers, FLAG.endHeaders | FLAG.endStream, CASE, block(trailers)));
  }
  return frames;
}

/** Waits until each of these streams has ended, and returns their responses. */
function responsesOf(
  connection: FrameConnection,
  streams: readonly number[],
): Promise<Map<number, StreamResponse>> {
  return eventually(
    () => {
      const responses = parse(connection.frames);
      for (const stream of streams) {
        const { ended = false, resetCode } = responses.get(stream) ?? {};
        if (!ended && resetCode === undefined) throw new Error(`stream ${stream} has not ended`);
      }
      return responses;
    },
    { intervalMs: 2, deadlineMs: 4000 },
  );
}

function parse(frames: readonly Frame[]): Map<number, StreamResponse> {
  const decoder = new HpackDecoder();
  const responses = new Map<number, StreamResponse>();
  for (const { type, flags, stream, payload } of frames) {
    const response = responses.get(stream) ?? {
      status: 0,
      fields: new Headers(),
      body: '',
      ended: false,
      resetCode: undefined,
    };
    responses.set(stream, response);
    if (type === FRAME.headers) {
      const fields = decoder.decode(payload);
      response.status = Number(fields[0]?.[1]);
      response.fields = new Headers(fields.slice(1).map(([name, value]) => [name, value]));
    }
    if (type === FRAME.data) response.body += payload.toString('latin1');
    if (type === FRAME.rstStream) response.resetCode = payload.readUInt32BE(0);
    const mayEnd = type === FRAME.headers || type === FRAME.data;
    if (mayEnd && (flags & FLAG.endStream) !== 0) response.ended = true;
  }
  return responses;
}

function checkResponse(
  response: StreamResponse | undefined,
  { result, fields }: DowngradeCase,
): void {
  if (response === undefined) throw new Error('the stream has no response');
  const { status, body, resetCode, ended } = response;
  if (result.kind === 'reset') {
    expect({ status, body, resetCode }).toEqual({ status: 0, body: '', resetCode: PROTOCOL_ERROR });
    return;
  }
  const code = response.fields.get('x-gateway-error') ?? undefined;
  if (result.kind === 'served') {
    expect({ status, code, ended }).toEqual({ status: 200, code: undefined, ended: true });
  } else {
    expect({ status, code, ended }).toEqual({
      status: result.status,
      code: result.code,
      ended: true,
    });
    const isHead = fields.some(([name, value]) => name === ':method' && value === 'HEAD');
    if (code !== undefined && !isHead) expect(body).toContain(`"code":"${code}"`);
  }
  expectGatewayHeaders(response.fields);
}
