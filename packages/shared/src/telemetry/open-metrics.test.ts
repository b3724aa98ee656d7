import { expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Instruments } from './instruments.ts';
import { openMetricsText } from './open-metrics.ts';

it('metrics in the format OpenMetrics, and the registry stays as it is', async () => {
  const registry = new Registry();
  const instruments = new Instruments(registry);
  instruments.counter('sent_total', 'Messages "sent".', ['to']).inc({ to: 'a"\n\\' }, 3);
  instruments.counter('odd', 'Odd.').inc();
  instruments.gauge('open', 'Open.').set(Infinity);
  instruments.histogram('wait_seconds', 'Wait.', [0.1]).observe(0.05);
  const classic = await registry.metrics();
  expect((await openMetricsText(registry)).split('\n')).toEqual([
    '# TYPE sent counter',
    String.raw`# HELP sent Messages \"sent\".`,
    String.raw`sent_total{to="a\"\n\\"} 3`,
    '# TYPE odd unknown',
    '# HELP odd Odd.',
    'odd 1',
    '# TYPE open gauge',
    '# HELP open Open.',
    'open +Inf',
    '# TYPE wait_seconds histogram',
    '# HELP wait_seconds Wait.',
    'wait_seconds_bucket{le="0.1"} 1',
    'wait_seconds_bucket{le="+Inf"} 1',
    'wait_seconds_sum 0.05',
    'wait_seconds_count 1',
    '# EOF',
    '',
  ]);
  expect(await registry.metrics()).toBe(classic);
});
