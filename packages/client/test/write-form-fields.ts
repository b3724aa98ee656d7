import { writeFileSync } from 'node:fs';
import { formFields } from './form-fields.ts';

const text = JSON.stringify(formFields(), null, 2);
writeFileSync(new URL('../src/form-fields.json', import.meta.url), `${text}\n`);
