// `npm run pack`: writes the npm packages of gwctl and of the typed client into this folder, and prints their names.
import { NPM_PACKAGES, packNpmPackage } from './npm-packages.ts';

for (const name of NPM_PACKAGES) {
  process.stdout.write(`${await packNpmPackage(name, process.cwd())}\n`);
}
