import type { CompletedOption, Completion } from './words.ts';

/** Completes commands, options and their values, each with its description, and names, which it asks gwctl for. */
export function fishScript(completed: readonly Completion[]): string {
  const known = completed.map(({ path, spellings }) => {
    return `      case ${spellings.map((one) => `'${one}'`).join(' ')}\n        set path '${path}'`;
  });
  return `function __gwctl_at
  set -l path gwctl
  for word in (commandline -opc)[2..]
    switch "$path $word"
${known.join('\n')}
    end
  end
  test "$path" = "$argv[1]"
end
function __gwctl_names
  gwctl __names $argv[1] -- (commandline -opc)[2..] 2>/dev/null
end
complete -c gwctl -f
${completed.flatMap(linesOf).join('\n')}
`;
}

function linesOf({ path, commands, choices, names, options }: Completion): string[] {
  const at = `complete -c gwctl -n '__gwctl_at "${path}"'`;
  return [
    ...commands.map(({ name, description }) => `${at} -a ${name} -d ${quoted(description)}`),
    ...(choices.length === 0 ? [] : [`${at} -a '${choices.join(' ')}'`]),
    ...(names === undefined ? [] : [`${at} -a '(__gwctl_names ${names})'`]),
    ...options.map((option) => `${at} ${optionFlags(option)} -d ${quoted(option.description)}`),
  ];
}

function optionFlags({ flags, value }: CompletedOption): string {
  const names = flags.map((flag) =>
    flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`,
  );
  return [...names, ...valueFlags(value)].join(' ');
}

/** -r: takes a value; -F: a file; -x: takes a value that is no file. */
function valueFlags(value: CompletedOption['value']): string[] {
  if (value === undefined) return [];
  if (value === 'file') return ['-r', '-F'];
  if (value === 'text') return ['-x'];
  if ('names' in value) return ['-x', `-a '(__gwctl_names ${value.names})'`];
  return ['-x', `-a '${value.join(' ')}'`];
}

const quoted = (text: string): string => `'${text.replaceAll(/[\\']/g, '\\$&')}'`;
