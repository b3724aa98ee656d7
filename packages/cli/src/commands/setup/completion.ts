import { Argument, Command } from 'commander';
import { completionScript, SHELLS, type Shell } from '../../completion/completion-script.ts';
import type { Cli } from '../../session.ts';

/** `gwctl completion` */
export const completionCommand = ({ terminal }: Cli): Command =>
  new Command('completion')
    .description('Prints a script that completes commands and options in a shell.')
    .addArgument(new Argument('<shell>', 'the shell').choices(SHELLS))
    .addHelpText(
      'after',
      '\nExamples:\n  $ source <(gwctl completion bash)\n  $ source <(gwctl completion zsh)\n  $ gwctl completion fish | source',
    )
    .action((shell: Shell, _options: object, command: Command) => {
      let program = command;
      while (program.parent !== null) program = program.parent;
      terminal.out(completionScript(program, shell));
    });
