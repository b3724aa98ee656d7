import type { Route } from '../../../api/client.ts';
import { DEFAULT_METHODS } from '../../../api/default-methods.ts';
import type { Policy } from './policy.ts';
import { countedText } from '@gateway/client/measures';
import { listWords, sizeText, windowText } from './words.ts';

/** Which methods the route accepts. */
export function explainMethods({ methods }: Pick<Route, 'methods'>): Policy {
  const accepted = listWords(methods ?? DEFAULT_METHODS);
  return {
    title: 'Methods',
    field: 'methods',
    sentences: [`${accepted} only. Other methods get 405.`],
  };
}

/** Which methods, bodies and paths the route accepts, and what passes besides. */
export function explainLimits(
  route: Pick<
    Route,
    | 'grpc_errors'
    | 'methods'
    | 'max_body_bytes'
    | 'max_message_bytes'
    | 'streaming'
    | 'allow_encoded_control_characters'
    | 'early_hints'
    | 'locations'
  >,
): Policy {
  const { max_body_bytes: maxBytes, allow_encoded_control_characters: encoded } = route;
  return {
    title: 'Methods and bodies',
    field: 'methods',
    sentences: [
      ...explainMethods(route).sentences,
      maxBytes === 0
        ? 'Requests with a body get 413.'
        : `Bodies up to ${sizeText(maxBytes)}. Longer ones get 413.`,
      ...(route.streaming
        ? [
            `Messages of gRPC and Connect up to ${sizeText(route.max_message_bytes)} in bodies of any size.`,
          ]
        : []),
      ...(encoded ? ['A path may have the encoded control characters %09, %0A and %0D.'] : []),
      ...(route.locations === 'map'
        ? ['Addresses of the upstream in responses become those by which callers reach the route.']
        : []),
      ...(route.grpc_errors === 'trailers'
        ? ['gRPC calls get errors of the gateway with the status 200 and a gRPC status.']
        : []),
      ...(route.early_hints ? ['Callers get the 103 Early Hints of the upstream.'] : []),
    ],
  };
}

const SHARED_BY = {
  route: 'for all callers together',
  token: 'for each caller',
  ip: 'for each client address',
} as const;

/** How many requests are allowed. */
export function explainQuota({ rate_limit: quota }: Pick<Route, 'rate_limit'>): Policy {
  const { limit, window_seconds: seconds, per, on_store_unavailable: away } = quota;
  // One entry for the whole route is always stored.
  const when =
    per === 'route' ? 'While NATS is away' : 'While NATS is away, or stores no new caller';
  return {
    title: 'Quota',
    field: 'rate_limit',
    sentences: [
      `${countedText(limit, 'request')} in ${windowText(seconds)} ${SHARED_BY[per]}, over all data planes. Further ones get 429.`,
      away === 'share'
        ? `${when}, each data plane grants its share.`
        : `${when}, a data plane grants what it has leased and then answers 503.`,
    ],
  };
}

/** What `Idempotency-Key` does. */
export function explainIdempotency({ idempotency }: Pick<Route, 'idempotency'>): Policy {
  const { mode, required, on_unknown: unknown, repeatable_statuses: repeatable } = idempotency;
  const need = required
    ? 'Every request needs an Idempotency-Key. Without one it gets 400.'
    : 'A request may have an Idempotency-Key.';
  if (mode === 'off') {
    return {
      title: 'Idempotency keys',
      field: 'idempotency',
      sentences: [
        need,
        'Keys are for the upstream. The gateway passes them on and stores nothing.',
      ],
    };
  }
  const statuses = repeatable.map(String).join(', ');
  return {
    title: 'Idempotency keys',
    field: 'idempotency',
    sentences: [
      need,
      'A request with a key runs once; within 24 hours the same request gets the stored response.',
      statuses === ''
        ? 'This is so after every status.'
        : `After ${statuses} the same request runs again, because it was not carried out.`,
      unknown === 'refuse'
        ? 'If it is unknown whether the first one ran, the next one gets 409.'
        : 'If it is unknown whether the first one ran, the next one is forwarded and may run twice.',
    ],
  };
}

/** Where requests go if a region is down. */
export function explainRegions({ regions }: Pick<Route, 'regions'>): Policy {
  const then = regions.length === 0 ? 'any other region' : `${regions.join(', ')}, then any other`;
  return {
    title: 'Regions',
    field: 'regions',
    sentences: [
      `A data plane uses healthy upstreams of its own region. If there are none, it uses ${then}.`,
    ],
  };
}

/** Which requests have a line in the log. */
export function explainLog({ access_log: accessLog }: Pick<Route, 'access_log'>): Policy {
  return { title: 'Log', field: 'access_log', sentences: [logSentence(accessLog)] };
}

function logSentence({ enabled, sample_ratio: ratio }: Route['access_log']): string {
  if (!enabled) return 'Requests have no line in the log.';
  if (ratio === 1) return 'Every request has a line in the log.';
  const percent = Number((ratio * 100).toPrecision(3));
  return `${percent} % of the requests have a line in the log, and all that failed because of the upstream.`;
}
