import { describe, expect, it } from '@jest/globals';
import { decidePublication, type PublicationState } from './decide-publication.ts';

const pointer = {
  environment: 'production',
  version: 7,
  object: 'production.7.ab',
  sha256: '0'.repeat(64),
  key_id: 'k1',
  signature: '0'.repeat(64),
};

const settled: PublicationState = {
  pendingChanges: 0,
  configVersion: 7,
  pointer,
  objectExists: true,
  compiledAlike: true,
  wantedKeyId: undefined,
};

describe('the decision to publish', () => {
  it('leaves alone what is published and whole', () => {
    expect(decidePublication(settled)).toEqual({ publish: false });
    expect(decidePublication({ ...settled, wantedKeyId: 'k1' })).toEqual({ publish: false });
  });

  it.each<[string, Partial<PublicationState>, string, number]>([
    ['a change waits', { pendingChanges: 1 }, 'changed', 8],
    ['the pointer is missing or does not verify', { pointer: undefined }, 'pointer_missing', 8],
    ['nothing was ever published', { pointer: undefined, configVersion: 0 }, 'pointer_missing', 1],
    ['the store came back older than Postgres', { configVersion: 9 }, 'version_differs', 10],
    ['Postgres came back older than the store', { configVersion: 3 }, 'version_differs', 8],
    ['the object is gone', { objectExists: false }, 'object_missing', 8],
    ['the signing key was replaced', { wantedKeyId: 'k2' }, 'key_replaced', 8],
    ['an older version compiled it', { compiledAlike: false }, 'compiled_otherwise', 8],
  ])('publishes under a version never seen where %s', (_case, change, why, version) => {
    expect(decidePublication({ ...settled, ...change })).toEqual({ publish: true, why, version });
  });
});
