import type { Command } from 'commander';
import type { Cli } from '../session.ts';

/** Adds `--watch`, for a command whose action is `watchable`. */
export const withWatchOption = (command: Command): Command =>
  command.option('-w, --watch', 'show it again every two seconds until ^C');

/** The action of a command; with `--watch` the whole command is run again and again. */
export const watchable =
  <Given extends readonly unknown[]>(cli: Cli, action: (...given: Given) => Promise<void>) =>
  (...given: Given): Promise<void> => {
    const command = given.at(-1) as Command;
    const isWatched = command.opts<{ readonly watch?: true }>().watch === true;
    return isWatched && cli.watch !== undefined ? cli.watch() : action(...given);
  };
