import { Command } from 'commander';
import { applyCommand } from './commands/configuration/apply.ts';
import { convertCommand } from './commands/configuration/convert.ts';
import { diffCommand } from './commands/configuration/diff.ts';
import { exportCommand } from './commands/configuration/export.ts';
import { environmentsCommand } from './commands/environments/environments.ts';
import { explainCommand } from './commands/explain/explain.ts';
import { auditCommand } from './commands/operate/audit.ts';
import { dataPlanesCommand } from './commands/operate/data-planes.ts';
import { revertCommand } from './commands/operate/revert.ts';
import { requestsCommand } from './commands/requests/requests.ts';
import { routesCommand } from './commands/routes/routes.ts';
import { servicesCommand } from './commands/services/services.ts';
import { completionCommand } from './commands/setup/completion.ts';
import { contextsCommand } from './commands/setup/contexts.ts';
import { loginCommand } from './commands/setup/login.ts';
import { whoamiCommand } from './commands/setup/whoami.ts';
import { statsCommand } from './commands/stats/stats.ts';
import { tokensCommand } from './commands/tokens/tokens.ts';
import { rollbackCommand } from './commands/versions/rollback.ts';
import { versionsCommand } from './commands/versions/versions.ts';
import { withoutSecrets } from './program/describe-error.ts';
import { globalOptions } from './program/global-options.ts';
import { VERSION, type Cli } from './session.ts';

/** The width of help, so that the documentation is the same everywhere. */
const HELP_WIDTH = 100;

/** The commands under the heading of their page in the documentation. */
const groups: Readonly<Record<string, readonly ((cli: Cli) => Command)[]>> = {
  'Set up': [loginCommand, whoamiCommand, contextsCommand, completionCommand],
  Configuration: [applyCommand, diffCommand, exportCommand, convertCommand],
  Services: [servicesCommand],
  Routes: [routesCommand],
  Tokens: [tokensCommand],
  Environments: [environmentsCommand],
  Operate: [dataPlanesCommand, versionsCommand, rollbackCommand, auditCommand, revertCommand],
  Requests: [requestsCommand, explainCommand, statsCommand],
};

/** All commands of gwctl. */
export function createProgram(cli: Cli): Command {
  const { terminal } = cli;
  const program = new Command('gwctl')
    .description('Configures a gateway and shows what it did.')
    .version(VERSION)
    .helpCommand(false)
    .showHelpAfterError('Run the command with --help to see how it is used.')
    .configureHelp({ showGlobalOptions: true, helpWidth: HELP_WIDTH })
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.error(withoutSecrets(text)),
      outputError: (text, write) => write(text.replace(/^error: /, 'gwctl: ')),
    })
    .exitOverride()
    .addHelpText('after', EXIT_CODES);
  for (const option of globalOptions()) program.addOption(option);
  for (const [heading, commands] of Object.entries(groups)) {
    for (const create of commands) program.addCommand(create(cli).helpGroup(`${heading}:`));
  }
  inherit(program);
  return program;
}

/** Commands that were made on their own do not have the settings of the program yet. */
function inherit(parent: Command): void {
  for (const command of parent.commands) {
    command.copyInheritedSettings(parent);
    inherit(command);
  }
}

const EXIT_CODES = `
Environment variables:
  GATEWAY_URL, GATEWAY_TOKEN  the gateway and the token, instead of the current context
  XDG_CONFIG_HOME             where contexts are kept (default: ~/.config)
  NO_COLOR                    no colours

Exit codes:
  0 done, 1 failed, 2 there is a difference (--exit-code, convert), 3 wrong usage, 4 not allowed,
  5 the gateway is unreachable, 130 interrupted`;
