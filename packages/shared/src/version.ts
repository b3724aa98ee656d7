import { readFileSync } from 'node:fs';
import { z } from 'zod';

const manifest: unknown = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

/** The version of the gateway that this process runs, as in its package manifest. */
export const GATEWAY_VERSION = z.object({ version: z.string() }).parse(manifest).version;
