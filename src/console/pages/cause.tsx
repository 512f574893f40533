/** One cause: its card, and all its actions. */

import type { z } from 'zod';
import type { wholeCauseResponse } from '../../contract/causes.js';
import { pageOf, path } from '../addresses.js';
import { CauseCard, useCauseDialog } from '../cause.js';
import { Page } from '../frame.js';
import { usePages } from '../resource.js';
import { useCompany } from '../session.js';
import { Known } from '../ui/known.js';
import { Pager, Table } from '../ui/table.js';
import { Time, UpToDate } from '../ui/text.js';

export function CausePage({ causeId }: { causeId: string }) {
  const company = useCompany();
  const { companyId, timeZone } = company;
  const [cause, cursors] = usePages<z.infer<typeof wholeCauseResponse>>(path`/co/${companyId}/causes/${causeId}`);
  const [askAll, dialog] = useCauseDialog(cause.refresh);
  return (
    <Page title="Problem" about={`Times are in ${timeZone}.`}>
      <Known of={cause}>
        {(known) => (
          <>
            <CauseCard cause={known} isOpen onAsk={askAll} onDone={cause.refresh} />
            <Table caption="The actions with this problem" columns={['Action', 'Assignment', 'Since', 'Fails at / solved at']}>
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
            </Table>
            <Pager cursors={cursors} next={known.nextCursor} />
          </>
        )}
      </Known>
      <UpToDate of={cause} />
      {dialog}
    </Page>
  );
}
