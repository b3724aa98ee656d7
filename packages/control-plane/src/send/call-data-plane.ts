import { Agent, IncomingMessage, ServerResponse, type IncomingHttpHeaders } from 'node:http';
import { Agent as TlsAgent } from 'node:https';
import { isIP, Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { Clock } from '@gateway/shared/clock';
import httpProxy from 'http-proxy';
import { pairsOf, ShownBody, type BodyEnd, type DataPlaneResponse } from './data-plane-response.ts';

/** A request as it is sent. Everything in it has been checked. */
export interface SentRequest {
  readonly method: string;
  /** The path and the query. */
  readonly target: string;
  /** Without those that frame the body. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: Buffer;
}

/** What came of a request: a response, or why there is none. */
export type Sent =
  | { readonly kind: 'response'; readonly response: DataPlaneResponse }
  /** No connection, or one that ended before the head of a response. `reason` is a code of Node or a short text. */
  | { readonly kind: 'unreachable'; readonly reason: string; readonly mayHaveArrived: boolean }
  | { readonly kind: 'silent' }
  /** The signal aborted. */
  | { readonly kind: 'left' };

export interface CallLimits {
  /** Until the end of the response. */
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Sends a request to a data plane. Never rejects, follows no redirect and repeats nothing. */
export type CallDataPlane = (request: SentRequest, limits: CallLimits) => Promise<Sent>;

/** @param url the origin of the data planes; no request goes anywhere else */
export function createDataPlaneCaller(url: URL, clock: Clock): CallDataPlane {
  const { protocol, hostname } = url;
  const port = url.port === '' ? (protocol === 'https:' ? '443' : '80') : url.port;
  // An address in brackets is one of IPv6.
  const host = hostname.replace(/^\[|\]$/g, '');
  const target = { protocol, host, hostname: host, port };
  const agent = agentFor(protocol, host);
  return (sent, { timeoutMs, signal }) => {
    if (signal.aborted) return Promise.resolve({ kind: 'left' });
    const { promise, resolve } = Promise.withResolvers<Sent>();
    const startedMs = clock.monotonicMs();
    const request = requestOf(sent);
    let head: { readonly response: IncomingMessage; readonly ms: number } | undefined;
    let body: ShownBody | undefined;
    let isSettled = false;
    let isConnected = false;

    function settle(outcome: Sent): void {
      if (isSettled) return;
      isSettled = true;
      timer.cancel();
      signal.removeEventListener('abort', leave);
      resolve(outcome);
      // http-proxy then ends its own request, if that is still open.
      request.destroy();
    }

    function end(how: BodyEnd): void {
      if (isSettled || head === undefined || body === undefined) return;
      const { response, ms } = head;
      settle({
        kind: 'response',
        response: {
          status: response.statusCode ?? 0,
          statusText: response.statusMessage ?? '',
          headers: pairsOf(response.rawHeaders),
          body: body.bytes,
          end: how,
          headMs: ms,
          totalMs: clock.monotonicMs() - startedMs,
        },
      });
    }

    const leave = () => settle({ kind: 'left' });
    const timer = clock.setTimer(timeoutMs, () => {
      if (head === undefined) settle({ kind: 'silent' });
      else end('time');
    });
    signal.addEventListener('abort', leave, { once: true });

    // One for each request, because its events name the request only by the object that http-proxy got.
    const proxy = httpProxy.createProxyServer({
      target,
      agent,
      // The response is data for a page, never one of this server.
      selfHandleResponse: true,
      // Otherwise http-proxy parses the path with the deprecated url.parse, which changes some characters.
      toProxy: true,
      prependPath: false,
    });
    proxy.on('proxyReq', (outgoing) => {
      // http-proxy merges slashes.
      outgoing.path = sent.target;
      const connected = protocol === 'https:' ? 'secureConnect' : 'connect';
      outgoing.socket?.once(connected, () => (isConnected = true));
      // Of a switch to another protocol Node reports nothing else.
      outgoing.once('close', () => failed(new Error('the connection was closed')));
    });
    proxy.on('proxyRes', (response) => {
      head = { response, ms: clock.monotonicMs() - startedMs };
      body = new ShownBody(response, end);
      if (isSettled) response.destroy();
    });
    const failed = (error: NodeJS.ErrnoException) => {
      // The body says itself that it broke off.
      if (head !== undefined) return;
      const reason = error.code ?? error.message;
      settle({ kind: 'unreachable', reason, mayHaveArrived: isConnected });
    };
    // The callback gets all errors but those after `request.destroy`. Without a listener those would be thrown.
    proxy.on('error', failed);
    withoutDeprecations(() => {
      proxy.web(
        request,
        new ServerResponse(request),
        { buffer: Readable.from(sent.body.length === 0 ? [] : [sent.body]) },
        failed,
      );
    });
    return promise;
  };
}

/** The request as http-proxy expects it: one that a server of node:http has received. It has no connection of its own. */
function requestOf({ method, target, headers, body }: SentRequest): IncomingMessage {
  const request = new IncomingMessage(new Socket());
  const fields = new Map<string, string[]>();
  for (const [name, value] of headers) {
    const lower = name.toLowerCase();
    fields.set(lower, [...(fields.get(lower) ?? []), value]);
  }
  if (body.length > 0 || !/^(?:GET|HEAD|OPTIONS)$/.test(method)) {
    fields.set('content-length', [String(body.length)]);
  }
  request.method = method;
  request.url = target;
  request.httpVersion = '1.1';
  // http-proxy turns the order of fields around.
  const turned = [...fields].reverse().map(([name, values]) => {
    const [value, ...others] = values;
    return [name, others.length === 0 ? value : values];
  });
  request.headers = Object.fromEntries(turned) as IncomingHttpHeaders;
  return request;
}

/**
 * One connection for each request. The name in the certificate is that of the URL, whatever Host the request has: Node would
 * take it from there.
 */
function agentFor(protocol: string, host: string): Agent {
  if (protocol === 'http:') return new Agent({ keepAlive: false });
  return new TlsAgent({ keepAlive: false, servername: isIP(host) === 0 ? host : '' });
}

/**
 * Runs http-proxy without the warning about `util._extend`, which it calls (DEP0060). Only what runs here and now is silent, so
 * no warning about our own code is lost.
 */
function withoutDeprecations(run: () => void): void {
  const former = process.noDeprecation;
  process.noDeprecation = true;
  try {
    run();
  } finally {
    if (former === undefined) delete process.noDeprecation;
    else process.noDeprecation = former;
  }
}
