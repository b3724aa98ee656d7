import { Select } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { serviceNamesQuery } from '../../api/service-names.ts';

/** Leads to a service by a part of its name. The key `/` focuses it. */
export function FindService({ environment }: { readonly environment: string }) {
  const { data: services = [] } = useQuery(serviceNamesQuery(environment));
  const navigate = useNavigate();
  return (
    <Select
      aria-label="Find a service"
      placeholder="Find a service"
      data-search
      w={{ base: 160, sm: 240 }}
      data={services.map(({ id, name }) => ({ value: id, label: name }))}
      value={null}
      onChange={(id) => {
        if (id !== null) void navigate({ to: '/services/$serviceId', params: { serviceId: id } });
      }}
      searchable
      limit={50}
      nothingFoundMessage={`No such service in ${environment}`}
    />
  );
}
