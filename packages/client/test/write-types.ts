import { writeFileSync } from 'node:fs';
import { generateTypes } from './generate-types.ts';

writeFileSync(new URL('../src/generated/api.ts', import.meta.url), await generateTypes());
