import { createTheme } from '@mantine/core';
import { ACCENT, DARK, GRAY } from './colors.ts';

const NAMED_CLOSE = { 'aria-label': 'Close' };
/** One height for all that stands in a row of controls. */
const CONTROL = { size: 'sm' } as const;

/** The page stays readable behind what floats over it. */
const OVERLAY = { overlayProps: { backgroundOpacity: 0.4 } } as const;

/** The kit, set to the design of the console: docs/contribute/console-design.md. */
export const theme = createTheme({
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  fontFamilyMonospace:
    '"JetBrains Mono", ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace',
  // Four sizes: notes, text, headings of sections, headings of pages and large numbers.
  fontSizes: { xs: '12px', sm: '13px', md: '13px', lg: '15px', xl: '20px' },
  lineHeights: { xs: '1.45', sm: '1.5', md: '1.5', lg: '1.4', xl: '1.3' },
  headings: {
    fontWeight: '600',
    sizes: {
      h1: { fontSize: '20px', lineHeight: '1.3' },
      h2: { fontSize: '15px', lineHeight: '1.4' },
      h3: { fontSize: '13px', lineHeight: '1.5' },
      h4: { fontSize: '13px', lineHeight: '1.5' },
    },
  },
  spacing: { xs: '8px', sm: '12px', md: '16px', lg: '24px', xl: '32px' },
  radius: { xs: '4px', sm: '6px', md: '8px', lg: '10px', xl: '14px' },
  defaultRadius: 'sm',
  colors: { accent: ACCENT, dark: DARK, gray: GRAY },
  primaryColor: 'accent',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    Button: { defaultProps: CONTROL },
    TextInput: { defaultProps: CONTROL },
    NumberInput: { defaultProps: CONTROL },
    NativeSelect: { defaultProps: CONTROL },
    Select: { defaultProps: CONTROL },
    PasswordInput: { defaultProps: CONTROL },
    // Hints stand below, so that the controls of one row are in one line whether they have a hint or not.
    InputWrapper: {
      defaultProps: { inputWrapperOrder: ['label', 'input', 'error', 'description'] },
    },
    SegmentedControl: { defaultProps: { size: 'xs' } },
    Tooltip: { defaultProps: { openDelay: 300, fz: 'xs' } },
    Table: { defaultProps: { fz: 'sm' } },
    // Menus have nothing but their items.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Modal: { defaultProps: { ...OVERLAY, centered: true } },
    Drawer: { defaultProps: OVERLAY },
    // What the kit leaves without a name, and headers of dialogs that would be further headers of the page.
    ModalHeader: { defaultProps: { role: 'none' } },
    ModalCloseButton: { defaultProps: NAMED_CLOSE },
    DrawerHeader: { defaultProps: { role: 'none' } },
    DrawerCloseButton: { defaultProps: NAMED_CLOSE },
    Notification: { defaultProps: { closeButtonProps: NAMED_CLOSE } },
  },
});
