import { useState } from 'react';
import type { RequestRecord } from '../../../api/client.ts';

interface Listed {
  readonly data: readonly Pick<RequestRecord, 'id'>[];
}

interface Held<List> {
  readonly key: string;
  readonly list: List;
}

/** A list that stands still while it is read. */
interface FrozenList<List> {
  readonly shown: List | undefined;
  /** How many requests came since then: `14`, or `50+`; undefined: none. */
  readonly fresh: string | undefined;
  /** Shows them. */
  readonly release: () => void;
}

/**
 * Keeps a live list as it is while `frozen`, so that no row moves away from under the pointer.
 *
 * @param key of the list; another one is not held back
 * @param latest undefined while it is loaded
 */
export function useFrozenList<List extends Listed>(
  key: string,
  latest: List | undefined,
  frozen: boolean,
): FrozenList<List> {
  const [held, setHeld] = useState<Held<List>>();
  const isHeld = held?.key === key;
  if (!frozen && held !== undefined) setHeld(undefined);
  if (frozen && !isHeld && latest !== undefined) setHeld({ key, list: latest });
  const shown = frozen && isHeld ? held.list : latest;
  return {
    shown,
    fresh: freshCount(shown, latest),
    release: () => {
      if (latest !== undefined) setHeld({ key, list: latest });
    },
  };
}

/** How many requests the latest list has that the shown one has not, above the last row of the latter. */
export function freshCount(
  shown: Listed | undefined,
  latest: Listed | undefined,
): string | undefined {
  if (shown === undefined || latest === undefined || shown === latest) return undefined;
  const known = new Set(shown.data.map(({ id }) => id));
  const last = shown.data.at(-1)?.id ?? '';
  const fresh = latest.data.filter(({ id }) => !known.has(id) && id > last);
  if (fresh.length === 0) return undefined;
  // Nothing of the shown list is left: there are more between the two.
  const isAll = fresh.length === latest.data.length && known.size > 0;
  return `${fresh.length}${isAll ? '+' : ''}`;
}
