import { request as httpRequest, type Agent, type IncomingMessage } from 'node:http';

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Sent unchanged; the headers must contain its framing. */
  readonly body: readonly string[];
  readonly agent?: Agent;
}

export interface ReceivedHead {
  readonly status: number;
  readonly headers: IncomingMessage['headers'];
  readonly requestId: string;
}

/**
 * Sends any method with any body, unlike `fetch`. Resolves with the head of the response when the response has ended or
 * failed.
 */
export function send(port: number, sent: SentRequest): Promise<ReceivedHead> {
  const { method, path, headers, agent } = sent;
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, method, path, headers };
    const request = httpRequest({ ...options, ...(agent === undefined ? {} : { agent }) });
    request.on('response', (response) => {
      const { statusCode: status = 0, headers: received } = response;
      const requestId = String(received['x-request-id']);
      response.on('error', () => undefined);
      response.once('close', () => {
        resolve({ status, headers: received, requestId });
      });
      response.resume();
    });
    request.on('error', reject);
    for (const part of sent.body) request.write(part);
    request.end();
  });
}
