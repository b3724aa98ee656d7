import { NativeSelect } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { environmentsQuery, useEnvironment } from '../api/environments.ts';

/** Chooses the environment that the pages show. The choice is part of the URL. */
export function EnvironmentSelect() {
  const environment = useEnvironment();
  const { data = [] } = useQuery(environmentsQuery);
  const navigate = useNavigate();
  // An unknown one in the URL is shown as well: its pages are empty, and the reader sees why.
  const names = data.includes(environment) ? data : [environment, ...data];
  return (
    <NativeSelect
      aria-label="Environment"
      data={[...names]}
      value={environment}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        // A cursor belongs to the list of the environment that was shown.
        void navigate({ to: '.', search: () => ({ environment: chosen }) });
      }}
      maw={220}
    />
  );
}
