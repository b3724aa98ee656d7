import type { Command } from 'commander';
import { bashScript } from './bash-script.ts';
import { fishScript } from './fish-script.ts';
import { completions } from './words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A script for the shell, made from the commands of the program. It starts gwctl only to complete names. */
export function completionScript(program: Command, shell: Shell): string {
  const completed = completions(program);
  if (shell === 'fish') return fishScript(completed);
  return (shell === 'zsh' ? ZSH_HEAD : '') + bashScript(completed);
}

/** zsh runs completions of bash, once its own completion is loaded. Most configurations have done so already. */
const ZSH_HEAD = `(( $+functions[compdef] )) || { autoload -U compinit && compinit -i }
autoload -U +X bashcompinit && bashcompinit
`;
