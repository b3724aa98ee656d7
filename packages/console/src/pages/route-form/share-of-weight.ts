import { valueAt } from '../../ui/form/draft.ts';

/** The part of the requests that a version gets by its weight, 0 to 1; null: the weights, as they were typed, say none. */
export function shareOfWeight(versions: readonly unknown[], index: number): number | null {
  const weights = versions.map((version) => valueAt(version, 'weight'));
  if (!weights.every((weight): weight is number => typeof weight === 'number' && weight >= 0)) {
    return null;
  }
  const sum = weights.reduce((all, weight) => all + weight, 0);
  return sum === 0 ? null : (weights[index] ?? 0) / sum;
}
