import type { IncomingHttpHeaders, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestContext } from '../request/context.ts';
import { outboundHeaders } from '../request/outbound-headers.ts';
import { respondHead, type RespondOptions } from '../request/reply.ts';
import { endToEndFields } from '../request/reply-head.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';
import { breakOff } from '@gateway/http1/server/break-off';

/** The headers of the request to switch, for the upstream. */
export function upgradeHeaders(
  ctx: RequestContext,
  upstream: CompiledUpstream,
): IncomingHttpHeaders {
  // Without a prototype, as a caller may name a field as a property of one.
  const headers = Object.create(null) as Record<string, string>;
  const fields = outboundHeaders(ctx);
  for (let index = 0; index < fields.length; index += 2) {
    const name = (fields[index] ?? '').toLowerCase();
    const value = fields[index + 1] ?? '';
    const before = headers[name];
    const separator = name === 'cookie' ? '; ' : ', ';
    headers[name] = before === undefined ? value : before + separator + value;
  }
  return { ...headers, host: upstream.host, connection: 'Upgrade', upgrade: 'websocket' };
}

/** The headers of the 101: what the handshake needs of the upstream's, and the gateway's own. */
export function switchingHeaders(
  ctx: RequestContext,
  headers: IncomingHttpHeaders,
  options: RespondOptions,
): IncomingHttpHeaders {
  const kept: OutgoingHttpHeaders = { connection: 'Upgrade', upgrade: 'websocket' };
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && name.startsWith('sec-websocket-')) kept[name] = value;
  }
  const fields = respondHead(ctx, 101, options);
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    if (name !== 'Connection') kept[name] = fields[index + 1];
  }
  return kept as IncomingHttpHeaders;
}

/**
 * An upstream that does not switch: its answer goes to the caller, and the connection ends with it.
 * Where the answer breaks off, the connection is cut, so that it never looks complete.
 */
export function passResponse(
  ctx: RequestContext,
  answer: IncomingMessage,
  socket: Socket,
  options: RespondOptions,
): void {
  const status = answer.statusCode ?? 502;
  const fields = [
    ...endToEndFields(answer.rawHeaders, true),
    ...respondHead(ctx, status, options),
    ...['Connection', 'close'],
  ];
  const lines = [`HTTP/1.1 ${status} ${answer.statusMessage ?? ''}`];
  for (let index = 0; index < fields.length; index += 2) {
    const name = fields[index] ?? '';
    // RFC 9110 section 8.6.
    if (status === 204 && name.toLowerCase() === 'content-length') continue;
    lines.push(`${name}: ${fields[index + 1] ?? ''}`);
  }
  socket.write(`${lines.join('\r\n')}\r\n\r\n`, 'latin1');
  answer.on('data', (chunk: Buffer) => void (ctx.responseBytes += chunk.length));
  answer.on('error', () => {
    ctx.upstreamBroke = true;
    breakOff(socket);
  });
  socket.once('close', () => answer.destroy());
  // The caller need not hang up for the connection to end.
  socket.once('finish', () => socket.destroy());
  answer.pipe(socket);
}
