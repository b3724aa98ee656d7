import { gzipSync } from 'node:zlib';
import { createHash, randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { MasterKey } from '../config/master-keys.ts';
import { DEFAULT_LIMITS } from '../../test/snapshot.ts';
import {
  openPointer,
  openSnapshot,
  sealSnapshot,
  SnapshotRefusedError,
} from './signed-snapshot.ts';
import { SNAPSHOT_FORMAT, type Snapshot } from './schema.ts';

const key = (id: string): MasterKey => ({ id, bytes: randomBytes(32) });
const older = key('k1');
const newer = key('k2');

const snapshot: Snapshot = {
  format: SNAPSHOT_FORMAT,
  environment: 'production',
  version: 7,
  services: [
    {
      id: 'svc_1',
      name: 'echo',
      revision: 1,
      upstreams: [{ id: 'ups_1', url: 'http://a', region: null, weight: 1 }],
      health_check: {
        type: 'http',
        grpc_service: '',
        path: '/',
        interval_ms: 5000,
        timeout_ms: 2000,
        healthy_threshold: 2,
        unhealthy_threshold: 3,
      },
      protocol: 'http1',
      websocket_protocol: 'http1',
      send_via: false,
      limits: DEFAULT_LIMITS,
    },
  ],
  routes: [],
  tokens: [],
};

describe('a signed snapshot', () => {
  it('is decoded unchanged, with any of the known keys', async () => {
    const { pointer, bytes } = await sealSnapshot(snapshot, 'o', [older]);
    const opened = openPointer(JSON.stringify(pointer), 'production', [newer, older]);
    expect(await openSnapshot(opened, bytes)).toEqual(snapshot);
  });

  it.each([
    ['a changed version', { version: 8 }],
    ['a changed object', { object: 'other' }],
    ['a changed hash', { sha256: '0'.repeat(64) }],
    ['another environment', { environment: 'development' }],
    ['a changed signature', { signature: 'f'.repeat(64) }],
    ['an unknown key', { key_id: 'k9' }],
    ['a malformed field', { version: '7' }],
    ['an unknown format', { format: 99 }],
  ])('with %s is refused', async (_case, change) => {
    const { pointer } = await sealSnapshot(snapshot, 'o', [newer]);
    const text = JSON.stringify({ ...pointer, ...change });
    expect(() => openPointer(text, 'production', [newer])).toThrow(SnapshotRefusedError);
  });

  it('is refused as the configuration of another environment', async () => {
    const { pointer } = await sealSnapshot(snapshot, 'o', [newer]);
    expect(() => openPointer(JSON.stringify(pointer), 'development', [newer])).toThrow(
      'another environment',
    );
  });

  it('is refused if its bytes were truncated or exchanged', async () => {
    const { pointer, bytes } = await sealSnapshot(snapshot, 'o', [newer]);
    const other = await sealSnapshot({ ...snapshot, version: 6 }, 'o', [newer]);
    for (const wrong of [bytes.subarray(0, -1), other.bytes, new Uint8Array(0)]) {
      await expect(openSnapshot(pointer, wrong)).rejects.toThrow(SnapshotRefusedError);
    }
  });

  it('is refused if it is signed correctly but not a snapshot', async () => {
    const { pointer } = await sealSnapshot(snapshot, 'o', [newer]);
    const whole = JSON.stringify(snapshot);
    const otherFormat = JSON.stringify({ ...snapshot, format: 99 });
    const escapedName = whole.replace('"services"', String.raw`"\u0073ervices"`);
    for (const text of ['{', '{}', otherFormat, escapedName]) {
      const bytes = gzipSync(text);
      const sha256 = createHash('sha256').update(bytes).digest('hex');
      await expect(openSnapshot({ ...pointer, sha256 }, bytes)).rejects.toThrow(
        SnapshotRefusedError,
      );
    }
  });
});
