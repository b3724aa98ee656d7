import { randomBytes } from 'node:crypto';
import { rawCall } from '@gateway/shared/test/raw-client';
import type { RawResponse } from '@gateway/shared/test/raw-response';

/** Asks the route for a WebSocket (RFC 6455 section 4.1); what it opens is closed again at once. */
export function openWebSocket(
  baseUrl: string,
  route: string,
  headers: Readonly<Record<string, string>>,
): Promise<RawResponse> {
  const { host, port } = new URL(baseUrl);
  const lines = [
    ...[`Host: ${host}`, 'Connection: Upgrade', 'Upgrade: websocket'],
    ...['Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${randomBytes(16).toString('base64')}`],
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
  ];
  return rawCall(Number(port), { target: `/v1/proxy/${route}`, lines });
}
