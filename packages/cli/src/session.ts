import { createClient, type GatewayClient } from '@gateway/client';
import type { Command } from 'commander';
import { selectContext } from './contexts/select-context.ts';
import { listText, resourceText, type Output } from './output/print.ts';
import type { Column } from './output/table.ts';
import type { Terminal } from './terminal/terminal.ts';
import { UsageError } from './program/exit-codes.ts';
import { globalsOf } from './program/global-options.ts';
import { waitingClient } from './waiting-client.ts';

/** A command that runs: the API, what its options say, and how it prints. */
export interface Session {
  readonly terminal: Terminal;
  readonly client: GatewayClient;
  /** The base URL of the gateway. */
  readonly url: string;
  readonly output: Output;
  /** The environment of `--environment`, or of the context. */
  readonly environment: string | undefined;
  /** @throws UsageError if no environment is named */
  requireEnvironment(): string;
  printResource(resource: unknown): void;
  /** @param resource undefined: the token may change the resource, but not read it */
  printChanged(resource: unknown): void;
  printList<Item>(items: readonly Item[], columns: readonly Column<Item>[]): void;
  /** A remark for people, on stderr: stdout has data only. */
  note(text: string): void;
}

/** What a command says of a change that its token may not see. */
export const UNSEEN = 'Done. The token has no scope to read what was changed.';

/** What each command is made with. */
export interface Cli {
  readonly terminal: Terminal;
  /** Reads the options of a command, and selects the gateway. A call takes at most 30 s, or `timeoutMs`. */
  open(command: Command, options?: { readonly timeoutMs: number }): Session;
}

export const VERSION = '0.2.0';
export const USER_AGENT = `gwctl/${VERSION}`;

/** How long a call may take, with its retries. */
const CALL_TIMEOUT_MS = 30_000;

/** @param terminal of the process */
export function createCli(terminal: Terminal): Cli {
  return {
    terminal,
    open(command, { timeoutMs } = { timeoutMs: CALL_TIMEOUT_MS }) {
      const { output, context: named, environment: given } = globalsOf(command);
      const { url, token, environment: usual } = selectContext({ env: terminal.env, named });
      const environment = given ?? usual;
      return {
        terminal,
        url,
        client: waitingClient(
          createClient({ baseUrl: url, token, userAgent: USER_AGENT, timeoutMs }),
          terminal,
          `Waiting for ${url}`,
        ),
        output,
        environment,
        requireEnvironment() {
          if (environment !== undefined) return environment;
          throw new UsageError('name the environment with --environment');
        },
        printResource: (resource) => terminal.out(resourceText(resource, output)),
        printChanged: (resource) => {
          if (resource === undefined) terminal.error(`${UNSEEN}\n`);
          else terminal.out(resourceText(resource, output));
        },
        printList: (items, columns) => terminal.out(listText(items, output, columns)),
        note: (text) => terminal.error(`${text}\n`),
      };
    },
  };
}
