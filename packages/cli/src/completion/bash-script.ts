import { wordsOf, type CompletedOption, type Completion } from './words.ts';

/** Completes commands, options and their values; file names after an option that takes a file. */
export function bashScript(completed: readonly Completion[]): string {
  const known = completed.map(({ path }) => `'${path}'`).join('|');
  const words = completed.map((one) => `    '${one.path}') words='${wordsOf(one).join(' ')}' ;;`);
  const values = completed.flatMap(({ path, options }) =>
    options.flatMap((option) => valueCase(path, option)),
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
  case "$path $previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -F _gwctl gwctl
`;
}

/** What replaces the words after an option that takes a value. */
function valueCase(path: string, { flags, value }: CompletedOption): string[] {
  if (value === undefined) return [];
  const pattern = flags.map((flag) => `'${path} ${flag}'`).join('|');
  if (value === 'file') {
    return [`    ${pattern}) COMPREPLY=($(compgen -f -- "$current")); return ;;`];
  }
  return [`    ${pattern}) words='${value === 'text' ? '' : value.join(' ')}' ;;`];
}
