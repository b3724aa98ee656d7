import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';
import { readTokenNames } from '../../api/token-names.ts';
import { useScope } from '../../api/rights.ts';
import { countedText } from '@gateway/client/measures';
import { errorText } from '../../ui/error-text.ts';
import { notifyFailure, notifySuccess } from '../../ui/notify.ts';
import { auditCsv } from './audit-csv.ts';
import { readAllEvents } from './audit-query.ts';
import type { AuditSearch } from './audit-search.ts';

/** More would fill the memory of the tab; the API has them all. */
const MAX_EVENTS = 10_000;

interface ExportButtonProps {
  readonly environment: string;
  readonly search: AuditSearch;
}

/** Saves all changes that match the filters as CSV. */
export function ExportButton({ environment, search }: ExportButtonProps) {
  const { allowed: seesTokens } = useScope('tokens:read');
  const saving = useMutation({
    mutationFn: async () => {
      const { events, isCut } = await readAllEvents(environment, search, MAX_EVENTS);
      const names = seesTokens
        ? await readTokenNames(
            events.map((event) => event.token_id),
            { seesAudit: true },
          )
        : new Map<string, string>();
      save(
        auditCsv(events, (id) => names.get(id) ?? id),
        `audit-${environment}.csv`,
      );
      const count = countedText(events.length, 'change');
      notifySuccess(
        isCut
          ? `The newest ${count} were exported. Older ones are left out: choose a period or a filter.`
          : `${count} ${events.length === 1 ? 'was' : 'were'} exported.`,
      );
    },
    onError: (error) => notifyFailure(`The changes were not exported. ${errorText(error)}`),
  });
  return (
    <Button
      variant="default"
      leftSection={<Download size={16} strokeWidth={1.75} aria-hidden />}
      loading={saving.isPending}
      onClick={() => saving.mutate()}
    >
      Export CSV
    </Button>
  );
}

function save(text: string, name: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/csv' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
