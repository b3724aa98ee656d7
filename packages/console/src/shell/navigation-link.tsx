import { NavLink, Tooltip } from '@mantine/core';
import { Link, useRouter } from '@tanstack/react-router';
import { rightOf } from '../api/needed-right.ts';
import { useCaller } from '../api/rights.ts';
import type { NavigationPage } from './navigation-pages.ts';
import classes from './navigation.module.css';

interface NavigationLinkProps {
  readonly page: NavigationPage;
  readonly onClick: () => void;
}

/** A link of the navigation. If the token of the session lacks what the page needs, it is dimmed and says why. */
export function NavigationLink({
  page: { label, icon: Icon, link },
  onClick,
}: NavigationLinkProps) {
  const { needed } = useRouter().routesByPath[link.to].options.staticData ?? {};
  const caller = useCaller();
  const right = needed === undefined ? undefined : rightOf(caller, needed);
  const isRefused = right?.allowed === false;
  const shown = (
    <NavLink
      label={label}
      leftSection={<Icon size={16} strokeWidth={1.75} aria-hidden />}
      component={Link}
      {...link}
      className={classes.link ?? ''}
      {...(isRefused && { 'data-refused': true, 'aria-description': right.reason })}
      onClick={onClick}
    />
  );
  if (!isRefused) return shown;
  return (
    <Tooltip
      withinPortal={false}
      label={right.reason}
      events={{ hover: true, focus: true, touch: false }}
    >
      {shown}
    </Tooltip>
  );
}
