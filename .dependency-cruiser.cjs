const { existsSync } = require('node:fs');
const path = require('node:path');

/** The import rules of docs/contribute/layout.md. Each name says the rule that a finding breaks. */
const planes = '^packages/(control-plane|data-plane)/';
/**
 * The rooms of the two planes. The files beside main.ts are the composition root, and so are the commands and run-workers.ts
 * for the primary process of a group of workers.
 */
const rooms = '^packages/(control-plane|data-plane)/src/(?!workers/run-workers|commands/)[^/]+/';

/** Modules that open a connection, a port, a file or a subscription. The composition root passes them on. */
const adapters = [
  'packages/shared/src/messaging/connection.ts',
  'packages/shared/src/telemetry/admin-server.ts',
  'packages/shared/src/tls/open-certificate.ts',
  'packages/control-plane/src/store/database.ts',
  'packages/control-plane/src/store/migrate.ts',
  'packages/control-plane/src/store/probe.ts',
  'packages/control-plane/src/publish/store/publisher-session.ts',
  'packages/control-plane/src/publish/nats-snapshot-store.ts',
  'packages/control-plane/src/requests/ingest/record-ingest.ts',
  'packages/control-plane/src/data-planes/heartbeat-watch.ts',
  'packages/control-plane/src/data-planes/nats-ask.ts',
  'packages/control-plane/src/http/server.ts',
  'packages/control-plane/src/hosts/resolve-names.ts',
  'packages/data-plane/src/nats/nats-link.ts',
  'packages/data-plane/src/idempotency/store/nats-store.ts',
  'packages/data-plane/src/quota/ledger/kv-ledger.ts',
  'packages/data-plane/src/quota/fleet/kv-fleet-store.ts',
  'packages/data-plane/src/access/jwt/fetch-key-set.ts',
  'packages/data-plane/src/configuration/last-good.ts',
  'packages/data-plane/src/records/record-stream.ts',
  'packages/data-plane/src/heartbeats/heartbeats.ts',
  'packages/data-plane/src/listener/listener.ts',
  'packages/data-plane/src/upstream/open-upstreams.ts',
  'packages/data-plane/src/upstream/health/check-upstream.ts',
];
/** Where the client of NATS may be used; other rooms get ports. */
const natsAdapters = [
  'packages/control-plane/src/publish/nats-snapshot-store.ts',
  'packages/control-plane/src/requests/ingest/record-ingest.ts',
  'packages/control-plane/src/data-planes/heartbeat-watch.ts',
  'packages/control-plane/src/data-planes/nats-ask.ts',
  'packages/data-plane/src/nats/',
  'packages/data-plane/src/heartbeats/heartbeats.ts',
];

/** The pattern of these paths. A rule about a file that was moved would pass without checking anything. */
function existing(paths) {
  for (const one of paths) {
    if (!existsSync(path.join(__dirname, one)))
      throw new Error(`import rules: ${one} does not exist`);
  }
  return `^(${paths.map((one) => one.replaceAll('.', '\\.')).join('|')})`;
}

