import { AppShell, Burger, Group, ScrollArea, Text, UnstyledButton } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useNavigate } from '@tanstack/react-router';
import { AccountMenu } from './account-menu.tsx';
import { AwayNotice } from './away-notice.tsx';
import { ColorSchemeSwitch } from './color-scheme-switch.tsx';
import { EnvironmentSelect } from './environment-select.tsx';
import { LeaveGuard } from './leave-guard.tsx';
import { NavigationLink } from './navigation-link.tsx';
import { NAVIGATION } from './navigation.ts';
import { PermittedPage } from './permitted-page.tsx';
import { usePreloadedPages } from './preload-pages.ts';
import { SessionWatch } from './session-watch.tsx';
import { ShortcutHelp } from './shortcut-help.tsx';
import { useShortcuts } from './shortcuts.ts';
import { UnknownEnvironment } from './unknown-environment.tsx';
import classes from './shell.module.css';

/** The frame of all pages with a session: header, navigation, the page. */
export function Shell() {
  const [menuOpened, menu] = useDisclosure(false);
  const [helpOpened, help] = useDisclosure(false);
  const navigate = useNavigate();
  usePreloadedPages();
  useShortcuts({
    onHelp: help.open,
    onJump: (key) => {
      const target = NAVIGATION.find((one) => one.key === key);
      if (target !== undefined) void navigate(target.link);
    },
  });

  return (
    <AppShell
      header={{ height: 56 }}
      navbar={{ width: 200, breakpoint: 'sm', collapsed: { mobile: !menuOpened } }}
      padding="md"
    >
      <a className={classes.skip} href="#main">
        Skip to the page
      </a>
      <AppShell.Header>
        <Group h="100%" px="md" gap="sm" wrap="nowrap" justify="space-between">
          <Group gap="sm" wrap="nowrap">
            <Burger
              opened={menuOpened}
              onClick={menu.toggle}
              hiddenFrom="sm"
              size="sm"
              aria-label={menuOpened ? 'Close the navigation' : 'Open the navigation'}
            />
            <Text fw={700} visibleFrom="sm" className={classes.brand ?? ''}>
              Gateway
            </Text>
          </Group>
          <Group gap="xs" wrap="nowrap">
            <EnvironmentSelect />
            <UnstyledButton
              className={classes.iconButton ?? ''}
              onClick={help.open}
              aria-label="Keyboard shortcuts"
              visibleFrom="sm"
            >
              ?
            </UnstyledButton>
            <ColorSchemeSwitch />
            <AccountMenu />
          </Group>
        </Group>
      </AppShell.Header>
      <AppShell.Navbar p="xs" aria-label="Pages">
        <AppShell.Section component={ScrollArea} grow>
          {NAVIGATION.map((page) => (
            <NavigationLink key={page.label} page={page} onClick={menu.close} />
          ))}
        </AppShell.Section>
      </AppShell.Navbar>
      <AppShell.Main id="main" tabIndex={-1} className={classes.main ?? ''}>
        <div className={classes.page}>
          <AwayNotice>
            The page tries again until it does. What you see may be old, and what you typed is kept.
          </AwayNotice>
          <UnknownEnvironment />
          <PermittedPage />
        </div>
      </AppShell.Main>
      <ShortcutHelp opened={helpOpened} onClose={help.close} />
      <SessionWatch />
      <LeaveGuard />
    </AppShell>
  );
}
