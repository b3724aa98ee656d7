import { Command } from 'commander';
import { UsageError } from '../../program/exit-codes.ts';
import type { Cli } from '../../session.ts';
import { consolePath, PAGES } from './console-path.ts';

interface Options {
  readonly print?: true;
}

/** `gwctl open` */
export const openCommand = (cli: Cli): Command =>
  new Command('open')
    .usage('[options] [page | kind name | id]')
    .description(
      'Opens the console in a browser, at a page, a resource or a request. In a pipe, with --print, and where there is ' +
        'no browser, it prints the URL.',
    )
    .argument('[what]', `a page (${PAGES.join(', ')}), a kind such as route, or an id`)
    .argument('[name]', 'after a kind: the name or id of the resource')
    .option('--print', 'print the URL and open nothing')
    .addHelpText('after', EXAMPLES)
    .action(
      async (
        what: string | undefined,
        name: string | undefined,
        options: Options,
        command: Command,
      ) => {
        const session = cli.open(command);
        const { terminal, environment, url, printsData } = session;
        if (printsData) throw new UsageError('open prints a URL only; leave -o out');
        const path = await consolePath(session, what, name);
        const target = new URL(`${url}/console/${path}`);
        if (environment !== undefined) target.searchParams.set('environment', environment);
        const isOpened =
          !options.print && terminal.stdoutIsTerminal && (await terminal.browse(target.href));
        if (isOpened) session.note(`Opened ${target.href}`);
        else terminal.out(`${target.href}\n`);
      },
    );

const EXAMPLES = `
Examples:
  $ gwctl open
  $ gwctl open route charges
  $ gwctl open req_01kb5zv4x8n3m6q9r2t7w0y1z4
  $ gwctl open requests --print`;
