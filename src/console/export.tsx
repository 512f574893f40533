/** Links that download all rows of a list. */

import { path, query } from './addresses.js';
import { useCompany } from './session.js';

interface ExportProps {
  what: 'chains' | 'events' | 'audit';
  filter?: Record<string, string | undefined>;
}

export function ExportLinks({ what, filter = {} }: ExportProps) {
  const { companyId } = useCompany();
  const address = (format: string) => path`/co/${companyId}/export/${what}` + query({ ...filter, format });
  return (
    <p class="soft small">
      Export all {what === 'audit' ? 'entries' : what}:{' '}
      <a href={address('csv')} download>
        CSV
      </a>{' '}
      ·{' '}
      <a href={address('ndjson')} download>
        NDJSON
      </a>
    </p>
  );
}
