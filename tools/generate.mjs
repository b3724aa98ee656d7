// `npm run generate`: writes every file that is made from the sources and committed, and the types of the client.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runForeground } from './foreground.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
/** In this order: what the client has is made from the OpenAPI document. */
const WRITERS = [
  'migrations/write-index.ts',
  'packages/control-plane/src/commands/write-openapi.ts',
  'packages/client/build/write-types.ts',
  'packages/client/test/write-form-fields.ts',
  'packages/client/test/write-field-tables.ts',
  'packages/cli/test/write-command-pages.ts',
  'packages/shared/src/errors/write-failure-modes.ts',
  'e2e/operations/log-events/write-logs-page.ts',
  'deploy/grafana/write-dashboards.ts',
];

for (const writer of WRITERS) {
  const { code } = await runForeground(process.execPath, [writer], { cwd: root, stdin: 'ignore' });
  if (code !== 0) process.exit(code ?? 1);
}
