import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dashboardFiles, FOLDER } from './dashboard-files.ts';

const files = dashboardFiles();
for (const name of readdirSync(FOLDER)) if (!files.has(name)) rmSync(new URL(name, FOLDER));
for (const [name, text] of files) writeFileSync(new URL(name, FOLDER), text);
