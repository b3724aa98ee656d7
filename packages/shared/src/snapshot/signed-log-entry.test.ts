import { randomBytes } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { MasterKey } from '../config/master-keys.ts';
import { SnapshotRefusedError } from './signed-snapshot.ts';
import { openLogEntry, sealLogEntry } from './signed-log-entry.ts';
import type { Delta } from './log-schema.ts';
import { SNAPSHOT_FORMAT } from './schema.ts';

const key = (id: string): MasterKey => ({ id, bytes: randomBytes(32) });
const older = key('k1');
const newer = key('k2');

const delta: Delta = {
  kind: 'delta',
  format: SNAPSHOT_FORMAT,
  environment: 'production',
  from: 7,
  version: 8,
  since: { snapshot: 5, deltas: 3, bytes: 900 },
  services: { put: [], remove: ['svc_1'] },
  routes: { put: [], remove: [] },
  tokens: {
    put: [
      {
        id: 'tok_1',
        secrets: [{ sha256: 'ab', expires_at_ms: null }],
        environments: ['production'],
        routes: ['*'],
        scopes: ['proxy'],
      },
    ],
    remove: [],
  },
};
const sealed = Buffer.from(sealLogEntry(delta, [older]));
const open = (bytes: Uint8Array, keys = [newer, older]) => openLogEntry(bytes, 'production', keys);

describe('a log entry', () => {
  it('is decoded unchanged, with any of the known keys', () => {
    expect(open(sealed)).toMatchObject({ entry: delta, keyId: 'k1' });
  });

  it('has a unique id', () => {
    const other = sealLogEntry({ ...delta, version: 9 }, [older]);
    expect(open(sealed).id).toMatch(/^[0-9a-f]{16}$/);
    expect(open(other).id).not.toBe(open(sealed).id);
    expect(open(sealLogEntry(delta, [newer])).id).not.toBe(open(sealed).id);
  });

  it('is refused if any byte was changed, added or removed', () => {
    fc.assert(
      fc.property(
        fc.nat(sealed.length - 1),
        fc.integer({ min: 1, max: 255 }),
        fc.constantFrom('change', 'cut', 'drop', 'add'),
        (at, by, how) => {
          const changed = Buffer.from(sealed);
          changed[at] = (changed[at] ?? 0) ^ by;
          const forms = {
            change: changed,
            cut: sealed.subarray(0, at),
            drop: Buffer.concat([sealed.subarray(0, at), sealed.subarray(at + 1)]),
            add: Buffer.concat([sealed, Buffer.from([by])]),
          };
          expect(() => open(forms[how])).toThrow(SnapshotRefusedError);
        },
      ),
    );
  });

  it('is refused if its key is unknown, or it belongs to another environment', () => {
    expect(() => open(sealed, [newer])).toThrow('signed with the key k1');
    expect(() => open(sealed, [key('k1')])).toThrow('the signature of the log entry is wrong');
    expect(() => openLogEntry(sealed, 'development', [older])).toThrow('another environment');
  });

  it.each<[string, object, string]>([
    ['an unknown format', { format: 99 }, 'invalid log entry: format must be 1, not 99'],
    ['an unknown kind', { kind: 'diff' }, 'invalid log entry: kind '],
    ['a version that is not newer', { from: 8 }, 'invalid log entry: from must be less than'],
  ])('is refused with %s', (_what, change, message) => {
    const strange = sealLogEntry({ ...delta, ...change }, [older]);
    expect(() => open(strange)).toThrow(message);
  });
});
