import { expect } from '@jest/globals';
import { eventually } from '@gateway/shared/test/eventually';
import { expectGatewayHeaders, expectRefusal } from '@gateway/shared/test/refusal';
import { rawConnection, type RawConnection } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';
import { AUTHORIZED, HOST, text, type ConformanceCase, type UpstreamExpectation } from './case.ts';
import type { ConformanceRig } from './rig.ts';
import type { RecordedRequest } from './recording-upstream.ts';

/**
 * Runs one case, and then checks that it has no effect on later requests. A canary on the same connection, if that is
 * still open, and a canary of another caller over the same upstream connection must get their own responses, and the
 * upstream must receive no unexpected byte.
 */
export async function runCase(rig: ConformanceRig, one: ConformanceCase): Promise<void> {
  const { upstream, port, token } = rig;
  upstream.requests.length = 0;
  upstream.malformed.length = 0;
  upstream.script = one.answer;
  const connection = await rawConnection(port);
  const other = await rawConnection(port);
  try {
    const last = await exchange(connection, one, token);
    if (last !== undefined) await checkResponse(last, one.client);
    await checkConnection(rig, connection, one);
    const own = one.client.connection === 'stays' ? 1 : 0;
    await canary(rig, other);
    const seen = upstream.requests.slice(0, upstream.requests.length - own - 1);
    checkUpstream(seen, one.upstream, rig.protocol);
    const canaries = upstream.requests.slice(seen.length);
    expect(canaries.map(({ target }) => target.split('-')[0])).toEqual(
      Array.from(canaries, () => '/base/canary'),
    );
    expect(upstream.malformed).toEqual([]);
    checkNoToken(rig);
  } finally {
    connection.destroy();
    other.destroy();
  }
}

/** No form of the token may reach the upstream in any case. */
export function checkNoToken({ upstream, token }: ConformanceRig): void {
  const received = upstream.received.join('');
  expect(received).not.toContain(token.slice(4));
  expect(received).not.toContain(basicOf(token).slice(8, -4));
}

export function withToken(part: string, token: string): string {
  return part.replaceAll('{token}', token).replaceAll('{basic}', basicOf(token));
}

/** The token as a password. The user name has two characters and a colon, so that the token starts a base64 group. */
function basicOf(token: string): string {
  return Buffer.from(`me:${token}`).toString('base64');
}

async function exchange(
  connection: RawConnection,
  one: ConformanceCase,
  token: string,
): Promise<RawResponse | undefined> {
  const parts = typeof one.send === 'string' ? [one.send] : one.send;
  const { responses, methods = [] } = one.client;
  let last: RawResponse | undefined;
  for (let index = 0; index < Math.max(parts.length, responses.length); index += 1) {
    const part = parts[index];
    if (part !== undefined) connection.send(withToken(part, token));
    const expected = responses[index];
    if (expected === undefined) continue;
    if (typeof expected === 'string') {
      await expectBroken(connection, expected);
      return undefined;
    }
    last = await connection.response(methods[index] ?? 'GET');
    const { status, complete } = last;
    expect({ index, status, complete }).toEqual({ index, status: expected, complete: true });
  }
  return last;
}

async function expectBroken(connection: RawConnection, how: 'broken' | 'reset'): Promise<void> {
  let error: NodeJS.ErrnoException | undefined;
  connection.socket.on('error', (failure) => void (error = failure));
  await eventually(() => expect(connection.ended).toBe(true), { intervalMs: 2 });
  if (how === 'reset') expect(error?.code).toBe('ECONNRESET');
  else if (connection.receivedText !== '') {
    expect(await connection.response()).toMatchObject({ status: 200, complete: false });
  }
}

