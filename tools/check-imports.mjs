// Checks the import rules of .dependency-cruiser.cjs, and that no folder imports another in a circle. A folder and one within it may
// import each other: the inner one is part of the outer one's subject. The rule of dependency-cruiser itself counts an import of
// an inner folder for all outer ones, so that the endpoints of one subject could not use the rules of another that uses
// its statements.
import { createRequire } from 'node:module';
import path from 'node:path';
import { cruise } from 'dependency-cruiser';

const ruleSet = createRequire(import.meta.url)('../.dependency-cruiser.cjs');
// A test beside its subject imports what tests share, which imports the subject's folder.
const isTest = (file) => file.endsWith('.test.ts');

/** For each folder the folders that its files import, each with one of these imports. */
function importsOf(modules) {
  const folders = new Map();
  for (const { source, dependencies } of modules.filter((one) => !isTest(one.source))) {
    const from = path.dirname(source);
    const imported = folders.get(from) ?? new Map();
    folders.set(from, imported);
    for (const { resolved } of dependencies) {
      const to = path.dirname(resolved);
      const isWithin = `${from}/`.startsWith(`${to}/`) || `${to}/`.startsWith(`${from}/`);
      if (!isWithin && !isTest(resolved) && !resolved.includes('node_modules/')) {
        imported.set(to, `${source} → ${resolved}`);
      }
    }
  }
  return folders;
}

/** The imports of one circle; undefined if there is none. */
function findCircle(folders) {
  const done = new Set();
  const way = [];
  const visit = (folder) => {
    const at = way.indexOf(folder);
    if (at >= 0) return [...way.slice(at), folder];
    if (done.has(folder)) return undefined;
    way.push(folder);
    for (const next of folders.get(folder)?.keys() ?? []) {
      const circle = visit(next);
      if (circle !== undefined) return circle;
    }
    way.pop();
    done.add(folder);
    return undefined;
  };
  for (const folder of folders.keys()) {
    const circle = visit(folder);
    if (circle !== undefined) {
      return circle.slice(1).map((to, index) => folders.get(circle[index])?.get(to));
    }
  }
  return undefined;
}

const { output } = await cruise(process.argv.slice(2), { ruleSet, validate: true });
const lines = output.summary.violations.map(
  ({ rule, from, to, cycle = [{ name: to }] }) =>
    `${rule.name}: ${[from, ...cycle.map(({ name }) => name)].join(' → ')}`,
);
const circle = findCircle(importsOf(output.modules));
if (circle !== undefined) {
  lines.push(`Folders import each other in a circle:\n  ${circle.join('\n  ')}`);
}
for (const line of lines) process.stderr.write(`${line}\n`);
if (lines.length > 0) process.exitCode = 1;
