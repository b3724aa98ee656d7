import { readFileSync, writeFileSync } from 'node:fs';
import { fieldPages } from './field-pages.ts';
import { withFieldTables } from './field-tables.ts';

for (const page of fieldPages()) writeFileSync(page, withFieldTables(readFileSync(page, 'utf8')));
