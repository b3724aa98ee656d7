import type { Command } from 'commander';
import type { Cli } from './session.ts';

/** A command of the first level. Its module is loaded only when the command line names it. */
export interface CommandEntry {
  readonly name: string;
  /** Such as the singular of a kind of resource. Help shows the first. */
  readonly aliases?: readonly string[];
  /** For programs: no help shows it. */
  readonly isHidden?: true;
  /** A line of the help of gwctl. */
  readonly summary: string;
  /** @param inner the command within it that the command line names; undefined: all of them are needed */
  readonly load: (inner: string | undefined) => Promise<(cli: Cli) => Command>;
}

/** The commands under the heading of their page in the documentation. */
export const COMMANDS: Readonly<Record<string, readonly CommandEntry[]>> = {
  'Set up': [
    {
      name: 'login',
      summary: 'Keep the URL and the token of a gateway as a context.',
      load: async () => (await import('./commands/setup/login.ts')).loginCommand,
    },
    {
      name: 'whoami',
      summary: 'Show the gateway and the token of the context, and what it may do.',
      load: async () => (await import('./commands/setup/whoami.ts')).whoamiCommand,
    },
    {
      name: 'contexts',
      aliases: ['context'],
      summary: 'List, select and delete contexts.',
      load: async () => (await import('./commands/setup/contexts.ts')).contextsCommand,
    },
    {
      name: 'completion',
      summary: 'Print a script that completes commands in a shell.',
      load: async () => (await import('./commands/setup/completion.ts')).completionCommand,
    },
    {
      name: '__names',
      isHidden: true,
      summary: 'Print names for completion.',
      load: async () => (await import('./commands/setup/names.ts')).namesCommand,
    },
  ],
  Configuration: [
    {
      name: 'apply',
      summary: 'Make services and routes as files declare them.',
      load: async () => (await import('./commands/configuration/apply.ts')).applyCommand,
    },
    {
      name: 'diff',
      summary: 'Show what an apply of files would change.',
      load: async () => (await import('./commands/configuration/diff.ts')).diffCommand,
    },
    {
      name: 'export',
      summary: 'Write the services and routes of an environment as a file.',
      load: async () => (await import('./commands/configuration/export.ts')).exportCommand,
    },
    {
      name: 'validate',
      summary: 'Check files of services and routes without a gateway.',
      load: async () => (await import('./commands/configuration/validate.ts')).validateCommand,
    },
    {
      name: 'convert',
      summary: 'Make a file for apply of a configuration of Kong, nginx or APISIX.',
      load: async () => (await import('./commands/configuration/convert.ts')).convertCommand,
    },
  ],
  Services: [
    {
      name: 'services',
      aliases: ['service'],
      summary: 'List, show, create, change, delete and test services, and show their health.',
      load: async (inner) => (await import('./commands/services/services.ts')).loadServices(inner),
    },
  ],
  Routes: [
    {
      name: 'routes',
      aliases: ['route'],
      summary: 'List, show, create, change and delete routes.',
      load: async (inner) => (await import('./commands/routes/routes.ts')).loadRoutes(inner),
    },
  ],
  Tokens: [
    {
      name: 'tokens',
      aliases: ['token'],
      summary: 'List, show, create, change, rotate and revoke tokens.',
      load: async () => (await import('./commands/tokens/tokens.ts')).tokensCommand,
    },
  ],
  Environments: [
    {
      name: 'environments',
      aliases: ['environment', 'env'],
      summary: 'List, show, create and delete environments.',
      load: async () =>
        (await import('./commands/environments/environments.ts')).environmentsCommand,
    },
  ],
  Operate: [
    {
      name: 'status',
      summary:
        'Show the gateway, the token, the environment and the data planes, and what needs a look.',
      load: async () => (await import('./commands/status/status.ts')).statusCommand,
    },
    {
      name: 'data-planes',
      // The second one is a former name.
      aliases: ['data-plane', 'nodes'],
      summary: 'List the data planes and what they run.',
      load: async () => (await import('./commands/operate/data-planes.ts')).dataPlanesCommand,
    },
    {
      name: 'versions',
      aliases: ['version'],
      summary: 'List, show and compare the versions of a configuration.',
      load: async () => (await import('./commands/versions/versions.ts')).versionsCommand,
    },
    {
      name: 'rollback',
      summary: 'Restore a version of the configuration of an environment.',
      load: async () => (await import('./commands/versions/rollback.ts')).rollbackCommand,
    },
    {
      name: 'audit',
      summary: 'List who changed what, newest first.',
      load: async () => (await import('./commands/operate/audit.ts')).auditCommand,
    },
    {
      name: 'revert',
      summary: 'Revert a single change of a service or a route.',
      load: async () => (await import('./commands/operate/revert.ts')).revertCommand,
    },
    {
      name: 'open',
      summary: 'Open the console at a page, a resource or a request.',
      load: async () => (await import('./commands/open/open.ts')).openCommand,
    },
    {
      name: 'api',
      summary: 'Make any call of the management API.',
      load: async () => (await import('./commands/api/api.ts')).apiCommand,
    },
  ],
  Requests: [
    {
      name: 'requests',
      aliases: ['request'],
      summary: 'List and follow requests, and show what happened to one.',
      load: async () => (await import('./commands/requests/requests.ts')).requestsCommand,
    },
    {
      name: 'explain',
      summary: 'Show what would happen to a request, and why.',
      load: async () => (await import('./commands/explain/explain.ts')).explainCommand,
    },
    {
      name: 'callers',
      aliases: ['caller'],
      summary: 'List who sends requests, whose requests fail, and who is near a quota.',
      load: async () => (await import('./commands/callers/callers.ts')).callersCommand,
    },
    {
      name: 'stats',
      summary: 'Count requests and errors, and show how long requests took.',
      load: async () => (await import('./commands/stats/stats.ts')).statsCommand,
    },
  ],
};
