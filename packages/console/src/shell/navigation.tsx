import { AppShell, Box, Group, ScrollArea } from '@mantine/core';
import { X } from 'lucide-react';
import { IconButton } from '../ui/icon-button.tsx';
import { Brand } from './brand.tsx';
import { EnvironmentSelect } from './environment-select.tsx';
import { NAVIGATION_GROUPS } from './navigation-pages.ts';
import { NavigationLink } from './navigation-link.tsx';
import classes from './navigation.module.css';

/** The side of every page: what the product is, the environment, and the pages in groups. */
export function Navigation({ onLeave }: { readonly onLeave: () => void }) {
  return (
    <AppShell.Navbar className={classes.side ?? ''} aria-label="Pages">
      <AppShell.Section className={classes.head ?? ''}>
        <Group justify="space-between" wrap="nowrap">
          <Brand />
          {/* On a phone the navigation covers the button that opened it. */}
          <Box hiddenFrom="sm">
            <IconButton icon={X} label="Close the navigation" onClick={onLeave} />
          </Box>
        </Group>
        <EnvironmentSelect />
      </AppShell.Section>
      <AppShell.Section component={ScrollArea} grow px="xs">
        {NAVIGATION_GROUPS.map(({ label, pages }) => (
          <div key={label} className={classes.group} role="group" aria-label={label}>
            <div className={classes.label} aria-hidden>
              {label}
            </div>
            {pages.map((page) => (
              <NavigationLink key={page.label} page={page} onClick={onLeave} />
            ))}
          </div>
        ))}
      </AppShell.Section>
    </AppShell.Navbar>
  );
}
