import * as dashboard from '@grafana/grafana-foundation-sdk/dashboard';
import { alertLimit } from './alert.ts';

/** Red where the first of the alerts fires. */
export function thresholds(
  [first]: readonly string[],
  good: 'green' | 'transparent',
): dashboard.ThresholdsConfigBuilder {
  const limit = first === undefined ? undefined : alertLimit(first);
  const [low, high] = limit?.side === 'below' ? ['red', good] : [good, 'red'];
  const steps = [{ value: null, color: low }];
  return new dashboard.ThresholdsConfigBuilder()
    .mode(dashboard.ThresholdsMode.Absolute)
    .steps(limit === undefined ? steps : [...steps, { value: limit.value, color: high }]);
}
