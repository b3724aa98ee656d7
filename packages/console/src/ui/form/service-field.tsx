import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useScope } from '../../api/rights.ts';
import { serviceNamesQuery, useNamesOfServices } from '../../api/service-names.ts';
import { TextField } from './fields.tsx';
import { useField } from './form-context.ts';

interface ServiceFieldProps {
  readonly path: string;
  readonly label: string;
  readonly environment: string;
}

/** The id of a service, chosen by its name; typed, if the token may not list services. */
export function ServiceField({ environment, ...props }: ServiceFieldProps) {
  const { allowed } = useScope('services:read');
  if (!allowed) return <TextField {...props} description="The id of the service" />;
  return <ServiceSelect environment={environment} {...props} />;
}

function ServiceSelect({ path, label, environment }: ServiceFieldProps) {
  const { value, error, set } = useField(path);
  const { data: services = [], isPending } = useQuery(serviceNamesQuery(environment));
  const known = services.map(({ id, name }) => ({ value: id, label: name }));
  const id = typeof value === 'string' && value !== '' ? value : null;
  // A service that is not in the list is shown, not as if there was none.
  const isListed = id === null || isPending || services.some((one) => one.id === id);
  const nameOf = useNamesOfServices(isListed ? [] : [id]);
  return (
    <Select
      label={label}
      data-path={path}
      placeholder="Choose a service"
      data={isListed ? known : [{ value: id, label: nameOf(id) }, ...known]}
      value={id}
      error={error}
      onChange={set}
      searchable
      limit={50}
      nothingFoundMessage={
        services.length === 0
          ? `There are no services in ${environment}. Create one first.`
          : `No such service in ${environment}`
      }
    />
  );
}
