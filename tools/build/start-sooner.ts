import { createRequire, isBuiltin } from 'node:module';
import type { Plugin } from 'rolldown';

const require = createRequire(import.meta.url);

const PREFIX = '\0builtin:';

/**
 * Makes a program of a command line start with half of the CPU time. An `import` of a module of Node reads all of its
 * exports, and with them getters that load others: that of `node:fs` loads streams and readline, that of `node:util` workers.
 * Here only the exports that the program names are read. commander loads `node:child_process` for commands that are
 * programs of their own; it gets nothing in its place.
 *
 * `process.getBuiltinModule` needs Node 20.16 or newer.
 */
export function startSooner(): Plugin {
  return {
    name: 'start-sooner',
    resolveId(id, importer, { kind }) {
      if (kind !== 'import-statement' || !isBuiltin(id)) return undefined;
      const isUnused = id === 'node:child_process' && importer?.includes('/commander/');
      return PREFIX + (isUnused ? '' : id);
    },
    load(id) {
      if (!id.startsWith(PREFIX)) return undefined;
      const name = id.slice(PREFIX.length);
      return name === '' ? 'export default {};' : moduleOf(name);
    },
  };
}

/** The bundler leaves out what nothing uses, because each export is marked as pure. */
function moduleOf(name: string): string {
  const exported = Object.keys(require(name) as object).filter((one) => /^[A-Za-z_]\w*$/.test(one));
  const lines = exported
    .filter((one) => one !== 'default')
    .map((one) => `export const ${one} = /* @__PURE__ */ (() => builtin.${one})();`);
  return [
    `const builtin = /* @__PURE__ */ process.getBuiltinModule(${JSON.stringify(name)});`,
    'export default builtin;',
    ...lines,
  ].join('\n');
}
