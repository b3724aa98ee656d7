import type { ExplainQuestion } from '@gateway/shared/explain/explain-messages';
import { NO_BODY } from '@gateway/http/message/framing';
import { clientAddress, normaliseAddress } from '@gateway/shared/net/client-address';
import { RequestContext } from '../request/context.ts';
import type { ContextOptions } from '../request/create-context.ts';
import { parseInboundHeaders } from '../request/inbound-headers.ts';
import { parseProxyTarget } from '../request/proxy-path.ts';
import { TimeAccount } from '../request/time-account.ts';
import { exampleBody } from './example-body.ts';

/** The context of a request that is only asked about: as `createContext` makes it for a request over plain HTTP/1.1. */
export function explainContext(
  question: ExplainQuestion,
  options: Pick<ContextOptions, 'clock' | 'makeId' | 'trace' | 'trustedProxies' | 'table'>,
): RequestContext {
  const { clock, trustedProxies } = options;
  const receivedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const inbound = parseInboundHeaders(question.fields);
  const peerAddress = normaliseAddress(question.client_ip);
  const body = Buffer.from(question.body ?? '', 'utf8');
  return new RequestContext({
    id: options.makeId('req', receivedAtMs),
    receivedAtMs,
    startedMs,
    times: new TimeAccount(startedMs),
    method: question.method,
    httpVersion: '1.1',
    authority: undefined,
    target: parseProxyTarget(question.path, question.query),
    inbound,
    framing: body.length === 0 ? NO_BODY : { kind: 'length', bytes: body.length },
    body: exampleBody(body),
    peerAddress,
    clientIp: clientAddress(peerAddress, inbound.forwardedFor, trustedProxies),
    fromTrustedProxy: trustedProxies.texts.length > 0 && trustedProxies.has(peerAddress),
    protocol: 'http',
    trace: options.trace(inbound.traceparent, inbound.tracestate),
    table: options.table(),
  });
}
