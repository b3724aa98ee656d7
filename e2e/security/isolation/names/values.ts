import { hostOf, MADE_AGAIN, WORDS, type Hidden } from './hidden.ts';
import type { Named, Reach } from './reaches.ts';
import type { Place } from './places.ts';
import type { NamesWorld } from './world.ts';

/** What does not exist, one name for each caller. They are as long as the others, so answers have one length. */
const NONEXISTENT = { none: 'nonexists', 'none of rte': 'nonextant' } as const;
/** In place of the word. */
const ENVIRONMENTS: Readonly<Partial<Record<Reach, string>>> = {
  tok: '*',
  rte: WORDS.env,
  again: MADE_AGAIN,
};
const NONEXISTENT_ID = '01k2m8v4zj5r7c9e1g3p6t8w0x';
/** A version that no environment has. */
const NO_VERSION = '999999';

/** The value that names something of this reach. `state`, `position`, `key` and `rest` depend on the call; see naming-call.ts. */
export function valueOf(world: NamesWorld, place: Place, named: Named, reach: Reach): string {
  const word = reach === 'none' || reach === 'none of rte' ? NONEXISTENT[reach] : WORDS[reach];
  const hidden = hiddenBy(world, reach);
  const id = (prefix: string, found: string | undefined) => found ?? `${prefix}_${NONEXISTENT_ID}`;
  switch (named) {
    case 'environment':
      return ENVIRONMENTS[reach] ?? word;
    case 'service':
    case 'route':
    case 'token':
      // In a path of explain it would leave the route.
      return `${place === 'body path' ? '/../' : ''}${word}-${named}`;
    case 'host':
      return hostOf(word);
    case 'route version':
      return `${word}-version`;
    case 'upstream':
      return `${world.gateway.upstream.url}/${reach === 'rte' ? 'shared' : `${word}-url`}`;
    case 'service id':
      return id('svc', hidden?.serviceId);
    case 'route id':
      return id('rte', hidden?.routeId);
    case 'token id':
      return id('tok', reach === 'tok' ? world.greaterTokenId : hidden?.tokenId);
    case 'request id':
      return id('req', hidden?.requestId);
    case 'call id':
      return id('req', hidden?.callId);
    case 'any id':
      return id('rte', reach === 'tok' ? world.greaterTokenId : hidden?.routeId);
    case 'version':
      // From the first version on, the route out of reach is a difference.
      if (reach === 'rte' && place.startsWith('query ')) return '1';
      return String(hidden?.version ?? NO_VERSION);
    case 'scope':
      return reach === 'tok' ? '*' : word;
    default:
      return word;
  }
}

/** What is hidden in this reach; undefined: nothing. */
function hiddenBy({ hidden }: NamesWorld, reach: Reach): Hidden | undefined {
  return reach === 'tok' || reach === 'none' || reach === 'none of rte' ? undefined : hidden[reach];
}
