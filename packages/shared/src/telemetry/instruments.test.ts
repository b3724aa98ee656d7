import { describe, expect, it } from '@jest/globals';
import { Registry } from 'prom-client';
import { Instruments, type Sample } from './instruments.ts';

function setUp() {
  const registry = new Registry();
  const lines = async (name: string) =>
    (await registry.metrics()).split('\n').filter((line) => line.includes(name));
  return { instruments: new Instruments(registry), lines };
}

describe('instruments that the caller updates', () => {
  it('are registered with their type, help text and labels', async () => {
    const { instruments, lines } = setUp();
    instruments.counter('sent_total', 'Messages sent.').inc(2);
    instruments
      .counter('failed_total', 'Messages that failed.', ['reason'])
      .inc({ reason: 'full' });
    instruments.gauge('pending', 'Messages that wait.', ['queue']).set({ queue: 'a' }, 3);
    instruments.histogram('wait_seconds', 'Time in the queue.', [0.1, 1]).observe(0.5);
    expect(await lines('sent_total')).toEqual([
      '# HELP sent_total Messages sent.',
      '# TYPE sent_total counter',
      'sent_total 2',
    ]);
    expect(await lines('failed_total')).toContain('failed_total{reason="full"} 1');
    expect(await lines('pending')).toContain('pending{queue="a"} 3');
    expect(await lines('wait_seconds_bucket')).toEqual([
      'wait_seconds_bucket{le="0.1"} 0',
      'wait_seconds_bucket{le="1"} 1',
      'wait_seconds_bucket{le="+Inf"} 1',
    ]);
  });
});

describe('a counter by the known values of a label', () => {
  it('has a series for each from the start', async () => {
    const { instruments, lines } = setUp();
    instruments
      .counterBy('lost_total', 'Lost.', 'reason', ['full', 'late'])
      .inc({ reason: 'late' });
    const values = (await lines('lost_total')).slice(2);
    expect(values).toEqual(['lost_total{reason="full"} 0', 'lost_total{reason="late"} 1']);
  });
});

describe('observed instruments', () => {
  it('are read at each scrape', async () => {
    const { instruments, lines } = setUp();
    let count = 1;
    instruments.observeCounter('taken_total', 'Taken.', () => count);
    instruments.observeGauge('open', 'Open.', () => count);
    expect(await lines('taken_total')).toContain('taken_total 1');
    count = 5;
    expect(await lines('taken_total')).toContain('taken_total 5');
    expect(await lines('open')).toEqual(['# HELP open Open.', '# TYPE open gauge', 'open 5']);
  });

  it('show the labels of the last read only', async () => {
    const { instruments, lines } = setUp();
    let samples: Sample<'state'>[] = [
      [{ state: 'idle' }, 1],
      [{ state: 'used' }, 2],
    ];
    instruments.observeGauges('connections', 'By state.', ['state'], () => samples);
    instruments.observeCounters('closed_total', 'By state.', ['state'], () => samples);
    await lines('connections');
    samples = [[{ state: 'used' }, 3]];
    expect(await lines('connections{')).toEqual(['connections{state="used"} 3']);
    expect(await lines('closed_total{')).toEqual(['closed_total{state="used"} 3']);
  });
});
