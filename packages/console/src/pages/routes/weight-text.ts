import type { Route } from '../../api/client.ts';

type Version = NonNullable<Route['versions']>[number];

/** The share of each version in percent, with one digit where it matters: `90 %`, `0.5 %`. */
export function weightText(weight: number, versions: readonly Pick<Version, 'weight'>[]): string {
  const sum = versions.reduce((total, one) => total + one.weight, 0);
  return percentText(weight, sum);
}

/** A part of a sum in percent: `90 %`, `33.3 %`; of nothing it is `0 %`. */
export function percentText(part: number, sum: number): string {
  if (sum === 0) return '0 %';
  return `${Math.round((part / sum) * 1000) / 10} %`;
}
