import { createClient } from '@gateway/client';
import { Argument, Command } from 'commander';
import { parseBaseUrl } from '../../contexts/base-url.ts';
import { contextFilePath, readContexts, writeContexts } from '../../contexts/context-file.ts';
import { UsageError } from '../../program/exit-codes.ts';
import { globalsOf } from '../../program/global-options.ts';
import { USER_AGENT, type Cli } from '../../session.ts';

const MAX_TOKEN_BYTES = 4096;

interface Options {
  readonly url?: string;
}

/** `gwctl login`: checks a token and keeps it. */
export const loginCommand = (cli: Cli): Command =>
  new Command('login')
    .description(
      'Keeps the URL and the token of a gateway as a context, and makes it the current one. The token is read ' +
        'from a prompt that does not show it, or from stdin; it is never an argument. It is checked first, and ' +
        'kept in $XDG_CONFIG_HOME/gwctl/contexts.json with mode 0600. --environment is kept as the default.',
    )
    .addArgument(new Argument('[name]', 'the name of the context').default('default'))
    .option('--url <url>', 'the base URL of the gateway (default: GATEWAY_URL)')
    .addHelpText(
      'after',
      '\nExample:\n  $ gwctl login staging --url https://gateway.example --environment staging < token.txt',
    )
    .action(async (name: string, { url: given }: Options, command: Command) => {
      const { terminal } = cli;
      const url = parseBaseUrl(given ?? terminal.env['GATEWAY_URL'] ?? '', '--url');
      // A file that cannot be used is found before somebody types a token.
      const file = readContexts(terminal.env);
      const entered = terminal.stdinIsTerminal
        ? await terminal.readSecret(`Token for ${url}: `)
        : await terminal.readInput(MAX_TOKEN_BYTES);
      const token = entered.trim();
      if (token === '') throw new UsageError('no token was given');
      if (!/^[\x21-\x7e]+$/.test(token)) throw new UsageError('the token must be one word');
      const client = createClient({ baseUrl: url, token, userAgent: USER_AGENT });
      const { body } = await client.get('/v1/whoami');
      const { environment } = globalsOf(command);
      if (environment !== undefined) {
        await client.get('/v1/environments/{name}', { params: { path: { name: environment } } });
      }
      const context = { url, token, ...(environment === undefined ? {} : { environment }) };
      writeContexts(terminal.env, {
        current: name,
        contexts: { ...file.contexts, [name]: context },
      });
      terminal.error(
        `Logged in to ${url} as ${body.data.name}. Context ${name} is kept in ${contextFilePath(terminal.env)}.\n`,
      );
    });
