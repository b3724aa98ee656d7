import type { Route } from '../../../api/client.ts';
import type { Policy } from './policy.ts';
import { listWords } from './words.ts';

type Auth = Route['auth'];
type Jwt = Extract<Auth, { type: 'jwt' }>;

/** How callers prove who they are. */
export function explainAuthentication({ auth }: Pick<Route, 'auth'>): Policy {
  return { title: 'Authentication', field: 'auth', sentences: sentencesFor(auth) };
}

function sentencesFor(auth: Auth): string[] {
  switch (auth.type) {
    case 'token':
      return [
        'Callers send a token with the scope proxy, as Authorization: Bearer, or as the password of Authorization: Basic. The upstream does not see it.',
      ];
    case 'api_key':
      return [
        'Callers send a token with the scope proxy, as X-API-Key. The upstream does not see it.',
        "The caller's own Authorization is forwarded.",
      ];
    case 'none':
      return [
        'Anybody may call the route.',
        'Authorization and X-API-Key are forwarded, unless they have a token of this gateway.',
      ];
    case 'jwt':
      return jwtSentences(auth);
  }
}

function jwtSentences(auth: Jwt): string[] {
  const { issuer, audience, jwks_url: keys, algorithms, required_claims: claims } = auth;
  const audiences = typeof audience === 'string' ? [audience] : audience;
  return [
    `Callers send a JWT of ${issuer} for ${listWords(audiences, 'or')}, as Authorization: Bearer.`,
    `It is signed with ${listWords(algorithms, 'or')}, by a key that ${keys} lists.`,
    ...claimSentences(claims),
    'The upstream gets X-Gateway-Subject in place of the JWT.',
  ];
}

function claimSentences(claims: Jwt['required_claims']): string[] {
  if (Array.isArray(claims)) {
    return claims.length === 0 ? [] : [`It has the claims ${listWords(claims)}, with any value.`];
  }
  return Object.entries(claims).map(([name, values]) => {
    const allowed = [values].flat().map((value) => JSON.stringify(value));
    return `Its claim ${name} is ${listWords(allowed, 'or')}.`;
  });
}
