import type { Command } from 'commander';
import { linesText } from '../output/print.ts';
import { printable } from '../output/printable.ts';
import { FailedError, UsageError } from '../program/exit-codes.ts';
import type { Session } from '../session.ts';
import type { Terminal } from '../terminal/terminal.ts';

export interface YesOption {
  readonly yes?: true;
}

/** Adds the option of the commands that destroy something, or may stop requests. */
export const withYesOption = (command: Command): Command =>
  command.option('--yes', 'do not ask; without a terminal it is needed');

/** What is asked before a change. */
export interface ChangeQuestion {
  /** What changes, as lines of the terminal: they come first, and have no other control characters than colours. */
  readonly differences?: readonly string[];
  /** What is lost, in sentences. */
  readonly lost: readonly string[];
  /** Such as `Delete route charges?` */
  readonly question: string;
}

/**
 * Asks before a change, unless `--yes` was given.
 * @param does what the command does, such as `it deletes a route`
 * @throws UsageError without a terminal; FailedError if the answer is no
 */
export async function confirmChange(
  { terminal }: Session,
  { yes }: YesOption,
  does: string,
  ask: () => Promise<ChangeQuestion>,
): Promise<void> {
  if (yes) return;
  requireTerminal(terminal, does);
  const { differences = [], lost, question } = await ask();
  terminal.error(linesText([...differences, ...lost.map(printable)]));
  await requireYes(terminal, question);
}

/** @throws UsageError if there is no terminal to ask */
export function requireTerminal({ stdinIsTerminal }: Terminal, does: string): void {
  if (stdinIsTerminal) return;
  throw new UsageError(`${does}, and there is no terminal to ask; add --yes`);
}

/** @throws FailedError if the answer is no */
export async function requireYes(
  terminal: Terminal,
  question: string,
  interrupted?: AbortSignal,
): Promise<void> {
  if (await terminal.confirm(printable(question), interrupted)) return;
  throw new FailedError('nothing was changed');
}
