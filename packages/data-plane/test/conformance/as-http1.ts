import { SMUGGLED, type ConformanceCase } from './case.ts';
import type { FieldsCase } from './fields-case.ts';

/** The same request over HTTP/1.1; undefined if there is none. */
export function asHttp1(one: FieldsCase): ConformanceCase | undefined {
  if (one.http1 !== 'same' && 'why' in one.http1) return undefined;
  const result = one.http1 === 'same' ? one.result : one.http1;
  if (result === 'reset') throw new Error(`${one.name}: HTTP/1.1 resets no streams`);
  const { name, rule } = one;
  const client = { ...result.client, methods: [valueOf(one, ':method')] };
  // A request after one that is not well-formed is not handled.
  const after = client.connection === 'ends' ? SMUGGLED : '';
  const answer = one.answer === undefined ? {} : { answer: one.answer };
  return { name, rule, send: textOf(one) + after, client, upstream: result.upstream, ...answer };
}

function valueOf({ fields }: FieldsCase, name: string): string {
  return fields.find(([key]) => key === name)?.[1] ?? '';
}

/** The bytes of the request. A body without an announced length is sent in chunks. */
function textOf(one: FieldsCase): string {
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
