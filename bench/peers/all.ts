import { StartError } from '@gateway/local-stack/process/errors';
import { gatewayRows } from './gateway.ts';
import { haproxy, nginx } from './nginx-and-haproxy.ts';
import { fastifyHttpProxy, floor, httpProxy } from './node-proxies.ts';
import type { PeerKind } from './peer.ts';

/** Which rows a run measures. */
export interface Choice {
  /** Names of the rows; empty: all of them. */
  readonly only: readonly string[];
  /** Root of another checkout, whose gateway is measured beside this one. */
  readonly compare: string | undefined;
}

/** The same row of another checkout and of this one. */
interface Pair {
  readonly there: PeerKind;
  readonly here: PeerKind;
}

export interface ChosenRows {
  /** In the order in which every round visits them. */
  readonly kinds: readonly PeerKind[];
  readonly pairs: readonly Pair[];
}

/**
 * Chooses the rows of a run. nginx is always the first of them, because every ratio is taken against it. A row
 * of another checkout comes directly before the same row of this one, so that a disturbance of the machine
 * hits both.
 *
 * @throws {StartError} if a name is not the name of a row
 */
export function chooseRows({ only, compare }: Choice): ChosenRows {
  const here = gatewayRows();
  const there = compare === undefined ? [] : gatewayRows(compare);
  const all = [nginx, haproxy, httpProxy, fastifyHttpProxy, floor, ...here];
  const unknown = only.filter((name) => !all.some((kind) => kind.name === name));
  if (unknown.length > 0) {
    const known = all.map((kind) => kind.name).join(', ');
    throw new StartError(`unknown row: ${unknown.join(', ')}; the rows are: ${known}`);
  }
  const chosen = all.filter(
    (kind) => kind === nginx || only.length === 0 || only.includes(kind.name),
  );
  const pairs = here.flatMap((kind, index) => {
    const other = there[index];
    return other !== undefined && chosen.includes(kind) ? [{ there: other, here: kind }] : [];
  });
  const kinds = chosen.flatMap((kind) => {
    const pair = pairs.find((one) => one.here === kind);
    return pair === undefined ? [kind] : [pair.there, kind];
  });
  return { kinds, pairs };
}
