import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useMatches, useNavigate } from '@tanstack/react-router';
import { environmentsQuery, useEnvironment } from '../api/environments.ts';
import classes from './environment-select.module.css';
import { environmentTone } from './environment-tone.ts';
import { NAVIGATION } from './navigation-pages.ts';

/** On the page of one resource: the path of the list that it is in. */
function useListOfPage() {
  const page = useMatches({ select: (matches) => matches.at(-1) });
  if (page === undefined || Object.keys(page.params).length === 0) return undefined;
  return NAVIGATION.find(({ link }) => page.fullPath.startsWith(`${link.to}/`))?.link.to;
}

/** Chooses the environment that the pages show. The choice is part of the URL. */
export function EnvironmentSelect() {
  const environment = useEnvironment();
  const { data = [] } = useQuery(environmentsQuery);
  const navigate = useNavigate();
  const list = useListOfPage();
  // An unknown one in the URL is shown as well: its pages are empty, and the frame of the pages says why.
  const names = data.includes(environment) ? data : [environment, ...data];
  return (
    <NativeSelect
      aria-label="Environment"
      data={[...names]}
      value={environment}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        // A cursor belongs to the list of the environment that was shown, and so does a route or a service.
        void navigate({ to: list ?? '.', search: () => ({ environment: chosen }) });
      }}
      leftSection={<span className={classes.dot} data-tone={environmentTone(environment)} />}
      leftSectionPointerEvents="none"
    />
  );
}
