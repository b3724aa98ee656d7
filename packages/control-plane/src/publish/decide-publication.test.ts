import { describe, expect, it } from '@jest/globals';
import { snapshotAttemptName } from '@gateway/shared/messaging/names';
import type { VerifiedEntry } from '@gateway/shared/snapshot/signed-log-entry';
import type { Delta, SnapshotEntry } from '@gateway/shared/snapshot/log-schema';
import { SNAPSHOT_FORMAT, type SnapshotPointer } from '@gateway/shared/snapshot/schema';
import { decidePublication, type PublicationState } from './decide-publication.ts';

const NONCE = '0123456789abcdef';

function pointerAt(version: number, repeats?: string): SnapshotPointer {
  return {
    format: SNAPSHOT_FORMAT,
    environment: 'production',
    version,
    key_id: 'k1',
    object: snapshotAttemptName('production', version, NONCE, repeats),
    sha256: '0'.repeat(64),
    signature: String(version % 10).repeat(64),
  };
}

function snapshotEntry(version: number): VerifiedEntry {
  const entry: SnapshotEntry = {
    kind: 'snapshot',
    format: SNAPSHOT_FORMAT,
    environment: 'production',
    version,
    pointer_signature: pointerAt(version).signature,
  };
  return { entry, id: 'a'.repeat(16), keyId: 'k1' };
}

function deltaEntry(version: number, snapshot: number, id = 'b'.repeat(16)): VerifiedEntry {
  const nothing = { put: [], remove: [] };
  const entry: Delta = {
    kind: 'delta',
    format: SNAPSHOT_FORMAT,
    environment: 'production',
    from: version - 1,
    version,
    since: { snapshot, deltas: version - snapshot, bytes: 100 },
    services: nothing,
    routes: nothing,
    tokens: nothing,
  };
  return { entry, id, keyId: 'k1' };
}

const settled: PublicationState = {
  pendingChanges: 0,
  configVersion: 7,
  servedVersion: 0,
  objectExists: true,
  isCompiledAlike: true,
  pointer: pointerAt(7),
  tail: snapshotEntry(7),
  requiredKeyId: undefined,
};

/** Published states of version 7 from which a delta can continue. */
const whole: [string, Partial<PublicationState>][] = [
  ['a snapshot', {}],
  ['what data planes serve', { servedVersion: 7 }],
  ['a snapshot and deltas', { pointer: pointerAt(4), tail: deltaEntry(7, 4) }],
  [
    'deltas that a snapshot repeats',
    { pointer: pointerAt(7, 'b'.repeat(16)), tail: deltaEntry(7, 4) },
  ],
  [
    'deltas that a snapshot repeats up to one before',
    { pointer: pointerAt(6, 'c'.repeat(16)), tail: deltaEntry(7, 4) },
  ],
];

describe('the decision to publish', () => {
  it.each(whole)('publishes nothing if %s is stored, and a change as a delta', (_as, state) => {
    const now = { ...settled, ...state };
    expect(decidePublication(now)).toEqual({ publish: false });
    expect(decidePublication({ ...now, requiredKeyId: 'k1' })).toEqual({ publish: false });
    expect(decidePublication({ ...now, pendingChanges: 2 })).toEqual({
      publish: true,
      form: 'delta',
      why: 'changed',
      version: 8,
    });
  });

  it.each<[string, Partial<PublicationState>, string, number]>([
    ['the pointer is missing or does not verify', { pointer: undefined }, 'pointer_missing', 8],
    [
      'nothing was ever published',
      { pointer: undefined, tail: undefined, configVersion: 0 },
      'pointer_missing',
      1,
    ],
    ['the log is empty, or ends with what does not verify', { tail: undefined }, 'log_missing', 8],
    ['the store came back older than Postgres', { configVersion: 9 }, 'version_differs', 10],
    ['Postgres came back older than the store', { configVersion: 3 }, 'version_differs', 8],
    ['the pointer was moved without an entry', { pointer: pointerAt(8) }, 'version_differs', 9],
    [
      'the pointer was moved to the version of the last delta without one',
      { pointer: pointerAt(7), tail: deltaEntry(7, 4) },
      'version_differs',
      8,
    ],
    [
      'a snapshot repeats another line of deltas',
      { pointer: pointerAt(7, 'd'.repeat(16)), tail: deltaEntry(7, 4) },
      'version_differs',
      8,
    ],
    [
      'the snapshot that the deltas began with is gone',
      { pointer: pointerAt(3), tail: deltaEntry(7, 4) },
      'version_differs',
      8,
    ],
    ['both came back older than a data plane', { servedVersion: 42 }, 'newer_version_served', 43],
    [
      'nothing is stored, and a data plane has a version',
      { pointer: undefined, tail: undefined, configVersion: 0, servedVersion: 42 },
      'pointer_missing',
      43,
    ],
    ['the object is gone', { objectExists: false }, 'object_missing', 8],
    ['the signing key was replaced', { requiredKeyId: 'k2' }, 'key_replaced', 8],
    ['an older version compiled it', { isCompiledAlike: false }, 'compiled_otherwise', 8],
  ])('publishes a snapshot under a new version if %s', (_case, change, why, version) => {
    const state = { ...settled, ...change };
    const form = 'snapshot';
    expect(decidePublication(state)).toEqual({ publish: true, form, why, version });
    const changed = { publish: true, form, why: 'changed', version };
    expect(decidePublication({ ...state, pendingChanges: 1 })).toEqual(changed);
  });
});
