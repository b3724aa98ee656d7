import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { CONTROL_PLANE_NODE_ARGS, DATA_PLANE_NODE_ARGS } from './planes.ts';

const OPERATIONS = new URL('../../../../docs/run/processes.md', import.meta.url);

test.each([
  ['a control plane', CONTROL_PLANE_NODE_ARGS, 'control-plane'],
  ['a data plane', DATA_PLANE_NODE_ARGS, 'data-plane'],
])('%s is started with the documented options', async (_what, nodeArgs, folder) => {
  const page = await readFile(OPERATIONS, 'utf8');
  expect(page).toContain(`\`node ${nodeArgs.join(' ')} packages/${folder}/dist/main.mjs\``);
});
