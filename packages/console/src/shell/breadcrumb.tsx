import { useMatches } from '@tanstack/react-router';
import { ChevronLeft } from 'lucide-react';
import { TextLink } from '../ui/text-link.tsx';
import classes from './breadcrumb.module.css';
import { NAVIGATION } from './navigation-pages.ts';

/** On a page below one of the navigation: the way back to that one. */
export function Breadcrumb() {
  const path = useMatches({ select: (matches) => matches.at(-1)?.fullPath });
  const parent = NAVIGATION.find(({ link }) => path?.startsWith(`${link.to}/`) === true);
  if (parent === undefined) return null;
  return (
    <nav aria-label="Breadcrumb" className={classes.breadcrumb}>
      <TextLink {...parent.link} className={classes.link ?? ''}>
        <ChevronLeft size={14} aria-hidden />
        {parent.label}
      </TextLink>
    </nav>
  );
}
