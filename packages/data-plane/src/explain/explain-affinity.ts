import type { RequestAffinity } from '../request/request-affinity.ts';

/** Where the request belongs, without any value of the caller. */
export function describeAffinity({ policy, upstream, caller, newCookie }: RequestAffinity): string {
  const { by, name } = policy;
  if (upstream !== undefined) return `${name} names the session of one upstream.`;
  switch (by) {
    case 'token':
      return 'The requests of this caller go to the same upstream.';
    case 'ip':
      return 'The requests of this address go to the same upstream.';
    case 'header':
      return caller === undefined
        ? `The request has no ${name}, so it goes to any upstream.`
        : `The requests with this value of ${name} go to the same upstream.`;
    case 'gateway_cookie':
      return newCookie === undefined
        ? `The requests with this value of the cookie ${name} go to the same upstream.`
        : `The caller has no cookie ${name} of the gateway, and gets one with the response.`;
    case 'upstream_cookie':
    case 'upstream_header':
      return caller === undefined
        ? `The request names no session in ${name}, so it goes to any upstream.`
        : `${name} has an id that the gateway did not give out. The requests with this id go to the same upstream.`;
  }
}

/** Why the first attempt of a request that belongs to one upstream goes to this one, or to another. */
export function reasonOfChoice({ upstream }: RequestAffinity, isPicked: boolean): string {
  if (upstream !== undefined) {
    return isPicked
      ? 'Picked first, because it has the session that the request names.'
      : 'Not picked first, because another one has the session that the request names.';
  }
  return isPicked
    ? 'Picked first: of those that come first by health and region, affinity leads the request to this one.'
    : 'Not picked first, because affinity leads the request to another one.';
}
