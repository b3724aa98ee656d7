import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { filesBelow, tracesIn } from './traces.ts';

describe('findTraces', () => {
  const secret = 'mark3r-of-a-secret';

  it('finds a secret in plain text, in hex, and in base64 at any offset', () => {
    const any = fc.uint8Array({ maxLength: 40 });
    fc.assert(
      fc.property(any, any, (before, after) => {
        const whole = Buffer.concat([before, Buffer.from(secret), after]);
        for (const encoding of ['latin1', 'hex', 'base64', 'base64url'] as const) {
          expect(tracesIn(whole.toString(encoding), ['another', secret])).toEqual([1]);
        }
      }),
    );
  });

  it('finds nothing in a text without the secret', () => {
    expect(tracesIn(Buffer.from('mark3r-of-another secret'), [secret])).toEqual([]);
  });
});

describe('filesBelow', () => {
  let folder = '';
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'files-below-'));
  });
  afterEach(() => rm(folder, { recursive: true }));

  it('reads files at any depth, and packed ones unpacked too', async () => {
    const [plain, packed] = [path.join(folder, 'plain'), path.join(folder, 'a/b/packed')];
    await mkdir(path.dirname(packed), { recursive: true });
    await writeFile(plain, 'one');
    await writeFile(packed, Buffer.concat([Buffer.from('head'), gzipSync('two')]));
    const files = await filesBelow(folder);
    expect([...files.keys()].sort()).toEqual([packed, `${packed} (unpacked)`, plain]);
    expect(files.get(`${packed} (unpacked)`)?.toString()).toBe('two');
  });

  it('leaves out what was removed, and fails on what it cannot read', async () => {
    expect((await filesBelow(path.join(folder, 'removed'))).size).toBe(0);
    await writeFile(path.join(folder, 'file'), '');
    await expect(filesBelow(path.join(folder, 'file'))).rejects.toThrow('ENOTDIR');
  });
});
