import { expect } from '@jest/globals';
import {
  data,
  ERROR,
  fieldBlock,
  FLAG,
  frame,
  FRAME,
  FrameClient,
  HEAD,
} from '@gateway/http/test/http2-frames';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import { get, post, type Fields, type Http2Case } from './fields-case.ts';
import type { ConformanceRig } from './rig.ts';
import { checkNoToken, checkResponse, checkUpstream, withToken } from './run-case.ts';

/** The stream that is open before the case, that of the case, and one that opens after it. */
const [BEFORE, CASE, AFTER] = [1, 3, 5] as const;

/** Fields that make a response malformed (RFC 9113 section 8.2.2). */
const CONNECTION_FIELDS = [
  ...['connection', 'keep-alive', 'proxy-connection', 'transfer-encoding', 'upgrade'],
  'http2-settings',
];

/**
 * Runs a case between the two halves of a request on another stream. That stream and a later one of the same connection
 * must be served, and the upstream must receive no unexpected byte.
 */
export async function runOverHttp2(rig: ConformanceRig, one: Http2Case): Promise<void> {
  const { upstream, token, gateway } = rig;
  upstream.requests.length = 0;
  upstream.malformed.length = 0;
  upstream.script = one.answer;
  const client = await FrameClient.open(rig.port);
  const block = (fields: Fields) => blockOf(fields, token);
  try {
    client.start();
    const [before, after] = [named('sibling', post()), named('sibling', get())];
    client.send(
      frame(FRAME.headers, FLAG.endHeaders, BEFORE, block(before.fields)),
      data('first', 0, BEFORE),
      ...framesOf(one, block),
      data(' last', FLAG.endStream, BEFORE),
      frame(FRAME.headers, HEAD, AFTER, block(after.fields)),
    );
    const first = await responseOf(client, BEFORE);
    const last = await responseOf(client, AFTER);
    expect([first.text, last.text]).toEqual([before.name, after.name]);
    await checkCase(await responseOf(client, CASE), one);
    expect(client.of(FRAME.goAway)).toEqual([]);
    expect(client.isClosed).toBe(false);
    const isSibling = ({ target }: { readonly target: string }) =>
      target.startsWith('/base/sibling-');
    expect(upstream.requests.filter(isSibling).map(({ body }) => body)).toEqual(['first last', '']);
    const { result } = one;
    const seen = upstream.requests.filter((request) => !isSibling(request));
    checkUpstream(seen, result === 'reset' ? 'none' : result.upstream, rig.protocol);
    expect(upstream.malformed).toEqual([]);
    checkNoToken(rig);
    if (result === 'reset') {
      const siblings = [first, last].map(({ headers }) => headers.get('x-request-id'));
      expect(gateway.records.filter(({ id }) => !siblings.includes(id))).toEqual([]);
    }
  } finally {
    gateway.records.length = 0;
    client.destroy();
  }
}

/** Sends a request alone on a connection. */
export async function sendOverHttp2(rig: ConformanceRig, one: Http2Case): Promise<Http2Response> {
  const client = await FrameClient.open(rig.port);
  try {
    client.start();
    client.send(...framesOf(one, (fields) => blockOf(fields, rig.token)));
    return await responseOf(client, CASE);
  } finally {
    client.destroy();
  }
}

function blockOf(fields: Fields, token: string): Buffer {
  return fieldBlock(fields.map(([name, value]) => [name, withToken(value, token)]));
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
  { fields, body = [], trailers }: Http2Case,
  block: (fields: Fields) => Buffer,
): Buffer[] {
  const frames = [
    frame(FRAME.headers, FLAG.endHeaders, CASE, block(fields)),
    ...body.map((part) => data(Buffer.from(part, 'latin1'), 0, CASE)),
  ];
  if (trailers !== undefined) {
    frames.push(frame(FRAME.headers, FLAG.endHeaders, CASE, block(trailers)));
  }
  const last = frames.at(-1);
  // The flags of a frame are its fifth byte.
  if (last !== undefined) last[4] = (last[4] ?? 0) | FLAG.endStream;
  return frames;
}

interface Http2Response extends Omit<RawResponse, 'text'> {
  /** The status of each head, interim ones first. */
  readonly statuses: readonly number[];
  readonly text: string;
  readonly resetCode: number | undefined;
}

/** Waits until a stream has ended, by END_STREAM or by a reset. */
async function responseOf(client: FrameClient, stream: number): Promise<Http2Response> {
  await client.over(stream);
  const blocks = client.of(FRAME.headers, stream).map((head) => client.list(head));
  const heads = blocks.filter((fields) => fields.some(([name]) => name === ':status'));
  const trailers = blocks.length > heads.length ? (blocks.at(-1) ?? []) : [];
  const fields = (heads.at(-1) ?? []).filter(([name]) => !name.startsWith(':'));
  const body = Buffer.concat(client.of(FRAME.data, stream).map(({ payload }) => payload));
  const resetCode = client.of(FRAME.rstStream, stream)[0]?.payload.readUInt32BE(0);
  const statuses = heads.map((head) => Number(Object.fromEntries(head)[':status']));
  return {
    statuses,
    status: statuses.at(-1) ?? 0,
    statusText: '',
    rawHeaders: fields.flat(),
    headers: new Headers(fields.map(([name, value]) => [name, value])),
    body,
    trailers: trailers.map(([name, value]) => `${name}: ${value}`),
    text: body.toString('utf8'),
    complete: resetCode === undefined,
    resetCode,
  };
}

async function checkCase(response: Http2Response, { result, fields }: Http2Case): Promise<void> {
  const { statuses, text, resetCode, rawHeaders } = response;
  if (result === 'reset') {
    const nothing = { statuses: [], text: '', resetCode: ERROR.protocolError };
    expect({ statuses, text, resetCode }).toEqual(nothing);
    return;
  }
  const { client } = result;
  if (client.responses.some((expected) => typeof expected === 'string')) {
    expect(resetCode).toBe(ERROR.internalError);
    return;
  }
  expect({ statuses, resetCode }).toEqual({ statuses: client.responses, resetCode: undefined });
  const names = rawHeaders.filter((_text, index) => index % 2 === 0);
  expect(names.filter((name) => CONNECTION_FIELDS.includes(name))).toEqual([]);
  const methods = [Object.fromEntries(fields)[':method'] ?? ''];
  await checkResponse({ ...response, text: () => Promise.resolve(text) }, { ...client, methods });
}