module.exports = {
  forbidden: [
    { name: 'no-cycles', severity: 'error', from: {}, to: { circular: true } },
    {
      name: 'shared-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/shared/' },
      to: { path: '^(packages/(?!shared/)|migrations/|e2e/|bench/|deploy/|tools/)' },
    },
    {
      name: 'http-imports-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/http/', pathNot: '\\.test\\.ts$|^packages/http/test/' },
      to: { path: '^(packages/(?!http/)|migrations/|e2e/|bench/)' },
    },
    {
      name: 'tests-of-http-import-only-what-tests-share',
      severity: 'error',
      from: { path: '^packages/http/(.+\\.test\\.ts$|test/)' },
      to: {
        path: '^(packages/(?!http/)|migrations/|e2e/|bench/)',
        pathNot: '^packages/shared/(test/|src/clock\\.ts$)',
      },
    },
    {
      // It also runs in browsers.
      name: 'the-client-sees-only-the-management-api',
      severity: 'error',
      from: { path: '^packages/client/src/', pathNot: '\\.test\\.ts$' },
      to: { pathNot: '^packages/client/src/|node_modules/openapi-(fetch|typescript-helpers)/' },
    },
    {
      name: 'the-cli-sees-only-the-client',
      severity: 'error',
      from: { path: '^packages/cli/src/', pathNot: '\\.test\\.ts$' },
      to: {
        // What a template of a link is, as the console fills it, and which names are similar, as the API says it.
        path: '^(packages/(?!cli/src/|client/src/|shared/src/(links|similar)/)|migrations/|e2e/|bench/)|node_modules/openapi-fetch/',
        // The definitions by which apply checks files: they do no I/O, and `gwctl validate` has the same.
        pathNot: '^packages/control-plane/src/configuration/document-faults\\.ts$',
      },
    },
    {
      name: 'the-console-sees-only-the-client',
      severity: 'error',
      from: { path: '^packages/console/src/', pathNot: '\\.test\\.ts$' },
      to: {
        // Rules that the API applies too: what a template of a link is, and when a token is unused.
        path: '^(packages/(?!console/(src/|package\\.json)|client/src/|shared/src/(links/|tokens/token-states))|migrations/|e2e/|bench/)|node_modules/openapi-fetch/',
      },
    },
    {
      name: 'nothing-imports-the-console',
      severity: 'error',
      from: { pathNot: '^packages/console/' },
      // Its design is that of the documentation too.
      to: {
        path: '^packages/console/',
        pathNot: '^packages/console/src/design/(colors|variables)\\.ts$',
      },
    },
    {
      name: 'the-pages-of-the-documentation-import-nothing-of-ours',
      severity: 'error',
      from: { path: '^packages/docs-site/src/', pathNot: '\\.test\\.ts$' },
      to: { path: '^(packages/(?!docs-site/src/)|migrations/|e2e/|bench/|deploy/|tools/)' },
    },
    {
      name: 'nothing-imports-the-documentation',
      severity: 'error',
      from: { pathNot: '^packages/docs-site/' },
      to: { path: '^packages/docs-site/' },
    },
    {
      name: 'the-planes-never-import-each-other',
      severity: 'error',
      from: { path: planes },
      to: { path: planes, pathNot: '^packages/$1/' },
    },
    {
      name: 'no-plane-imports-the-local-stack',
      severity: 'error',
      from: { path: planes, pathNot: '\\.test\\.ts$|/test/' },
      to: { path: '^(packages/(local-stack|testing)|tools)/' },
    },
    {
      name: 'only-store-and-migrations-know-sql',
      severity: 'error',
      from: {
        path: '^packages/(?!(local-stack|testing)/)',
        pathNot: '^packages/control-plane/src/(store|.+/store)/|/test/|\\.test\\.ts$',
      },
      to: { path: 'node_modules/(pg|kysely)/' },
    },
    {
      name: 'a-stage-imports-no-other-stage',
      severity: 'error',
      from: { path: '^packages/data-plane/src/.+-stage\\.ts$' },
      to: { path: '^packages/data-plane/src/.+-stage\\.ts$' },
    },
    {
      name: 'a-stage-does-no-io',
      severity: 'error',
      from: { path: '^packages/data-plane/src/.+-stage\\.ts$' },
      to: {
        path: '^(node:)?(net|http|https|tls|fs|dgram|dns)(/|$)|node_modules/(undici|http-proxy|@nats-io)/',
        dependencyTypesNot: ['type-only'],
      },
    },
    {
      name: 'table-retry-and-selection-are-pure',
      severity: 'error',
      from: {
        path: '^packages/data-plane/src/(routing-table/|versions/choose-version|upstream/(decide-retry|select-upstream))',
        pathNot: '\\.test\\.ts$',
      },
      to: {
        dependencyTypesNot: ['type-only'],
        pathNot:
          '^packages/data-plane/src/(routing-table/|versions/choose-version|upstream/(decide-retry|select-upstream))|^packages/shared/src/|^(node:)?crypto$',
      },
    },
    {
      name: 'only-main-builds-adapters',
      severity: 'error',
      from: { path: rooms, pathNot: '\\.test\\.ts$|/test/' },
      to: { path: existing(adapters), dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'only-adapters-import-the-nats-client',
      severity: 'error',
      from: {
        path: rooms,
        pathNot: `${existing(natsAdapters)}|\\.test\\.ts$|/test/`,
      },
      to: { path: '(^|node_modules/)@nats-io/', dependencyTypesNot: ['type-only'] },
    },
    {
      name: 'nothing-imports-main',
      severity: 'error',
      from: {},
      to: { path: '^packages/[^/]+/src/main\\.ts$' },
    },
    {
      name: 'production-code-imports-no-test-code',
      severity: 'error',
      from: {
        path: '^packages/(shared|http|control-plane|data-plane|client|cli|console)/src/',
        pathNot: '\\.test\\.ts$|/test/',
      },
      to: { path: '\\.test\\.ts$|/test/' },
    },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.gateway/|^packages/[^/]+/dist/' },
    // What an import is must be written at it (`verbatimModuleSyntax`), so compiling the files would add nothing to the graph.
    tsPreCompilationDeps: true,
    // Who depends on a module is asked by no rule, and takes most of the time.
    skipAnalysisNotInRules: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'default'],
      extensions: ['.ts', '.tsx', '.js', '.mjs'],
    },
  },
};
