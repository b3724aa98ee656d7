import { describe, expect, it } from '@jest/globals';
import { encodeHeartbeat, HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';
import { heartbeatOf } from '@gateway/shared/test/heartbeat';
import { captureLog } from '../../test/captured-log.ts';
import { DuplicateIds } from './duplicate-ids.ts';

const STARTED_MS = 1_800_000_000_000;

function beatOf(startedAtMs: number): Uint8Array {
  const times = { started_at_ms: startedAtMs, sent_at_ms: startedAtMs + 5000 };
  return encodeHeartbeat(heartbeatOf('dp-1', times)).bytes;
}

function setUp() {
  const { log, lines } = captureLog();
  return { lines, duplicates: new DuplicateIds('dp-1', STARTED_MS, log) };
}

describe('duplicate ids', () => {
  it('are not reported for heartbeats of this process', () => {
    const { duplicates, lines } = setUp();
    for (let nowMs = 0; nowMs < 20_000; nowMs += 2000) {
      expect(duplicates.isOwn(beatOf(STARTED_MS), nowMs)).toBe(true);
    }
    expect([duplicates.count, duplicates.problem, lines]).toEqual([0, undefined, []]);
  });

  it('count while the other processes publish heartbeats, and are logged once', () => {
    const { duplicates, lines } = setUp();
    for (let nowMs = 0; nowMs < 20_000; nowMs += 2000) {
      expect(duplicates.isOwn(beatOf(STARTED_MS + 1), nowMs)).toBe(false);
      expect(duplicates.isOwn(beatOf(STARTED_MS - 1), nowMs)).toBe(false);
      duplicates.isOwn(beatOf(STARTED_MS), nowMs + 1);
    }
    expect(duplicates.count).toBe(2);
    expect(duplicates.problem).toBe(
      '2 other data planes have the id dp-1: give each data plane its own DATA_PLANE_ID',
    );
    expect(lines).toHaveLength(1);
    duplicates.isOwn(beatOf(STARTED_MS), 18_000 + HEARTBEAT_LIFETIME_MS + 1);
    expect([duplicates.count, duplicates.problem]).toEqual([0, undefined]);
  });

  it('are not reported for one last heartbeat of the process before this one', () => {
    const { duplicates, lines } = setUp();
    duplicates.isOwn(beatOf(STARTED_MS - 60_000), 0);
    expect([duplicates.count, lines]).toEqual([0, []]);
  });

  it('are bounded in number; a heartbeat without a start time counts as its own', () => {
    const { duplicates } = setUp();
    for (let other = 1; other < 1000; other += 1) {
      duplicates.isOwn(beatOf(other), 0);
      duplicates.isOwn(beatOf(other), 1);
    }
    expect(duplicates.count).toBe(100);
    expect(duplicates.isOwn(Buffer.from('{}'), 2)).toBe(true);
  });
});
