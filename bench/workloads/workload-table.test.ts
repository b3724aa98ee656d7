import { describe, expect, it } from '@jest/globals';
import type { RoundResult } from '../measure/round.ts';
import { formatWorkload } from './workload-table.ts';

function round(cpuUsPerRequest: number, failed = 0): RoundResult {
  return {
    units: 100,
    durationUs: 2e6,
    failed,
    requestsPerSecond: 50,
    cpuUsPerRequest,
    p50Us: 2000,
    p99Us: 3500,
    residentBytes: 12e6,
    foreignShare: 0,
  };
}

function format(gateway: readonly RoundResult[]) {
  const reference = [round(100), round(200)];
  const { table, failed } = formatWorkload({ unit: 'MiB' }, [
    { load: '1 MiB', proxy: 'nginx', rounds: reference, reference },
    { load: '1 MiB', proxy: 'gateway', rounds: gateway, reference },
  ]);
  return { failed, lines: table.split('\n').map((line) => line.replaceAll(/ +/g, ' ')) };
}

describe('formatWorkload', () => {
  it('shows each proxy under each load, with its ratio to nginx in the same round', () => {
    const { lines, failed } = format([round(150), round(300)]);
    expect(failed).toBe(false);
    expect(lines[0]).toContain('| MiB/s | CPU µs/MiB |');
    expect(lines[2]).toBe('| 1 MiB | nginx | 50 | 150.0 | 1.00 | 2.00 | 3.50 | 12 | 0 % |');
    expect(lines[3]).toBe('| 1 MiB | gateway | 50 | 225.0 | 1.50 | 2.00 | 3.50 | 12 | 0 % |');
  });

  it('shows where the median of a ratio lies if there are six rounds', () => {
    const reference = Array.from({ length: 6 }, () => round(100));
    const rounds = [110, 120, 130, 140, 150, 160].map((cpuUs) => round(cpuUs));
    const { table } = formatWorkload({ unit: 'MiB' }, [
      { load: '1 MiB', proxy: 'gateway', rounds, reference },
    ]);
    expect(table).toContain('| 1.35 (1.10 to 1.60) |');
  });

  it('shows no figures for a row with a failed request', () => {
    const { lines, failed } = format([round(150), round(300, 2)]);
    expect(failed).toBe(true);
    expect(lines[3]).toContain('invalid: 2 failed');
    expect(lines[3]).not.toContain('225.0');
  });
});
