import { shareText } from '../../ui/share-text.ts';
import type { Route } from '../../api/client.ts';

type Version = NonNullable<Route['versions']>[number];

/** The share of each version: `90 %`, `0.5 %`. */
export function weightText(weight: number, versions: readonly Pick<Version, 'weight'>[]): string {
  const sum = versions.reduce((total, one) => total + one.weight, 0);
  return percentText(weight, sum);
}

/** A part of a sum: `90 %`, `33 %`; of nothing it is `0 %`. */
export function percentText(part: number, sum: number): string {
  return shareText(sum === 0 ? 0 : part / sum);
}
