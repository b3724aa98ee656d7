import type { Gateway } from '../../../harness/gateway.ts';
import { EVERY_SCOPE, JUST_ROUTES } from '../callers.ts';
import { bury, hide, MADE_AGAIN, WORDS, type Hidden } from './hidden.ts';
import type { Reach } from './reaches.ts';

/** A caller, and what an answer to it must not contain. */
interface Reacher {
  readonly token: string;
  readonly canaries: RegExp;
}

/** What is out of reach, by reach, and who tries to reach it. */
export interface NamesWorld {
  readonly gateway: Gateway;
  readonly hidden: Readonly<Record<'env' | 'del' | 'rte' | 'again', Hidden>>;
  /** A token of all environments. */
  readonly greaterTokenId: string;
  readonly callers: Readonly<Record<Reach, Reacher>>;
}

export async function makeNamesWorld(gateway: Gateway): Promise<NamesWorld> {
  const { admin } = gateway;
  for (const name of [WORDS.env, WORDS.del, MADE_AGAIN]) {
    await admin.create('/v1/environments', { name });
  }
  const [env, del, rte, again] = await Promise.all([
    hide(gateway, WORDS.env, WORDS.env),
    hide(gateway, WORDS.del, WORDS.del),
    hide(gateway, WORDS.rte, 'production'),
    hide(gateway, WORDS.again, MADE_AGAIN),
  ]);
  await bury(gateway, del);
  await bury(gateway, again);
  await admin.create('/v1/environments', { name: MADE_AGAIN });
  const named = (fields: object) => gateway.tokenClient({ scopes: EVERY_SCOPE, ...fields });
  const greater = await named({ name: `${WORDS.tok}-token`, environments: ['*'] });
  const caller = async (environment: string, routes: readonly string[], forbidden: Hidden[]) => {
    const { token } = await named({ environments: [environment], routes });
    const ids = forbidden.flatMap((one) => [one.serviceId, one.routeId, one.tokenId]);
    // Routes do not limit which services of an environment a token may see.
    const hiddenIds = ids.filter((id) => id !== rte.serviceId);
    const words = forbidden.map(({ word }) => word);
    return { token, canaries: new RegExp([...words, WORDS.tok, ...hiddenIds].join('|'), 'gi') };
  };
  const ofAll = await caller('production', ['*'], [env, del, again]);
  const ofSome = await caller('production', JUST_ROUTES, [env, del, again, rte]);
  const ofAgain = await caller(MADE_AGAIN, ['*'], [env, del, again, rte]);
  return {
    gateway,
    hidden: { env, del, rte, again },
    greaterTokenId: greater.tokenId,
    callers: {
      env: ofAll,
      tok: ofAll,
      del: ofAll,
      none: ofAll,
      rte: ofSome,
      'none of rte': ofSome,
      again: ofAgain,
    },
  };
}
