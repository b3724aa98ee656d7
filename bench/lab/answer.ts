import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { request as requestTls } from 'node:https';
import { text } from 'node:stream/consumers';

/** The body of every upstream response: about 150 bytes of JSON. */
export const ANSWER = JSON.stringify({
  id: 'ord_01hv8x3c9q2m5n7p',
  status: 'accepted',
  amount: 1299,
  currency: 'EUR',
  customer: 'cus_9q2m5n7p01hv8x3c',
  created_at: '2030-01-01T00:00:00Z',
});

const TIMEOUT_MS = 2_000;

/** Whether a request gets status 200 and the upstream's body, unchanged. */
export async function answersCorrectly(url: string, authorization: string): Promise<boolean> {
  const send = url.startsWith('https:') ? requestTls : request;
  const sent = send(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization },
    // The certificate is one of this run.
    rejectUnauthorized: false,
    agent: false,
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).end('{}');
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  return (await text(response)) === ANSWER && response.statusCode === 200;
}
