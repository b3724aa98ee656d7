import type { MantineColorsTuple } from '@mantine/core';

/** The one accent: what can be pressed, what is chosen, and focus. Nothing else has it. */
export const ACCENT: MantineColorsTuple = [
  '#eef0ff',
  '#dfe3fe',
  '#c2c8fb',
  '#a2abf8',
  '#8791f5',
  '#717bf0',
  '#5e67e6',
  '#4f56d3',
  '#444ab5',
  '#393e93',
];

/** Greys of the dark theme as the kit orders them: text first, the darkest surface last. */
export const DARK: MantineColorsTuple = [
  '#edeef0',
  '#b4b9c0',
  '#9aa0a6',
  '#6c727a',
  '#363b42',
  '#2a2e34',
  '#1a1d21',
  '#131518',
  '#0f1113',
  '#0c0d0f',
];

/** Greys of the light theme, the lightest first. */
export const GRAY: MantineColorsTuple = [
  '#fafafb',
  '#f4f5f6',
  '#eceef0',
  '#e0e3e6',
  '#cdd1d6',
  '#a3a9b1',
  '#7d848d',
  '#5a616a',
  '#3a4048',
  '#17191d',
];
