import { Command } from 'commander';
import { printable } from '../../output/printable.ts';
import { FailedError, UsageError } from '../../program/exit-codes.ts';
import type { Cli, Session } from '../../session.ts';
import { consolePath, PAGES } from './console-path.ts';
import { isTool, readLinks, TOOLS, toolUrl } from './tool-url.ts';

interface Options {
  readonly print?: true;
}

/** `gwctl open` */
export const openCommand = (cli: Cli): Command =>
  new Command('open')
    .usage('[options] [page | kind name | id | tool name]')
    .description(
      'Opens the console in a browser, at a page, a resource or a request; or another tool that the settings of the gateway ' +
        'name: the trace or the log lines of a request, a dashboard of a route or a service. In a pipe, with --print, and where ' +
        'there is no browser, it prints the URL.',
    )
    .argument(
      '[what]',
      `a page (${PAGES.join(', ')}), a kind such as route, an id, or a tool (${TOOLS.join(', ')})`,
    )
    .argument('[name]', 'the name or id of the resource, the id of the request, or the dashboard')
    .argument('[of]', 'after a dashboard: the name of the route or the service')
    .option('--print', 'print the URL and open nothing')
    .addHelpText('after', EXAMPLES)
    .action(
      async (
        what: string | undefined,
        name: string | undefined,
        of: string | undefined,
        options: Options,
        command: Command,
      ) => {
        const session = cli.open(command);
        const { terminal, printsData } = session;
        if (printsData) throw new UsageError('open prints a URL only; leave -o out');
        if (of !== undefined && what !== 'dashboard') throw new UsageError(`${of} is one too many`);
        const target = isTool(what)
          ? await toolUrl(session, what, name, of)
          : await consoleUrl(session, what, name);
        checkAddress(target);
        const isOpened =
          !options.print && terminal.stdoutIsTerminal && (await terminal.browse(target));
        if (isOpened) session.note(`Opened ${target}`);
        else terminal.out(`${target}\n`);
      },
    );

/** Addresses of other schemes start other programs of this machine, which a gateway must not choose. */
function checkAddress(target: string): void {
  if (/^https?:\/\//i.test(target)) return;
  throw new FailedError(
    `the gateway has a link that is no http or https address: ${printable(target)}`,
  );
}

async function consoleUrl(session: Session, what: string | undefined, name: string | undefined) {
  const { environment, url } = session;
  const [path, links] = await Promise.all([consolePath(session, what, name), readLinks(session)]);
  const target = new URL(`${links?.console ?? `${url}/console`}/${path}`);
  if (environment !== undefined) target.searchParams.set('environment', environment);
  return target.href;
}

const EXAMPLES = `
Examples:
  $ gwctl open
  $ gwctl open route charges
  $ gwctl open req_01kb5zv4x8n3m6q9r2t7w0y1z4
  $ gwctl open requests --print
  $ gwctl open trace req_01kb5zv4x8n3m6q9r2t7w0y1z4
  $ gwctl open dashboard route charges`;
