/** One cause: its card, and all its actions. */

import { useSignal } from '@preact/signals';
import type { z } from 'zod';
import type { wholeCauseResponse } from '../../contract/causes.js';
import { pageOf, path } from '../addresses.js';
import { CauseCard, type CauseVerb } from '../cause.js';
import { Page } from '../frame.js';
import { Head, Known, Pager, Time, UpToDate } from '../parts.js';
import { usePages } from '../resource.js';
import { useCompany } from '../session.js';
import { BulkDialog } from '../steer.js';

export function CausePage({ causeId }: { causeId: string }) {
  const company = useCompany();
  const { companyId, timeZone } = company;
  const [cause, cursors] = usePages<z.infer<typeof wholeCauseResponse>>(path`/co/${companyId}/causes/${causeId}`);
  const asked = useSignal<CauseVerb | undefined>(undefined);
  return (
    <Page title="Problem" about={`Times are in ${timeZone}.`}>
      <Known of={cause}>
        {(known) => (
          <>
            <CauseCard cause={known} isOpen onAsk={(verb) => (asked.value = verb)} onDone={cause.refresh} />
            <table>
              <Head caption="The actions with this problem" columns={['Action', 'Assignment', 'Since', 'Fails at / solved at']} />
              <tbody>
                {known.items.map(({ chainId, index, assignmentId, since, heldUntil, endedAt }) => (
                  <tr key={`${chainId} ${index}`}>
                    <td>
                      <a href={pageOf.chain(companyId, chainId)}>
                        Action {index} of chain {chainId.slice(0, 8)}
                      </a>
                    </td>
                    <td>{assignmentId && <a href={pageOf.assignment(companyId, assignmentId)}>{assignmentId}</a>}</td>
                    <td>
                      <Time at={since} />
                    </td>
                    <td>
                      {endedAt ? (
                        <>
                          <span class="badge quiet">solved</span> <Time at={endedAt} />
                        </>
                      ) : (
                        heldUntil && <Time at={heldUntil} />
                      )}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
            <Pager cursors={cursors} next={known.nextCursor} />
          </>
        )}
      </Known>
      <UpToDate of={cause} />
      {asked.value && (
        <BulkDialog
          verb={asked.value}
          filter={{ causeId }}
          onClose={() => {
            asked.value = undefined;
            cause.refresh();
          }}
        />
      )}
    </Page>
  );
}
