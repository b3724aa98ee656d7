import { withoutField } from '@gateway/http/fields/header-fields';
import { isIdempotent } from '@gateway/shared/http/methods';
import type { ExplainedUpstream } from '@gateway/shared/explain/explanation';
import type { RequestAffinity } from '../request/request-affinity.ts';
import type { RequestContext } from '../request/context.ts';
import { sendsIdempotencyKey } from '../request/inbound-headers.ts';
import { attemptFields, outboundHeaders } from '../request/outbound-headers.ts';
import type { TakenBody } from '../request/request-body.ts';
import { isStream } from '../request/stream-progress.ts';
import { takesTrailers } from '../request/trailers.ts';
import type { CompiledRoute, CompiledService } from '../routing-table/routing-table.ts';
import { mayRepeat } from '../upstream/decide-retry.ts';
import type { ForwardOptions } from '../upstream/forward-stage.ts';
import { bodyOfAttempts, takeBody } from '../upstream/forwarded-body.ts';
import type { ServiceBalancer, UpstreamView } from '../upstream/health/service-balancer.ts';
import type { CandidateGroup } from '../upstream/select-upstream.ts';
import { reasonOfChoice } from './explain-affinity.ts';

const NONE_TRIED: ReadonlySet<number> = new Set();

/** Methods with which a Content-Length is sent although there is no body (RFC 9110 section 8.6). */
const ANTICIPATES_BODY = new Set(['POST', 'PUT', 'PATCH']);

/**
 * The body as the forward stage would take it, and send it.
 *
 * @throws GatewayError if it is larger than the route takes
 */
export async function takenBody(
  ctx: RequestContext,
  route: CompiledRoute,
  service: CompiledService,
  options: Pick<ForwardOptions, 'retryBodyBytes'>,
): Promise<TakenBody> {
  const taken = await takeBody(ctx, route, options);
  return bodyOfAttempts(ctx, route, service, options, taken);
}

/** The upstreams of the service for the first attempt, the best first, and why each is or is not picked. */
export function explainUpstreams(
  balancer: ServiceBalancer,
  route: CompiledRoute,
  region: string,
  affinity: RequestAffinity | undefined,
): ExplainedUpstream[] {
  const { regions } = route.settings;
  const views = balancer.view(regions);
  const best = Math.min(...views.map(({ rank }) => rank));
  const equals = views.filter(({ rank }) => rank === best).length;
  const led = affinity?.isKnown === true ? affinity : undefined;
  const chosen = led && views[led.choose(balancer, regions, NONE_TRIED, -1)];
  const isPicked = (view: UpstreamView) =>
    chosen === undefined ? view.rank === best : view === chosen;
  const why = (view: UpstreamView) => {
    if (led !== undefined) return reasonOfChoice(led, isPicked(view));
    return reasonOf(isPicked(view) ? equals : 0, affinity?.newCookie !== undefined);
  };
  const order = (view: UpstreamView) => (isPicked(view) ? -1 : view.rank);
  return views
    .toSorted((a, b) => order(a) - order(b) || a.inFlight / a.weight - b.inFlight / b.weight)
    .map((view) => ({
      id: view.upstream.id,
      url: view.upstream.url,
      region: view.upstream.region,
      protocol: view.upstream.protocol ?? 'http1',
      websocket_protocol: view.upstream.websocketProtocol ?? 'http1',
      health: view.health,
      in_flight: view.inFlight,
      weight: view.weight,
      picked_first: isPicked(view),
      reason: `${placeOf(view.group, view.upstream.region, region)} ${why(view)}`,
    }));
}

/**
 * @param equals the number of candidates of the best group if it is one of them, else 0
 * @param byCookie whether a new cookie of the gateway decides between them
 */
function reasonOf(equals: number, byCookie: boolean): string {
  if (equals === 0) return 'Not picked first, because others come before it.';
  if (equals === 1) return 'Picked first, because no other is as good.';
  const one = `One of ${equals} that are as good:`;
  return byCookie
    ? `${one} the new cookie leads to one of them by weight.`
    : `${one} of two drawn by weight, the one with fewer requests in flight for its weight is picked.`;
}

function placeOf(group: CandidateGroup, region: string | null, own: string): string {
  switch (group) {
    case 'own_region':
      return region === null
        ? 'Healthy, and counts as the region of every data plane.'
        : `Healthy, in the region ${own} of this data plane.`;
    case 'failover_region':
      return `Healthy, in the region ${region ?? ''}, which the route names for failover.`;
    case 'other_region':
      return `Healthy, in the region ${region ?? ''}, which the route does not name.`;
    case 'failing_checks':
      return 'It fails its health checks.';
    case 'ejected':
      return 'It is ejected, because requests to it failed.';
    case 'unreachable':
      return 'It is not healthy, and the last attempt or check got no connection.';
  }
}

/** The retry policy for this request, in sentences. */
export function describeRetries(
  ctx: RequestContext,
  route: CompiledRoute,
  body: TakenBody,
): string {
  const { retry, settings } = route;
  const count = settings.retry_count;
  if (count === 0) return 'No retries: retry_count is 0.';
  const bound = `At most ${count} ${count === 1 ? 'retry' : 'retries'} within ${settings.timeout_ms} ms (timeout_ms), as far as the retry budget of the service allows.`;
  if (body.kind === 'stream') {
    const why = isStream(ctx) ? 'may last' : 'is too large to be kept';
    const { resendable } = body;
    const sent =
      resendable === undefined
        ? 'any of it was'
        : `more than ${resendable.maxBytes} bytes of it were`;
    return `${bound} The body ${why}, so nothing is retried once ${sent} sent.`;
  }
  const unsent =
    ctx.affinity?.staysPut === true
      ? 'Every retry goes to the same upstream, because affinity.retry_elsewhere is false.'
      : 'If nothing was sent, the request goes to another healthy upstream at once.';
  const hasKey = sendsIdempotencyKey(ctx.inbound);
  if (!mayRepeat(ctx.method, hasKey, retry)) {
    return `${bound} ${unsent} Once it was sent it is not repeated: ${ctx.method} is not idempotent, and retry.unsafe_methods is ${retry.unsafeMethods}.`;
  }
  const statuses = [...retry.onStatuses].sort((a, b) => a - b).join(', ');
  const onStatus = statuses === '' ? '' : ` or the status ${statuses}`;
  const why = isIdempotent(ctx.method)
    ? `${ctx.method} is idempotent`
    : `retry.unsafe_methods is ${retry.unsafeMethods}`;
  return `${bound} ${unsent} Once it was sent it is repeated after a reset, a timeout of the attempt${onStatus}, because ${why}; the random wait before it is at most ${retry.backoffMs} ms (retry.backoff_ms), doubled with each retry.`;
}

/** The names of the header fields that the upstream would get, in lower case and in order, without `connection`. */
export function sentHeaderNames(ctx: RequestContext, body: TakenBody): string[] {
  const names = new Set(['host']);
  if (takesTrailers(ctx)) names.add('te');
  const fields = withoutField(attemptFields(ctx, outboundHeaders(ctx), ctx.startedMs), 'host');
  for (let index = 0; index < fields.length; index += 2) {
    names.add((fields[index] ?? '').toLowerCase());
  }
  if (body.kind === 'stream' || body.bytes !== null || ANTICIPATES_BODY.has(ctx.method)) {
    names.add('content-length');
  }
  return [...names].sort();
}
