import { createTheme, type CSSVariablesResolver, type MantineTheme } from '@mantine/core';

const NAMED_CLOSE = { 'aria-label': 'Close' };

/** Fonts are those of the system, because nothing is loaded from another host. */
export const theme = createTheme({
  fontFamily:
    'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
  fontFamilyMonospace:
    'ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  primaryColor: 'indigo',
  primaryShade: { light: 7, dark: 8 },
  autoContrast: true,
  cursorType: 'pointer',
  respectReducedMotion: true,
  // What the kit leaves without a name, and headers of dialogs that would be further headers of the page.
  components: {
    ModalHeader: { defaultProps: { role: 'none' } },
    ModalCloseButton: { defaultProps: NAMED_CLOSE },
    DrawerHeader: { defaultProps: { role: 'none' } },
    DrawerCloseButton: { defaultProps: NAMED_CLOSE },
    Notification: { defaultProps: { closeButtonProps: NAMED_CLOSE } },
  },
});

/** The kit's own shades for text that matters less have too little contrast (WCAG 2.2, 1.4.3). */
export const cssVariablesResolver: CSSVariablesResolver = ({ colors }) => ({
  variables: {},
  light: {
    '--mantine-color-dimmed': colors.gray[7],
    '--mantine-color-placeholder': colors.gray[7],
    '--mantine-color-error': colors.red[9],
    '--mantine-color-red-text': colors.red[9],
    ...readableRed(colors),
    // No shade of yellow can be read on a light one.
    '--mantine-color-yellow-light-color': '#5c3c00',
  },
  dark: {
    '--mantine-color-dimmed': colors.dark[1],
    '--mantine-color-placeholder': colors.dark[2],
    '--mantine-color-error': colors.red[4],
    // The kit's own is a brown that shouts.
    '--mantine-color-yellow-light': 'rgb(250 176 5 / 15%)',
    ...readableRed(colors),
  },
});

/** White on the kit's own red has too little contrast. */
function readableRed({ red }: MantineTheme['colors']) {
  return { '--mantine-color-red-filled': red[9], '--mantine-color-red-filled-hover': '#b02525' };
}
