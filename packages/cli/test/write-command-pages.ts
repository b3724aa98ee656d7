import { mkdirSync, writeFileSync } from 'node:fs';
import { commandPages } from './command-pages.ts';

const folder = new URL('../../../docs/use/gwctl/', import.meta.url);
mkdirSync(folder, { recursive: true });
for (const [file, text] of await commandPages()) writeFileSync(new URL(file, folder), text);
