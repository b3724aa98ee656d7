import type { components } from '@gateway/client';
import { environmentTone } from '../../shell/environment-tone.ts';
import type { Column } from '../../ui/data-table.tsx';
import { RelativeTime } from '../../ui/relative-time.tsx';
import { ScopedMenu } from '../../ui/scoped-menu.tsx';
import { TextLink } from '../../ui/text-link.tsx';
import classes from './environments.module.css';

type ListedEnvironment = components['schemas']['ListedEnvironment'];

/** The columns of the list; each count leads to what is counted. */
export function environmentColumns(
  onDelete: (name: string) => void,
): readonly Column<ListedEnvironment>[] {
  return [
    {
      key: 'name',
      header: 'Name',
      cell: ({ name }) => (
        <span className={classes.name}>
          <span className={classes.dot} data-tone={environmentTone(name)} aria-hidden />
          <TextLink to="/overview" search={{ environment: name }} inherit>
            {name}
          </TextLink>
        </span>
      ),
    },
    {
      key: 'version',
      header: 'Configuration',
      visibleFrom: 'sm',
      cell: ({ name, config_version: version }) => (
        <TextLink to="/configuration" search={{ environment: name }} inherit>
          {version === 0 ? 'none yet' : `version ${version}`}
        </TextLink>
      ),
    },
    {
      key: 'routes',
      header: 'Routes',
      align: 'right',
      cell: ({ name, counts }) => (
        <TextLink to="/routes" search={{ environment: name }} inherit>
          {countOf(counts?.routes)}
        </TextLink>
      ),
    },
    {
      key: 'services',
      header: 'Services',
      align: 'right',
      visibleFrom: 'sm',
      cell: ({ name, counts }) => (
        <TextLink to="/services" search={{ environment: name }} inherit>
          {countOf(counts?.services)}
        </TextLink>
      ),
    },
    {
      key: 'tokens',
      header: 'Tokens of its own',
      align: 'right',
      visibleFrom: 'sm',
      cell: ({ name, counts }) => (
        <TextLink to="/tokens" search={{ environment: name }} inherit>
          {countOf(counts?.tokens)}
        </TextLink>
      ),
    },
    {
      key: 'created',
      header: 'Created',
      visibleFrom: 'md',
      cell: ({ created_at }) => <RelativeTime at={created_at} />,
    },
    {
      key: 'actions',
      header: 'Actions',
      isHeaderHidden: true,
      align: 'right',
      cell: ({ name }) => (
        <ScopedMenu
          label={`Actions for ${name}`}
          scope="config:write"
          allEnvironments
          isSmall
          items={[{ label: 'Delete', isDangerous: true, run: () => onDelete(name) }]}
        />
      ),
    },
  ];
}

/** `–`: the token may not see it. */
function countOf(count: number | null | undefined): string {
  return count === null || count === undefined ? '–' : count.toLocaleString('en');
}
