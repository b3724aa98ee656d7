import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { runOrThrow } from '@gateway/tools/process/run-command';
import { copyTree, root } from '../harness/copied-tree.ts';

const PATCH = path.join(root, 'docs/contribute/add-a-field.patch');
const COPIED = [
  ...['bench', 'deploy', 'docs', 'e2e', 'migrations', 'packages', 'tools'],
  ...['package.json', 'pnpm-lock.yaml', 'tsconfig.base.json', 'tsconfig.json'],
];
/** It builds the planes and the console, and may download the browser. */
const DRIVE_MS = 400_000;
const STEP_MS = 120_000;

/** The steps of docs/contribute/add-a-field.md, in a copy of the tree. */
describe('the field of docs/contribute/add-a-field.patch', () => {
  let copy: string;

  beforeAll(async () => {
    copy = await mkdtemp(path.join(tmpdir(), 'gateway-new-field-'));
    await copyTree(copy, COPIED, ['node_modules']);
    await runOrThrow('git', ['apply', PATCH], { cwd: copy, timeoutMs: STEP_MS });
    await runOrThrow(process.execPath, ['tools/generate.mjs'], { cwd: copy, timeoutMs: STEP_MS });
  }, DRIVE_MS);
  afterAll(() => rm(copy, { recursive: true, force: true }));

  it('is at most six files that are edited by hand', async () => {
    const patch = await readFile(PATCH, 'utf8');
    const files = patch.match(/^diff --git /gm) ?? [];
    expect(files.length).toBeGreaterThan(0);
    expect(files.length).toBeLessThanOrEqual(6);
  });

  it(
    'needs no other edit for the types to fit',
    async () => {
      const compiler = path.join(copy, 'node_modules/typescript/bin/tsc');
      const args = [compiler, '--noEmit', '-p', '.'];
      await runOrThrow(process.execPath, args, { cwd: copy, timeoutMs: DRIVE_MS });
    },
    DRIVE_MS,
  );

  it(
    'is stored, served, exported, documented, and set by the API, gwctl and the console',
    async () => {
      const script = path.join(copy, 'e2e/contribute/drive-new-field.ts');
      await runOrThrow(process.execPath, [script], { cwd: copy, timeoutMs: DRIVE_MS });
    },
    DRIVE_MS,
  );
});
