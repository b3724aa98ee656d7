import { EVERY } from '@gateway/shared/definitions/route-cors';

/** Returns the configured origin that covers the `Origin` of a request; undefined: none does. */
export type MatchOrigin = (origin: string) => string | undefined;

/** What may stand for `*.`: labels in the form in which browsers write them. */
const LABELS = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/;

/**
 * Origins are compared character by character (https://fetch.spec.whatwg.org/#concept-cors-check), because browsers write
 * each in one way: in lower case and without a default port. Only `*.` stands for labels.
 */
export function originMatcher(origins: readonly string[]): MatchOrigin {
  if (origins.includes(EVERY)) return () => EVERY;
  const exact = new Set(origins.filter((origin) => !origin.includes('*')));
  const wildcards = origins.filter((origin) => !exact.has(origin)).map(wildcardOf);
  return (origin) => {
    if (exact.has(origin)) return origin;
    return wildcards.find((wildcard) => covers(wildcard, origin))?.origin;
  };
}

interface Wildcard {
  readonly origin: string;
  /** The scheme, `://` included. */
  readonly start: string;
  /** From the dot before the name on. */
  readonly end: string;
}

function wildcardOf(origin: string): Wildcard {
  const star = origin.indexOf('*');
  return { origin, start: origin.slice(0, star), end: origin.slice(star + 1) };
}

function covers({ start, end }: Wildcard, origin: string): boolean {
  if (!origin.startsWith(start) || !origin.endsWith(end)) return false;
  return LABELS.test(
    origin.slice(start.length, Math.max(start.length, origin.length - end.length)),
  );
}
