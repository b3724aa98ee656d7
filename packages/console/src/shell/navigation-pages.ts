import { linkOptions } from '@tanstack/react-router';
import {
  Activity,
  ClipboardList,
  Gauge,
  GitCommitVertical,
  KeyRound,
  Layers,
  Route,
  Server,
  Users,
  Workflow,
} from 'lucide-react';

/** The pages of the navigation, in their order, by what one does there. `g` and then `key` leads to the page. */
export const NAVIGATION_GROUPS = [
  {
    label: 'Observe',
    pages: [
      { label: 'Overview', key: 'o', icon: Gauge, link: linkOptions({ to: '/overview' }) },
      { label: 'Requests', key: 'q', icon: Activity, link: linkOptions({ to: '/requests' }) },
      { label: 'Callers', key: 'l', icon: Users, link: linkOptions({ to: '/callers' }) },
    ],
  },
  {
    label: 'Configure',
    pages: [
      { label: 'Services', key: 's', icon: Workflow, link: linkOptions({ to: '/services' }) },
      { label: 'Routes', key: 'r', icon: Route, link: linkOptions({ to: '/routes' }) },
      { label: 'Tokens', key: 't', icon: KeyRound, link: linkOptions({ to: '/tokens' }) },
    ],
  },
  {
    label: 'Operate',
    pages: [
      { label: 'Data planes', key: 'd', icon: Server, link: linkOptions({ to: '/data-planes' }) },
      {
        label: 'Configuration',
        key: 'c',
        icon: GitCommitVertical,
        link: linkOptions({ to: '/configuration' }),
      },
      { label: 'Audit', key: 'a', icon: ClipboardList, link: linkOptions({ to: '/audit' }) },
      { label: 'Environments', key: 'e', icon: Layers, link: linkOptions({ to: '/environments' }) },
    ],
  },
] as const;

export type NavigationPage = (typeof NAVIGATION_GROUPS)[number]['pages'][number];

/** All of them. */
export const NAVIGATION: readonly NavigationPage[] = NAVIGATION_GROUPS.flatMap(
  ({ pages }): readonly NavigationPage[] => pages,
);
