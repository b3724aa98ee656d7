import { writeFileSync } from 'node:fs';
import { describeApi } from './describe-api.ts';

writeFileSync(
  new URL('../../../client/openapi.json', import.meta.url),
  `${JSON.stringify(describeApi(), null, 2)}\n`,
);
