import { createClient, type ClientOptions, type GatewayClient } from '@gateway/client';
import type { Command } from 'commander';
import { selectContext } from './contexts/select-context.ts';
import { namedReferences } from './lookup/named-references.ts';
import { dataText } from './output/data-text.ts';
import { isData, type Output } from './output/formats.ts';
import { fieldsText, listText } from './output/print.ts';
import type { Column } from './output/table.ts';
import { painted } from './terminal/painted.ts';
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
  /** Whether the output is data for a program; else it is for people. */
  readonly printsData: boolean;
  /** The environment of `--environment`, or of the context. */
  readonly environment: string | undefined;
  /** The context that the environment is the default of; undefined: it was given, or there is none. */
  readonly environmentOfContext: string | undefined;
  /** @throws UsageError if no environment is named */
  requireEnvironment(): string;
  printResource(resource: unknown): Promise<void>;
  /** @param resource undefined: the token may change the resource, but not read it */
  printChanged(resource: unknown): Promise<void>;
  /** @param what such as `routes`: in a terminal a sentence says that there are none */
  printList<Item>(
    items: readonly Item[],
    columns: readonly Column<Item>[],
    what: string,
  ): Promise<void>;
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
  /** Runs the command line again and again, for `--watch`; undefined: it is one of these runs. */
  readonly watch: (() => Promise<void>) | undefined;
}

interface CliOptions {
  readonly watch?: () => Promise<void>;
  /** Aborts calls. */
  readonly signal?: AbortSignal;
}

export const VERSION = '0.2.0';
export const USER_AGENT = `gwctl/${VERSION}`;

/** How long a call may take, with its retries. */
const CALL_TIMEOUT_MS = 30_000;

/** @param processTerminal of the process */
export function createCli(processTerminal: Terminal, { watch, signal }: CliOptions = {}): Cli {
  return {
    terminal: processTerminal,
    watch,
    open(command, { timeoutMs } = { timeoutMs: CALL_TIMEOUT_MS }) {
      const { output, context: named, environment: given, color } = globalsOf(command);
      const terminal = painted(processTerminal, color);
      const { name, url, token, environment: usual } = selectContext({ env: terminal.env, named });
      const environment = given ?? usual;
      const client = waitingClient(
        createClient({
          baseUrl: url,
          token,
          userAgent: USER_AGENT,
          timeoutMs,
          ...(signal === undefined ? {} : { fetch: abortedBy(signal) }),
        }),
        terminal,
        `Waiting for ${url}`,
      );
      const printResource = async (resource: unknown) => {
        if (isData(output)) {
          terminal.out(await dataText(resource, output));
          return;
        }
        const shown = await namedReferences(client, resource, output === 'wide');
        terminal.out(fieldsText(shown, terminal));
      };
      return {
        terminal,
        url,
        client,
        output,
        printsData: isData(output),
        environment,
        environmentOfContext: given === undefined && usual !== undefined ? name : undefined,
        requireEnvironment() {
          if (environment !== undefined) return environment;
          throw new UsageError('name the environment with --environment');
        },
        printResource,
        async printChanged(resource) {
          if (resource === undefined) terminal.error(`${UNSEEN}\n`);
          else await printResource(resource);
        },
        async printList(items, columns, what) {
          if (items.length === 0 && terminal.stdoutIsTerminal && !isData(output)) {
            const where = environment === undefined ? '' : ` in ${environment}`;
            terminal.error(`There are no ${what}${where}.\n`);
            return;
          }
          terminal.out(await listText(items, output, columns, terminal));
        },
        note: (text) => terminal.error(`${text}\n`),
      };
    },
  };
}

/** fetch with a second signal; the first one is the deadline of the call. */
const abortedBy =
  (signal: AbortSignal): NonNullable<ClientOptions['fetch']> =>
  (request, init) =>
    fetch(request, { signal: AbortSignal.any([init.signal, signal]) });
