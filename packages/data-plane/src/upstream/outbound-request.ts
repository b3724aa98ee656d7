import type { ClientRequest } from '@gateway/http/exchange';
import { announcedLength } from '@gateway/http/message/framing';
import type { RequestContext } from '../request/context.ts';
import { bodyToSend } from '../request/outbound-body.ts';
import { upstreamPath } from '../request/proxy-path.ts';
import type { TakenBody } from '../request/request-body.ts';
import { takesTrailers } from '../request/trailers.ts';
import type { ResponseReceiver } from '../request/upstream-response.ts';
import type { CompiledUpstream } from '../routing-table/routing-table.ts';

/** What an upstream gets as its request, with these fields and this body. */
export function outboundRequest(
  ctx: RequestContext,
  upstream: CompiledUpstream,
  { fields, passed, upgrade }: Pick<ClientRequest, 'fields' | 'passed' | 'upgrade'>,
  body: TakenBody,
  receiver: ResponseReceiver,
): ClientRequest {
  const { method, target, framing, rewritten, route } = ctx;
  return {
    method,
    path: upstreamPath(upstream.basePath, rewritten ?? target),
    host: rewritten?.host,
    fields,
    passed,
    body: bodyToSend(body),
    contentLength: announcedLength(framing),
    upgrade,
    takesTrailers: takesTrailers(ctx),
    // Also those of an attempt that is retried: the final response may differ from any hint.
    hints: route?.settings.early_hints === true ? receiver : undefined,
  };
}
