// `npm run audit`: asks the registry for known vulnerabilities of every package in the lockfile. It is not part of CI, because its
// answer changes without a change of the repository, and some mirrors do not support it (ERR_PNPM_AUDIT_BAD_RESPONSE).
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { runPnpm } from './pnpm.mjs';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '..');
const ended = await runPnpm(root, ['audit', ...process.argv.slice(2)]);
process.exitCode = ended.code ?? 1;
