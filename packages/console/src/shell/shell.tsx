import { AppShell, Burger, Group } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { AccountMenu } from './account-menu.tsx';
import { AwayNotice } from './away-notice.tsx';
import { Breadcrumb } from './breadcrumb.tsx';
import { ColorSchemeSwitch } from './color-scheme-switch.tsx';
import { HelpMenu } from './help-menu.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { NAVIGATION } from './navigation-pages.ts';
import { Navigation } from './navigation.tsx';
import { Palette } from './palette/palette.tsx';
import { PaletteButton } from './palette/palette-button.tsx';
import { PermittedPage } from './permitted-page.tsx';
import { usePreloadedPages } from './preload-pages.ts';
import { SessionWatch } from './session-watch.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { useShortcuts } from './shortcuts.ts';
import { UnknownEnvironment } from './unknown-environment.tsx';
import classes from './shell.module.css';

/** The frame of all pages with a session: navigation, header, the page. */
export function Shell() {
  const [menuOpened, menu] = useDisclosure(false);
  const [helpOpened, help] = useDisclosure(false);
  const [paletteOpened, palette] = useDisclosure(false);
  const navigate = useNavigate();
  usePreloadedPages();
  useShortcuts({
    onHelp: help.open,
    onPalette: palette.toggle,
    onJump: (key) => {
      const target = NAVIGATION.find((one) => one.key === key);
      if (target !== undefined) void navigate(target.link);
    },
  });

  return (
    <AppShell
      layout="alt"
      header={{ height: 48 }}
      navbar={{ width: 224, breakpoint: 'sm', collapsed: { mobile: !menuOpened } }}
      padding={{ base: 'md', sm: 'lg' }}
    >
      <a className={classes.skip} href="#main">
        Skip to the page
      </a>
      <AppShell.Header className={classes.header ?? ''}>
        <Group gap="sm" wrap="nowrap">
          <Burger
            opened={menuOpened}
            onClick={menu.toggle}
            hiddenFrom="sm"
            size="sm"
            aria-label="Open the navigation"
            aria-expanded={menuOpened}
          />
          <PaletteButton onClick={palette.open} />
        </Group>
        <Group gap={4} wrap="nowrap">
          <HelpMenu onKeys={help.open} />
          <ColorSchemeSwitch />
          <AccountMenu />
        </Group>
      </AppShell.Header>
      <Navigation onLeave={menu.close} />
      <AppShell.Main id="main" tabIndex={-1} className={classes.main ?? ''}>
        <div className={classes.page}>
          <AwayNotice>
            The page tries again until it does. What you see may be old, and what you typed is kept.
          </AwayNotice>
          <UnknownEnvironment />
          <Breadcrumb />
          <PermittedPage />
        </div>
      </AppShell.Main>
      <Palette opened={paletteOpened} onClose={palette.close} />
      <ShortcutHelp opened={helpOpened} onClose={help.close} />
      <SessionWatch />
      <LeaveGuard />
    </AppShell>
  );
}
