import { wordsOf, type CompletedOption, type Completion } from './words.ts';

/**
 * Completes commands, options and their values, file names after an option that takes a file, and names, which it asks gwctl
 * for. A name comes from elsewhere, so the shell must not expand it: `compgen -W` would run `$(…)` in it.
 */
export function bashScript(completed: readonly Completion[]): string {
  const known = completed.map(({ path, spellings }) => {
    return `    ${spellings.map((one) => `'${one}'`).join('|')}) path='${path}' ;;`;
  });
  const words = completed.map(
    (one) =>
      `    '${one.path}') words='${wordsOf(one).join(' ')}'${one.names === undefined ? '' : ` names=${one.names}`} ;;`,
  );
  const values = completed.flatMap(({ path, options }) =>
    options.flatMap((option) => valueCase(path, option)),
  );
  return `_gwctl_names() {
  local name
  while IFS= read -r name; do
    [[ $name == "$2"* ]] && COMPREPLY+=("$(printf '%q' "$name")")
  done < <(gwctl __names "$1" -- "\${COMP_WORDS[@]:1}" 2>/dev/null)
}
_gwctl() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}"
  local path=gwctl words='' names='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    case "$path \${COMP_WORDS[at]}" in
${known.join('\n')}
    esac
  done
  case "$path" in
${words.join('\n')}
  esac
  case "$path $previous" in
${values.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$current"))
  if [[ -n $names && $current != -* ]]; then _gwctl_names "$names" "$current"; fi
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
  if (typeof value === 'object' && 'names' in value) {
    return [`    ${pattern}) words='' names=${value.names} ;;`];
  }
  return [`    ${pattern}) words='${value === 'text' ? '' : value.join(' ')}' names='' ;;`];
}
