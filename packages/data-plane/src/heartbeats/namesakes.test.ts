import { describe, expect, it } from '@jest/globals';
import { encodeHeartbeat, HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';
import { Namesakes } from './namesakes.ts';
import { captureLog } from '../../test/captured-log.ts';

const STARTED_MS = 1_800_000_000_000;

function beatOf(startedAtMs: number): Uint8Array {
  return encodeHeartbeat({
    ...{ id: 'dp-1', region: 'eu', started_at_ms: startedAtMs, sent_at_ms: startedAtMs + 5000 },
    ...{ interval_ms: 2000, config_versions: {}, in_flight: 0, last_error: null },
    ...{ config_errors: {}, services: {}, unreported_services: 0, unusable_credentials: [] },
    ...{ gateway_version: null, server_ahead_ms: null },
  }).bytes;
}

function setUp() {
  const { log, lines } = captureLog();
  return { lines, namesakes: new Namesakes('dp-1', STARTED_MS, log) };
}

describe('heartbeats under the id of a data plane', () => {
  it('of its own are no others', () => {
    const { namesakes, lines } = setUp();
    for (let nowMs = 0; nowMs < 20_000; nowMs += 2000) {
      expect(namesakes.isOwn(beatOf(STARTED_MS), nowMs)).toBe(true);
    }
    expect([namesakes.count, namesakes.problem, lines]).toEqual([0, undefined, []]);
  });

  it('of others count while they beat, and are told once', () => {
    const { namesakes, lines } = setUp();
    for (let nowMs = 0; nowMs < 20_000; nowMs += 2000) {
      expect(namesakes.isOwn(beatOf(STARTED_MS + 1), nowMs)).toBe(false);
      expect(namesakes.isOwn(beatOf(STARTED_MS - 1), nowMs)).toBe(false);
      namesakes.isOwn(beatOf(STARTED_MS), nowMs + 1);
    }
    expect(namesakes.count).toBe(2);
    expect(namesakes.problem).toBe(
      '2 other data planes have the id dp-1: give each a DATA_PLANE_ID of its own',
    );
    expect(lines).toHaveLength(1);
    namesakes.isOwn(beatOf(STARTED_MS), 18_000 + HEARTBEAT_LIFETIME_MS + 1);
    expect([namesakes.count, namesakes.problem]).toEqual([0, undefined]);
  });

  it('of the process before this one, heard once more, are no others', () => {
    const { namesakes, lines } = setUp();
    namesakes.isOwn(beatOf(STARTED_MS - 60_000), 0);
    expect([namesakes.count, lines]).toEqual([0, []]);
  });

  it('of ever other processes are bounded, and what says nothing of itself is its own', () => {
    const { namesakes } = setUp();
    for (let other = 1; other < 1000; other += 1) {
      namesakes.isOwn(beatOf(other), 0);
      namesakes.isOwn(beatOf(other), 1);
    }
    expect(namesakes.count).toBe(100);
    expect(namesakes.isOwn(Buffer.from('{}'), 2)).toBe(true);
  });
});
