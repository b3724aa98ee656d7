import { describe, expect, it } from '@jest/globals';
import { HEARTBEAT_LIFETIME_MS } from '@gateway/shared/heartbeats/heartbeat';
import fc from 'fast-check';
import { LivePeers } from './live-peers.ts';

const INTERVAL_MS = 2000;

describe('the number of live data planes', () => {
  it('is at least one', () => {
    expect(new LivePeers('a').count).toBe(1);
  });

  it('includes a peer until it has missed three beats', () => {
    const peers = new LivePeers('a');
    peers.heard('a', 0);
    peers.heard('b', 100);
    peers.heard('b', 2000);
    for (let nowMs = 2000; nowMs <= 2000 + HEARTBEAT_LIFETIME_MS; nowMs += INTERVAL_MS) {
      peers.heard('a', nowMs);
      expect(peers.count).toBe(2);
    }
    peers.heard('a', 2000 + HEARTBEAT_LIFETIME_MS + INTERVAL_MS);
    expect(peers.count).toBe(1);
  });

  it('drops a peer that announces its stop', () => {
    const peers = new LivePeers('a');
    peers.heard('b', 0);
    peers.left('b');
    expect(peers.count).toBe(1);
  });

  it('stays the last known one while NATS is down, and peers have time to send a beat afterwards', () => {
    const peers = new LivePeers('a');
    peers.heard('a', 0);
    peers.heard('b', 0);
    peers.heard('c', 0);
    expect(peers.count).toBe(3);
    peers.heard('a', 3_600_000);
    expect(peers.count).toBe(3);
    for (let nowMs = 3_602_000; nowMs <= 3_608_000; nowMs += INTERVAL_MS) {
      peers.heard('b', nowMs);
      peers.heard('a', nowMs);
    }
    expect(peers.count).toBe(2);
  });

  it('is never below the number of peers that beat in time, whatever others do', () => {
    const events = fc.array(
      fc.record({ id: fc.constantFrom('b', 'c', 'd'), leaves: fc.boolean() }),
      { maxLength: 60 },
    );
    fc.assert(
      fc.property(events, (list) => {
        const peers = new LivePeers('a');
        let nowMs = 0;
        for (const { id, leaves } of list) {
          nowMs += INTERVAL_MS;
          peers.heard('steady', nowMs);
          peers.heard('a', nowMs);
          if (leaves) peers.left(id);
          else peers.heard(id, nowMs);
          expect(peers.count).toBeGreaterThanOrEqual(2);
          expect(peers.count).toBeLessThanOrEqual(5);
        }
      }),
    );
  });
});
