import { EVERY, type RouteCors } from '@gateway/shared/definitions/route-cors';
import { HEADER } from '@gateway/shared/http/headers';
import { originMatcher, type MatchOrigin } from './match-origin.ts';

/** Which pages of other origins may call a route. */
export interface CompiledCors {
  readonly match: MatchOrigin;
  /** Whether every origin may, so that responses are the same for all. */
  readonly isPublic: boolean;
  readonly credentials: boolean;
  readonly methods: readonly string[];
  /** In lower case; undefined: every header. */
  readonly headers: ReadonlySet<string> | undefined;
  readonly maxAgeS: number;
  /** The fields of a response that a page may read, besides `Access-Control-Allow-Origin`. */
  readonly fields: readonly string[];
}

/** The gateway's own fields of responses, which every page may read that may read the response. */
const PROMISED = [
  HEADER.requestId,
  HEADER.gatewayError,
  HEADER.latency,
  HEADER.rateLimitLimit,
  HEADER.rateLimitRemaining,
  HEADER.rateLimitReset,
  'retry-after',
];

/**
 * @param accepted the methods of the route
 * @throws Error if every origin may use the cookies of its visitors
 */
export function compileCors(cors: RouteCors, accepted: ReadonlySet<string>): CompiledCors {
  const { origins, methods, headers, expose, credentials } = cors;
  const isPublic = origins.includes(EVERY);
  if (isPublic && credentials) throw new Error('its cors allows credentials to every origin');
  const exposed = expose.includes(EVERY) ? EVERY : [...PROMISED, ...expose].join(', ');
  return {
    match: originMatcher(origins),
    isPublic,
    credentials,
    methods: methods === null ? [...accepted] : methods.filter((method) => accepted.has(method)),
    headers: headers.includes(EVERY)
      ? undefined
      : new Set(headers.map((header) => header.toLowerCase())),
    maxAgeS: cors.max_age_s,
    fields: [
      ...(credentials ? ['Access-Control-Allow-Credentials', 'true'] : []),
      'Access-Control-Expose-Headers',
      exposed,
    ],
  };
}
