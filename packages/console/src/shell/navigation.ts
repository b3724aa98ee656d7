import { linkOptions } from '@tanstack/react-router';

/** The pages of the navigation, in their order. `g` and then `key` leads to the page. */
export const NAVIGATION = [
  { label: 'Overview', key: 'o', link: linkOptions({ to: '/overview' }) },
  { label: 'Services', key: 's', link: linkOptions({ to: '/services' }) },
  { label: 'Routes', key: 'r', link: linkOptions({ to: '/routes' }) },
  { label: 'Requests', key: 'q', link: linkOptions({ to: '/requests' }) },
  { label: 'Tokens', key: 't', link: linkOptions({ to: '/tokens' }) },
  { label: 'Data planes', key: 'd', link: linkOptions({ to: '/data-planes' }) },
  { label: 'Configuration', key: 'c', link: linkOptions({ to: '/configuration' }) },
  { label: 'Audit', key: 'a', link: linkOptions({ to: '/audit' }) },
  { label: 'Environments', key: 'e', link: linkOptions({ to: '/environments' }) },
] as const;
