import { GatewayError } from '@gateway/shared/errors/gateway-error';
import type { AddressRanges } from '@gateway/shared/net/client-address';
import { holdsTokenSecret, withoutTokenSecrets } from '@gateway/shared/tokens/secret';
import type { Clock } from '@gateway/shared/clock';
import type { createIdFactory } from '@gateway/shared/ids';
import type { Request, RequestHandler, Response } from 'express';
import { sessionIdsOf } from '../../access/session-cookie.ts';
import { MAX_SHOWN_BYTES, type DataPlaneResponse } from '../../send/data-plane-response.ts';
import { SEND_TIMEOUT_MS, type Send, type SendOutcome } from '../../send/send.ts';
import { MAX_SEND_CALL_BYTES, MAX_SENT_BYTES, sendInputSchema } from '../../send/send-input.ts';
import { SendSlots } from '../../send/send-slots.ts';
import type { SendMetrics } from '../../send/send-metrics.ts';
import type { Authenticator } from '../authenticate.ts';
import { invalidField, parseInput } from '../input.ts';
import { jsonParser, readJson } from '../read-json.ts';
import { exchangeOf, ok, type Responder } from '../reply.ts';
import { isSecure, refuseForgedChange } from './browser-request.ts';

/** The part of the control plane that sends requests. */
export interface ConsoleSend {
  readonly metrics: SendMetrics;
  /** undefined: DATA_PLANE_URL is not set. */
  readonly send: Send | undefined;
}

export interface SendHandlerOptions {
  readonly clock: Clock;
  readonly newId: ReturnType<typeof createIdFactory>;
  readonly authenticator: Authenticator;
  readonly trustedProxies: AddressRanges;
  readonly responder: Responder;
  readonly sending: ConsoleSend;
}

/** Carries the token that was pasted for one call. */
const GIVEN_TOKEN_FIELD = 'x-console-token';
const GIVEN_TOKEN = /^[!-~]{1,8192}$/;

const NOT_CONFIGURED =
  'The control plane does not know where data planes are: set DATA_PLANE_URL, such as http://data-plane:8080.';

/**
 * Sends a request of a page through a data plane. Only a session counts here, never a token, and a page of another origin can
 * call neither. The response is data in an envelope: no field, cookie or script of an upstream reaches the browser as such.
 */
export function sendHandlers(
  options: SendHandlerOptions,
): Readonly<Record<'state' | 'send', RequestHandler>> {
  const { clock, newId, authenticator, responder, sending } = options;
  const parseJson = jsonParser(MAX_SEND_CALL_BYTES);
  const slots = new SendSlots();
  sending.metrics.observe(() => slots.count);

  /** The session of a call. @throws GatewayError authentication_failed */
  async function sessionOf(request: Request, response: Response) {
    refuseForgedChange(request, options.trustedProxies);
    const secure = isSecure(request, options.trustedProxies);
    const ids = sessionIdsOf(request.headers.cookie, secure);
    const exchange = exchangeOf(response);
    return { ...(await authenticator.authenticateSession(ids, exchange)), exchange };
  }

  async function sendOnce(request: Request, response: Response): Promise<void> {
    const { exchange, session, confirmToken } = await sessionOf(request, response);
    const { send, metrics } = sending;
    if (send === undefined) throw new GatewayError('not_implemented', NOT_CONFIGURED);
    const release = refusing(metrics, () => slots.take(session));
    try {
      const deadlineMs = clock.monotonicMs() + SEND_TIMEOUT_MS;
      const body = await readJson(request, response, parseJson);
      const input = refusing(metrics, () => parseInput(sendInputSchema, body));
      const givenToken = refusing(metrics, () => givenTokenOf(request, input.token === 'given'));
      // The body may have arrived long after the head.
      const caller = await confirmToken();
      const { signal, requestId, clientAddress } = exchange;
      const origin = {
        caller: { tokenId: caller.id, confirmToken },
        clientAddress,
        requestId,
        newEventId: (atMs?: number) => newId('aud', atMs),
        clock,
        signal,
        reach: caller,
      };
      const confirm = () => confirmToken();
      const outcome = await send({
        ...{ input, givenToken, session, caller, origin },
        ...{ signal, clientAddress, deadlineMs, confirm },
      });
      responder.reply(response, ok(viewOf(outcome)));
    } finally {
      release();
    }
  }

  return {
    async state(request, response) {
      await sessionOf(request, response);
      const state = {
        configured: sending.send !== undefined,
        max_request_bytes: MAX_SENT_BYTES,
        max_response_bytes: MAX_SHOWN_BYTES,
        timeout_ms: SEND_TIMEOUT_MS,
      };
      responder.reply(response, ok(state));
    },
    send: sendOnce,
  };
}

/** Counts what is refused before it could be sent. */
function refusing<T>(metrics: SendMetrics, run: () => T): T {
  try {
    return run();
  } catch (error) {
    metrics.sends.inc({ result: 'refused' });
    throw error;
  }
}

/** @throws GatewayError invalid_request */
function givenTokenOf(request: Request, isNeeded: boolean): string | undefined {
  const field = request.headers[GIVEN_TOKEN_FIELD];
  if (!isNeeded) return undefined;
  if (typeof field !== 'string' || !GIVEN_TOKEN.test(field)) {
    throw invalidField(
      'token',
      'is given, so the header X-Console-Token must be a token of at most 8192 visible ASCII characters',
    );
  }
  return field;
}

/** What a page shows. @throws GatewayError if there was no response */
function viewOf({ sent, token }: SendOutcome): object {
  switch (sent.kind) {
    case 'response':
      return {
        ...responseView(sent.response),
        token:
          token === undefined
            ? null
            : { id: token.id, name: token.name, expires_at: token.expiresAt.toISOString() },
      };
    case 'unreachable':
      throw sent.mayHaveArrived
        ? new GatewayError(
            'upstream_unavailable',
            `The connection to the data planes ended without a response: ${sent.reason}. The request may have been carried out; its record will say.`,
          )
        : new GatewayError(
            'data_plane_unavailable',
            `The data planes at DATA_PLANE_URL cannot be reached: ${sent.reason}. Nothing was sent.`,
          );
    case 'silent':
      throw new GatewayError(
        'upstream_timeout',
        `No response began within ${SEND_TIMEOUT_MS / 1000} s. The request may have been carried out; its record will say.`,
      );
    case 'left':
      throw new GatewayError('request_timeout', 'The browser left before the response.');
  }
}

function responseView(response: DataPlaneResponse): object {
  const { status, statusText, headers, body, end, headMs, totalMs } = response;
  const requestId = headers.find(([name]) => name.toLowerCase() === 'x-request-id')?.[1] ?? null;
  return {
    request_id: requestId,
    status,
    status_text: statusText,
    // Data planes send no token on. If something echoes one, the browser does not get it.
    headers: headers.map(([name, value]) => [name, withoutTokenSecrets(value)]),
    body: withoutSecrets(body).toString('base64'),
    body_bytes: body.length,
    body_end: end,
    head_ms: Math.round(headMs),
    total_ms: Math.round(totalMs),
  };
}

function withoutSecrets(body: Buffer): Buffer {
  if (!body.includes('gwt_')) return body;
  const text = body.toString('latin1');
  return holdsTokenSecret(text) ? Buffer.from(withoutTokenSecrets(text), 'latin1') : body;
}
