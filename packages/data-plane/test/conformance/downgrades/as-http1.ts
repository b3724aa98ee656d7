import { type ConformanceCase, type UpstreamExpectation } from '../case.ts';
import type { DowngradeCase, Result } from './downgrade-case.ts';

/** The same request over HTTP/1.1 as a case of the conformance suite; undefined if there is none. */
export function asHttp1(one: DowngradeCase): ConformanceCase | undefined {
  if (one.http1 !== 'same' && one.http1.kind === 'inexpressible') return undefined;
  const result: Result = one.http1 === 'same' ? one.result : one.http1;
  if (result.kind === 'reset') throw new Error(`${one.name}: HTTP/1.1 resets no streams`);
  const { name, rule } = one;
  const send = textOf(one);
  const methods = [valueOf(one, ':method')];
  if (result.kind === 'served') {
    const upstream: UpstreamExpectation = result.upstream;
    const expectsContinue = valueOf(one, 'expect') === '100-continue';
    const responses = expectsContinue ? [100, 200] : [200];
    return { name, rule, send, client: { responses, connection: 'stays', methods }, upstream };
  }
  const { status, code, connection } = result;
  const client = {
    responses: [status],
    connection,
    methods,
    ...(code === undefined ? {} : { code }),
  };
  return { name, rule, send, client, upstream: 'none' };
}

function valueOf({ fields }: DowngradeCase, name: string): string {
  return fields.find(([key]) => key === name)?.[1] ?? '';
}

/** The bytes of the request. A body without an announced length is sent in chunks. */
function textOf(one: DowngradeCase): string {
  const { fields, body } = one;
  const lines = [`${valueOf(one, ':method')} ${valueOf(one, ':path')} HTTP/1.1`];
  for (const [name, value] of fields) {
    if (name === ':authority') lines.push(`Host: ${value}`);
    else if (!name.startsWith(':')) lines.push(`${name}: ${value}`);
  }
  const hasLength = fields.some(([name]) => name === 'content-length');
  const isChunked = body !== undefined && !hasLength;
  if (isChunked) lines.push('Transfer-Encoding: chunked');
  const head = `${lines.join('\r\n')}\r\n\r\n`;
  if (!isChunked) return head + (body ?? []).join('');
  const chunks = body.filter((part) => part !== '');
  const coded = chunks.map((part) => `${part.length.toString(16)}\r\n${part}\r\n`).join('');
  const trailers = (one.trailers ?? []).map(([name, value]) => `${name}: ${value}\r\n`).join('');
  return `${head}${coded}0\r\n${trailers}\r\n`;
}
