import { Alert } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { environmentsQuery, useEnvironment } from '../api/environments.ts';

/** Says that the environment in the URL does not exist for the token: its lists are empty, as those of a new one are. */
export function UnknownEnvironment() {
  const environment = useEnvironment();
  const { data } = useQuery(environmentsQuery);
  if (data === undefined || data.includes(environment)) return null;
  return (
    <Alert color="yellow" mb="md" role="alert" title={`There is no environment ${environment}`}>
      {data.length === 0
        ? 'Your token covers no environment that exists.'
        : 'It was deleted, or your token does not cover it. Choose another one at the top of the navigation.'}
    </Alert>
  );
}
