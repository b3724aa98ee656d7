import { ACCENT } from '../../../console/src/design/colors.ts';
import { cssVariablesResolver } from '../../../console/src/design/variables.ts';

type Theme = Parameters<typeof cssVariablesResolver>[0];

/** The variables of the kit of the console, which this site does not use. */
const OF_KIT = '--mantine-';
const FONTS = {
  '--font': 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  '--font-mono':
    '"JetBrains Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
};

/** The tokens of the console's design, as CSS. Without a script, the theme is that of the system. */
export function designTokens(): string {
  const { light, dark } = cssVariablesResolver({ colors: { accent: ACCENT } } as unknown as Theme);
  const lightRules = declarations({ ...FONTS, ...light });
  const darkRules = declarations(dark);
  return `:root{color-scheme:light;${lightRules}}
:root[data-theme="dark"]{color-scheme:dark;${darkRules}}
@media (prefers-color-scheme:dark){:root:not([data-theme]){color-scheme:dark;${darkRules}}}
`;
}

function declarations(variables: Readonly<Record<string, string>>): string {
  return Object.entries(variables)
    .filter(([name]) => !name.startsWith(OF_KIT))
    .map(([name, value]) => `${name}:${value}`)
    .join(';');
}