/** Checks the last response: its fields, and its body. */
export async function checkResponse(
  response: RawResponse,
  { code, body, has = [], lacks = [], methods = [], trailers = [] }: ConformanceCase['client'],
): Promise<void> {
  expectGatewayHeaders(response.headers);
  const lines = response.rawHeaders.flatMap((name, index) =>
    index % 2 === 0 ? [`${name.toLowerCase()}: ${response.rawHeaders[index + 1] ?? ''}`] : [],
  );
  expect(lines).toEqual(expect.arrayContaining([...has]));
  for (const name of lacks) expect(lines.filter((line) => line.startsWith(`${name}:`))).toEqual([]);
  // Each field of the gateway occurs once, whatever the upstream sent.
  for (const own of ['x-request-id', 'x-gateway-latency', 'x-ratelimit-remaining']) {
    expect(lines.filter((line) => line.startsWith(`${own}:`))).toHaveLength(1);
  }
  if (code === undefined) expect(response.headers.has('x-gateway-error')).toBe(false);
  else if (methods.at(-1) !== 'HEAD') await expectRefusal(response, response.status, code);
  if (body !== undefined) expect(response.body.toString('latin1')).toBe(body);
  expect(response.trailers.map(withLowerName)).toEqual(trailers);
}

async function checkConnection(
  rig: ConformanceRig,
  connection: RawConnection,
  one: ConformanceCase,
): Promise<void> {
  if (one.client.connection === 'stays') await canary(rig, connection);
  else await eventually(() => expect(connection.ended).toBe(true), { intervalMs: 2 });
  const broken = one.client.responses.some((expected) => typeof expected === 'string');
  if (!broken) expect(connection.receivedText).toBe('');
}

let canaries = 0;

/** Sends a request with its own name, and checks that it gets the response with that name. */
async function canary(rig: ConformanceRig, connection: RawConnection): Promise<void> {
  canaries += 1;
  const name = `canary-${canaries}`;
  const lines = [HOST, AUTHORIZED.replace('{token}', rig.token)];
  connection.send(text(`GET /v1/proxy/test/${name} HTTP/1.1`, lines));
  const response = await connection.response();
  expect({ status: response.status, body: await response.text() }).toEqual({
    status: 200,
    body: name,
  });
  expect(rig.upstream.requests.at(-1)).toMatchObject({ target: `/base/${name}`, body: '' });
}

/** Checks that exactly the expected requests reached the upstream. */
export function checkUpstream(
  seen: readonly RecordedRequest[],
  upstream: ConformanceCase['upstream'],
  protocol: ConformanceRig['protocol'],
): void {
  const expected: readonly UpstreamExpectation[] =
    upstream === 'none' ? [] : Array.isArray(upstream) ? upstream : [upstream];
  expect(seen.map(({ target }) => target)).toEqual(
    expected.map(({ target }) => target ?? '/base/case'),
  );
  for (const [index, one] of expected.entries()) {
    const { method, body, has = [], lacks = [], once = [], trailers = [] } = one;
    const found = seen[index];
    if (method !== undefined) expect(found?.method).toBe(method);
    if (body !== undefined) expect(found?.body).toBe(body);
    const lines = (found?.lines ?? []).map(([name, value]) => `${name.toLowerCase()}: ${value}`);
    expect(lines).toEqual(expect.arrayContaining([...has]));
    const dashed = lines.map((line) => line.slice(0, line.indexOf(':')).replaceAll('_', '-'));
    for (const name of lacks) expect(dashed).not.toContain(name);
    for (const name of once) expect(dashed.filter((other) => other === name)).toHaveLength(1);
    for (const name of notForwarded(one)) expect(dashed).not.toContain(name);
    if (one.takesTrailers) expect(lines).toEqual(expect.arrayContaining(TAKES_TRAILERS[protocol]));
    expect(found?.trailers.map(withLowerName)).toEqual(trailers);
    expect(found?.named).toBe(true);
    expect(dashed.filter((name) => name === 'cdn-loop')).toHaveLength(1);
  }
}

function withLowerName(line: string): string {
  return line.replace(/^[^:]*/, (name) => name.toLowerCase());
}

const TAKES_TRAILERS = { http1: ['connection: TE', 'te: trailers'], http2: ['te: trailers'] };

/** The hop-by-hop fields that this request may not have. */
function notForwarded({ upgrades, takesTrailers, has = [] }: UpstreamExpectation): string[] {
  if (upgrades) return [];
  const announces = has.some((line) => line.startsWith('trailer: '));
  const own = [...(takesTrailers ? ['te', 'connection'] : []), ...(announces ? ['trailer'] : [])];
  return HOP_BY_HOP.filter((name) => !own.includes(name));
}

const HOP_BY_HOP = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'upgrade',
  'expect',
  'proxy-authorization',
  'proxy-authenticate',
];
