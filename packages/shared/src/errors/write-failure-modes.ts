import { writeFileSync } from 'node:fs';
import { failureModesDocument } from './failure-modes.ts';

writeFileSync(
  new URL('../../../../docs/use/failure-modes.md', import.meta.url),
  failureModesDocument(),
);
