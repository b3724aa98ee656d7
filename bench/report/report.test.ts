import { describe, expect, it } from '@jest/globals';
import type { RoundResult } from '../measure/round.ts';
import { replaceSection } from './document.ts';
import { summarize } from './row.ts';

function round(cpuUsPerRequest: number, failed = 0, foreignShare = 0.01): RoundResult {
  return {
    units: 1000,
    durationUs: 1e6,
    failed,
    requestsPerSecond: 1e6 / cpuUsPerRequest,
    cpuUsPerRequest,
    p50Us: 500,
    p99Us: 1500,
    residentBytes: 100e6,
    foreignShare,
  };
}

describe('summarize', () => {
  it('takes the ratio to nginx within the same round', () => {
    const nginx = [round(10), round(20), round(10)];
    const row = summarize('gateway', [round(25), round(50), round(25)], nginx);
    expect(row.ratio).toBe(2.5);
    expect(row.cpuUsPerRequest).toBe(25);
  });

  it('takes the median, so that one slow round does not count', () => {
    expect(summarize('nginx', [round(10), round(12), round(90)], []).cpuUsPerRequest).toBe(12);
    expect(summarize('nginx', [round(10), round(12)], []).cpuUsPerRequest).toBe(11);
  });

  it('leaves out disturbed rounds if three others are left', () => {
    const disturbed = round(40, 0, 0.5);
    const three = [round(25), disturbed, round(25), disturbed, disturbed, round(25)];
    expect(summarize('gateway', three, []).cpuUsPerRequest).toBe(25);
    expect(summarize('gateway', three.slice(1), []).cpuUsPerRequest).toBe(40);
  });

  it('leaves out rounds in which nginx was disturbed', () => {
    const slow = round(50, 0, 0.5);
    const nginx = [round(10), slow, slow, round(10), slow, slow, round(10)];
    const row = summarize(
      'gateway',
      nginx.map(() => round(30)),
      nginx,
    );
    expect(row.ratio).toBe(3);
  });

  it('counts failures in rounds that it leaves out', () => {
    const rounds = [round(25), round(25), round(25), round(40, 7, 0.5)];
    expect(summarize('gateway', rounds, []).failed).toBe(7);
  });
});

describe('replaceSection', () => {
  const document = 'a\n<!-- begin table -->\nold\n<!-- end table -->\nb\n';

  it('replaces the text between the markers and nothing else', () => {
    expect(replaceSection(document, 'table', 'new')).toBe(
      'a\n<!-- begin table -->\n\nnew\n\n<!-- end table -->\nb\n',
    );
  });

  it('rejects a document without the markers', () => {
    expect(() => replaceSection(document, 'profile', 'new')).toThrow('no section "profile"');
  });
});
