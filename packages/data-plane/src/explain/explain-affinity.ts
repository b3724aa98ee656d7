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

/** Why the first attempt goes to an upstream. */
export function reasonOfChoice({ upstream }: RequestAffinity): string {
  return upstream === undefined
    ? 'Picked first, because the affinity of the route leads the request to it: of those that come first by health and region it has the highest score.'
    : 'Picked first, because it has the session that the request names.';
}
