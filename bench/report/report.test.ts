import { describe, expect, it } from '@jest/globals';
import type { RoundResult } from '../measure/round.ts';
import { replaceSection } from './document.ts';
import { summarize } from './row.ts';
import { formatTable } from './table.ts';

function round(cpuUsPerRequest: number, failed = 0): RoundResult {
  return {
    requests: 1000,
    failed,
    requestsPerSecond: 1e6 / cpuUsPerRequest,
    cpuUsPerRequest,
    p50Us: 500,
    p99Us: 1500,
    residentBytes: 100e6,
    foreignShare: 0.01,
  };
}

describe('summarize', () => {
  it('compares a row with nginx within the same round', () => {
    const nginx = [round(10), round(20), round(10)];
    const row = summarize('gateway', [round(25), round(50), round(25)], nginx);
    expect(row.ratio).toBe(2.5);
    expect(row.cpuUsPerRequest).toBe(25);
  });

  it('takes the median, so that one disturbed round does not count', () => {
    expect(summarize('nginx', [round(10), round(12), round(90)], []).cpuUsPerRequest).toBe(12);
    expect(summarize('nginx', [round(10), round(12)], []).cpuUsPerRequest).toBe(11);
  });
});

describe('formatTable', () => {
  it('shows no figures of a row that got anything but 2xx', () => {
    const nginx = [round(10)];
    const table = formatTable([
      summarize('nginx', nginx, nginx),
      summarize('gateway', [round(25, 3)], nginx),
    ]);
    expect(table).toContain('invalid: 3 requests got no 2xx');
    expect(table).not.toContain('25.0');
  });
});

describe('replaceSection', () => {
  const document = 'a\n<!-- begin table -->\nold\n<!-- end table -->\nb\n';

  it('replaces what is between the markers and nothing else', () => {
    expect(replaceSection(document, 'table', 'new')).toBe(
      'a\n<!-- begin table -->\n\nnew\n\n<!-- end table -->\nb\n',
    );
  });

  it('refuses a document without the markers', () => {
    expect(() => replaceSection(document, 'profile', 'new')).toThrow('no section "profile"');
  });
});
