import type { Command } from 'commander';
import { completions, optionChoices } from './words.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/** A script for the shell, made from the commands of the program. It starts no process when it completes. */
export function completionScript(program: Command, shell: Shell): string {
  if (shell === 'fish') return fish(program);
  // zsh runs completions of bash.
  const head = shell === 'zsh' ? 'autoload -U +X bashcompinit && bashcompinit\n' : '';
  return head + bash(program);
}

function bash(program: Command): string {
  const paths = completions(program);
  const known = paths.map(({ path }) => `'${path}'`).join('|');
  const words = paths.map(({ path, words }) => `    '${path}') words='${words.join(' ')}' ;;`);
  const values = optionChoices(program).map(
    ([flags, choices]) => `    ${flags.join('|')}) words='${choices.join(' ')}' ;;`,
  );
  return `_gwctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path=gwctl words='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$path \${COMP_WORDS[at]}" in
    ${known}) path="$path \${COMP_WORDS[at]}" ;;
    esac
  done
  case "$path" in
${words.join('\n')}
  esac
  case "$previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _gwctl gwctl
`;
}

function fish(program: Command): string {
  const paths = completions(program);
  const known = paths.map(({ path }) => `'${path}'`).join(' ');
  const lines = paths.map(
    ({ path, words }) => `complete -c gwctl -f -n '__gwctl_at "${path}"' -a '${words.join(' ')}'`,
  );
  const values = optionChoices(program).map(([flags, choices]) => {
    const names = flags.map((flag) =>
      flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
    );
    return `complete -c gwctl -x ${names.join(' ')} -a '${choices.join(' ')}'`;
  });
  return `function __gwctl_at
  set -l path gwctl
  for word in (commandline -opc)[2..]
    if contains -- "$path $word" ${known}
      set path "$path $word"
    end
  end
  test "$path" = "$argv[1]"
end
${[...lines, ...values].join('\n')}
`;
}
